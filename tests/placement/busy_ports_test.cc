// Which ports get a bit that the indexes prune by, and when they give it back.
#include "placement/busy_ports.h"

#include <bit>

#include <catch2/catch.hpp>

#include "fixture.h"

namespace berth::placement {
namespace {

const HostPort kHttp{model::Protocol::kTcp, 80};
const HostPort kHttps{model::Protocol::kTcp, 443};

void UseOn(BusyPorts& ports, const HostPort& port, int64_t instances) {
  for (int32_t slot = 0; slot < instances; ++slot) ports.Use(port, slot);
}

TEST_CASE("a port gets a bit when enough instances use it, and all of them are told",
          "[placement]") {
  BusyPorts ports;
  UseOn(ports, kHttp, kBusyFromInstances - 1);
  REQUIRE(ports.BitOf(kHttp) == 0);

  const std::vector<int32_t> changed = ports.Use(kHttp, 1000);

  CHECK(std::popcount(ports.BitOf(kHttp)) == 1);
  CHECK(static_cast<int64_t>(changed.size()) == kBusyFromInstances);
  CHECK(ports.Use(kHttp, 1001).empty());
}

TEST_CASE("a port that few use gives its bit back, to another port", "[placement]") {
  BusyPorts ports;
  UseOn(ports, kHttp, kBusyFromInstances);
  const uint64_t bit = ports.BitOf(kHttp);
  for (int32_t slot = 0; slot < kBusyFromInstances - kBusyUntilInstances; ++slot) {
    CHECK(ports.Leave(kHttp, slot).empty());
    REQUIRE(ports.BitOf(kHttp) == bit);
  }

  const std::vector<int32_t> changed =
      ports.Leave(kHttp, static_cast<int32_t>(kBusyFromInstances) - 1);

  CHECK(static_cast<int64_t>(changed.size()) == kBusyUntilInstances - 1);
  CHECK(ports.BitOf(kHttp) == 0);
  CHECK(ports.UsersOf(kHttp) == kBusyUntilInstances - 1);
  UseOn(ports, kHttps, kBusyFromInstances);
  CHECK(ports.BitOf(kHttps) == bit);
  CHECK(ports.BitOf(kHttp) == 0);
}

TEST_CASE("TCP and UDP ports of one number are two ports", "[placement]") {
  BusyPorts ports;
  UseOn(ports, kHttp, kBusyFromInstances);

  CHECK(ports.BitOf({model::Protocol::kUdp, 80}) == 0);
  CHECK(ports.UsersOf({model::Protocol::kUdp, 80}) == 0);
}

TEST_CASE("when all bits are taken the next busy port does without", "[placement]") {
  BusyPorts ports;
  uint64_t taken = 0;
  for (int64_t port = 1; port <= kBusyPortsMax; ++port) {
    UseOn(ports, {model::Protocol::kTcp, port}, kBusyFromInstances);
    const uint64_t bit = ports.BitOf({model::Protocol::kTcp, port});
    REQUIRE(std::popcount(bit) == 1);
    REQUIRE((taken & bit) == 0);
    taken |= bit;
  }

  UseOn(ports, {model::Protocol::kTcp, 5000}, 2 * kBusyFromInstances);

  CHECK(ports.BitOf({model::Protocol::kTcp, 5000}) == 0);
}

TEST_CASE("a port whose bit went to another keeps no instance from its tasks", "[placement]") {
  World world;
  const auto instances = static_cast<int>(kBusyFromInstances);
  for (int i = 0; i < instances; ++i) world.Add({.id = "i-" + std::to_string(100 + i)});
  Demand http = Plain(1, 1);
  http.tcp_ports = {80};
  Demand https = Plain(1, 1);
  https.tcp_ports = {443};
  for (int i = 0; i < instances; ++i) REQUIRE(world.Run(http, "http " + std::to_string(i)));
  // Port 80 stays on i-100 alone, too few for a bit.
  for (int i = 1; i < instances; ++i) world.Stop("http " + std::to_string(i));

  for (int i = 0; i < instances; ++i) REQUIRE(world.Run(https));

  CHECK(Where(world.Run(https)) == "nowhere");
  CHECK(Where(world.Run(http)) == "i-101");
  CHECK(world.inventory.FindViolations() == std::vector<std::string>{});
}

}  // namespace
}  // namespace berth::placement
