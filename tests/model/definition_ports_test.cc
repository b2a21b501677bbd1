#include <catch2/catch.hpp>

#include "spec_builder.h"

namespace berth::model {
namespace {

using enum NetworkMode;
constexpr Protocol kTcp = Protocol::kTcp;
constexpr Protocol kUdp = Protocol::kUdp;

PortMapping Port(std::optional<int64_t> container, std::optional<int64_t> host = std::nullopt,
                 Protocol protocol = kTcp) {
  return {.container_port = container, .host_port = host, .protocol = protocol};
}

PortMapping Range(std::string range, Protocol protocol = kTcp) {
  return {.protocol = protocol, .container_port_range = std::move(range)};
}

struct Case {
  std::string why;
  NetworkMode mode;
  std::vector<PortMapping> app;
  std::vector<PortMapping> side;
  std::string refusal = {};  // empty: accepted
};

std::string Must(NetworkMode mode) {
  return "When networkMode=" + std::string(ToString(mode)) +
         ", the host ports and container ports in port mappings must match.";
}

TEST_CASE("a port is mapped once, and as its network mode allows", "[validation]") {
  const std::string bad_container = "Invalid 'containerPort' setting for container 'app'.";
  const std::string bad_host = "Invalid 'hostPort' setting for container 'app'.";
  const std::vector<Case> cases = {
      {"a dynamic host port", kBridge, {Port(80)}, {}},
      {"a dynamic host port as 0", kBridge, {Port(80, 0)}, {}},
      {"a static host port", kBridge, {Port(80, 8080)}, {}},
      {"the largest port", kBridge, {Port(65535, 65535)}, {}},
      {"one above", kBridge, {Port(65536)}, {}, bad_container},
      {"below 0", kBridge, {Port(-1)}, {}, bad_container},
      {"no port", kBridge, {Port({}, 80)}, {}, bad_container},
      {"a host port above", kBridge, {Port(80, 65536)}, {}, bad_host},
      {"a host port below 0", kBridge, {Port(80, -1)}, {}, bad_host},
      {"none",
       kNone,
       {Port(80)},
       {},
       "container 'app': portMappings is not empty; it must be empty when networkMode=none"},
      {"awsvpc, absent", kAwsvpc, {Port(80)}, {}},
      {"awsvpc, equal", kAwsvpc, {Port(80, 80)}, {}},
      {"awsvpc, other", kAwsvpc, {Port(80, 81)}, {}, Must(kAwsvpc)},
      {"awsvpc, 0", kAwsvpc, {Port(80, 0)}, {}, Must(kAwsvpc)},
      {"host, absent", kHost, {Port(80)}, {}},
      {"host, other", kHost, {Port(80, 81)}, {}, Must(kHost)},
      {"a static host port twice",
       kBridge,
       {Port(80, 8080)},
       {Port(81, 8080)},
       "TCP host port '8080' is mapped multiple times in task."},
      {"a static host port twice in one container",
       kBridge,
       {Port(80, 8080), Port(81, 8080)},
       {},
       "TCP host port '8080' is mapped multiple times in task."},
      {"a UDP host port twice",
       kBridge,
       {Port(53, 53, kUdp)},
       {Port(54, 53, kUdp)},
       "UDP host port '53' is mapped multiple times in task."},
      {"one host port for TCP and UDP", kBridge, {Port(53, 53), Port(53, 53, kUdp)}, {}},
      {"containers under awsvpc share ports",
       kAwsvpc,
       {Port(80)},
       {Port(80)},
       "TCP host port '80' is mapped multiple times in task."},
      {"containers under host share ports",
       kHost,
       {Port(80)},
       {Port(80)},
       "TCP host port '80' is mapped multiple times in task."},
      {"containers under bridge do not", kBridge, {Port(80)}, {Port(80)}},
      {"one port to two host ports", kBridge, {Port(80, 8080), Port(80, 8081)}, {}},
      {"an exact duplicate",
       kBridge,
       {Port(80), Port(80)},
       {},
       "container 'app': portMappings maps container port 80/tcp more than once; give each port "
       "and "
       "protocol once"},
      {"0 and absent are the same",
       kBridge,
       {Port(80, 0), Port(80)},
       {},
       "container 'app': portMappings maps container port 80/tcp more than once; give each port "
       "and "
       "protocol once"},
  };
  for (const Case& c : cases) {
    INFO(c.why);
    TaskSpec spec = Spec({Container("app"), Container("side")});
    spec.network_mode = c.mode;
    spec.containers[0].port_mappings = c.app;
    spec.containers[1].port_mappings = c.side;
    CHECK(Refusal(spec) == c.refusal);
  }
}

TEST_CASE("port ranges are well formed and lie apart", "[validation]") {
  const auto malformed = [](const std::string& range) {
    return "container 'app': portMappings[0].containerPortRange is '" + range +
           "'; it must be FIRST-LAST, both from 1 to 65535 and the first below the last";
  };
  const auto apart = [](const std::string& range, const std::string& from, int index = 1) {
    return "container 'app': portMappings[" + std::to_string(index) + "].containerPortRange is '" +
           range + "'; it must be apart from the " + from + " of another mapping";
  };
  std::vector<PortMapping> hundred;
  for (int i = 0; i < 100; ++i) {
    hundred.push_back(Range(std::to_string(1000 + 2 * i) + "-" + std::to_string(1001 + 2 * i)));
  }
  std::vector<PortMapping> hundred_and_one = hundred;
  hundred_and_one.push_back(Range("9000-9001"));
  PortMapping with_port = Range("80-90");
  with_port.container_port = 80;
  PortMapping with_host_port = Range("80-90");
  with_host_port.host_port = 80;
  const std::string only =
      "container 'app': portMappings[0].containerPortRange is given beside containerPort or "
      "hostPort; it must be the only port of its mapping";

  const std::vector<Case> cases = {
      {"a range", kBridge, {Range("80-90")}, {}},
      {"the widest", kAwsvpc, {Range("1-65535")}, {}},
      {"neighbours", kBridge, {Range("80-90"), Range("91-95"), Port(79), Port(96)}, {}},
      {"host mode",
       kHost,
       {Range("80-90")},
       {},
       "container 'app': portMappings[0].containerPortRange is '80-90'; it must be absent when "
       "networkMode=host"},
      {"backwards", kBridge, {Range("90-80")}, {}, malformed("90-80")},
      {"of one port", kBridge, {Range("80-80")}, {}, malformed("80-80")},
      {"from 0", kBridge, {Range("0-80")}, {}, malformed("0-80")},
      {"beyond the last port", kBridge, {Range("80-65536")}, {}, malformed("80-65536")},
      {"no range", kBridge, {Range("80")}, {}, malformed("80")},
      {"half a range", kBridge, {Range("80-")}, {}, malformed("80-")},
      {"words", kBridge, {Range("a-b")}, {}, malformed("a-b")},
      {"more than a range", kBridge, {Range("80-90-95")}, {}, malformed("80-90-95")},
      {"beside a container port", kBridge, {with_port}, {}, only},
      {"beside a host port", kBridge, {with_host_port}, {}, only},
      {"overlap by one",
       kBridge,
       {Range("80-90"), Range("90-95")},
       {},
       apart("90-95", "range 80-90")},
      {"overlap by one from below",
       kBridge,
       {Range("90-95"), Range("80-90")},
       {},
       apart("80-90", "range 90-95")},
      {"TCP and UDP overlap", kBridge, {Range("80-90"), Range("80-90", kUdp)}, {}},
      {"a single port before", kBridge, {Port(85), Range("80-90")}, {}, apart("80-90", "port 85")},
      {"a single port after",
       kBridge,
       {Range("80-90"), Port(85)},
       {},
       "container 'app': containerPort 85 lies in the range 80-90 of another mapping; a port can "
       "be "
       "in one mapping only"},
      {"a single UDP port", kBridge, {Range("80-90"), Port(85, {}, kUdp)}, {}},
      {"containers under bridge lie apart", kBridge, {Range("80-90")}, {Range("80-90"), Port(79)}},
      {"containers under bridge lie apart, the other way round",
       kBridge,
       {Port(85)},
       {Range("80-90")}},
      {"containers under awsvpc do not",
       kAwsvpc,
       {Range("80-90")},
       {Port(85)},
       "container 'side': containerPort 85 lies in the range 80-90 of another mapping; a port can "
       "be "
       "in one mapping only"},
      {"a hundred", kBridge, hundred, {}},
      {"a hundred and one",
       kBridge,
       hundred_and_one,
       {},
       "container 'app': the number of containerPortRange entries is above 100; it must be at most "
       "100"},
  };
  for (const Case& c : cases) {
    INFO(c.why);
    TaskSpec spec = Spec({Container("app"), Container("side")});
    spec.network_mode = c.mode;
    spec.containers[0].port_mappings = c.app;
    spec.containers[1].port_mappings = c.side;
    CHECK(Refusal(spec) == c.refusal);
  }
}

TEST_CASE("a port's name is short and in lower case", "[validation]") {
  const auto refusal = [](const std::string& name) {
    PortMapping mapping = Port(80);
    mapping.name = name;
    TaskSpec spec = Spec();
    spec.containers[0].port_mappings = {mapping};
    return Refusal(spec);
  };
  CHECK(refusal("http-1_a") == "");
  CHECK(refusal(std::string(64, 'a')) == "");
  for (const std::string& name :
       {std::string(65, 'a'), std::string("-http"), std::string("Http"), std::string("a.b")}) {
    CHECK(refusal(name) ==
          "container 'app': portMappings[0].name is '" + name +
              "'; it must be at most 64 of a-z, 0-9, _ and -, not starting with -");
  }
}

}  // namespace
}  // namespace berth::model
