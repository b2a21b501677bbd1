// What a task asks for, from its definition.
#include "placement/demand.h"

#include <limits>

#include <catch2/catch.hpp>

namespace berth::placement {
namespace {

using model::ContainerDefinition;
using model::LaunchType;
using model::NetworkMode;
using model::PortMapping;
using model::Protocol;
using model::ResourceRequirement;
using model::TaskSpec;

Demand OnEc2(const TaskSpec& spec) { return DemandOf(spec, {}, LaunchType::kEc2); }

ResourceRequirement SharedGpu(int64_t memory_mib) {
  ResourceRequirement requirement{.type = "GPU"};
  requirement.sharing_strategy =
      ResourceRequirement::SharingStrategy{.has_nvidia_mps = true, .memory_mib = memory_mib};
  return requirement;
}

ResourceRequirement WholeGpus(std::string value) {
  return {.type = "GPU", .value = std::move(value)};
}

TEST_CASE("CPU and memory are the task's where it says so, else the sum of its containers",
          "[placement]") {
  const ContainerDefinition hard{.cpu_units = 100, .memory_mib = 500};
  const ContainerDefinition soft{.cpu_units = 20, .memory_reservation_mib = 60};
  const ContainerDefinition both{.memory_mib = 900, .memory_reservation_mib = 7};
  struct Case {
    std::string why;
    TaskSpec spec;
    int64_t cpu_units;
    int64_t memory_mib;
  };
  const auto c = GENERATE_COPY(values<Case>({
      {"nothing asked", {.containers = {{}}}, 0, 0},
      {"the sum; the soft limit wins over the hard", {.containers = {hard, soft, both}}, 120, 567},
      {"the task's", {.cpu_units = 256, .memory_mib = 512, .containers = {hard, soft}}, 256, 512},
      {"one of each", {.cpu_units = 256, .containers = {hard}}, 256, 500},
      {"a sum beyond 64 bits stays large",
       {.containers = {{.memory_mib = std::numeric_limits<int64_t>::max()}, hard}},
       100,
       std::numeric_limits<int64_t>::max()},
  }));
  INFO(c.why);

  const Demand demand = OnEc2(c.spec);

  CHECK(demand.cpu_units == c.cpu_units);
  CHECK(demand.memory_mib == c.memory_mib);
}

TEST_CASE("only static host ports of bridge and host mode are asked for", "[placement]") {
  const PortMapping fixed{.container_port = 80, .host_port = 8080};
  const PortMapping dynamic{.container_port = 81};
  const PortMapping zero{.container_port = 82, .host_port = 0};
  const PortMapping udp{.container_port = 53, .host_port = 5353, .protocol = Protocol::kUdp};
  const PortMapping range{.container_port_range = "9000-9010"};
  const std::vector<PortMapping> all = {udp, fixed, dynamic, zero, range};
  struct Case {
    std::string why;
    std::optional<NetworkMode> mode;
    std::vector<PortMapping> mappings;
    std::vector<int64_t> tcp;
    std::vector<int64_t> udp;
  };
  const auto c = GENERATE_COPY(values<Case>({
      {"bridge: those that are given", NetworkMode::kBridge, all, {8080}, {5353}},
      {"no mode is bridge", std::nullopt, all, {8080}, {5353}},
      {"host: the container's own", NetworkMode::kHost, {dynamic, zero}, {81, 82}, {}},
      {"awsvpc: an address of its own", NetworkMode::kAwsvpc, all, {}, {}},
      {"none", NetworkMode::kNone, all, {}, {}},
      {"the same twice is one", NetworkMode::kBridge, {fixed, fixed}, {8080}, {}},
  }));
  INFO(c.why);
  TaskSpec spec{.network_mode = c.mode};
  // Over two containers, in the wrong order.
  spec.containers.resize(2);
  for (size_t i = 0; i < c.mappings.size(); ++i) {
    spec.containers[(i + 1) % 2].port_mappings.push_back(c.mappings[i]);
  }

  const Demand demand = OnEc2(spec);

  CHECK(demand.tcp_ports == c.tcp);
  CHECK(demand.udp_ports == c.udp);
}

TEST_CASE("a task's GPU demand is summed over its containers", "[placement]") {
  using Kind = GpuDemand::Kind;
  struct Case {
    std::string why;
    std::vector<ResourceRequirement> of_containers;
    GpuDemand demand;
  };
  const auto c = GENERATE(values<Case>({
      {"none", {}, {}},
      {"another resource is not a GPU", {{.type = "InferenceAccelerator", .value = "d"}}, {}},
      {"the guide's example",
       {SharedGpu(12288), SharedGpu(8192)},
       {.kind = Kind::kShared, .memory_mib = 20480, .containers = 2}},
      {"a sum beyond 32 bits",
       {SharedGpu(1'073'741'824), SharedGpu(1'073'741'824), SharedGpu(1'073'741'824)},
       {.kind = Kind::kShared, .memory_mib = 3'221'225'472, .containers = 3}},
      {"whole GPUs", {WholeGpus("1"), WholeGpus("2")}, {.kind = Kind::kDedicated, .count = 3}},
      {"all of them", {WholeGpus("ALL")}, {.kind = Kind::kAll}},
  }));
  INFO(c.why);
  TaskSpec spec;
  spec.containers.push_back({.name = "sidecar"});
  for (const ResourceRequirement& requirement : c.of_containers) {
    spec.containers.push_back({.name = "c", .resource_requirements = {requirement}});
  }

  const GpuDemand demand = OnEc2(spec).gpu;

  CHECK(demand.kind == c.demand.kind);
  CHECK(demand.count == c.demand.count);
  CHECK(demand.memory_mib == c.demand.memory_mib);
  CHECK(demand.containers == c.demand.containers);
}

TEST_CASE("compute percent is no part of a demand [47]", "[placement]") {
  ResourceRequirement full = SharedGpu(1000);
  full.sharing_strategy->max_compute_percent = 100;
  TaskSpec with;
  with.containers.push_back({.resource_requirements = {full}});
  TaskSpec without;
  without.containers.push_back({.resource_requirements = {SharedGpu(1000)}});

  CHECK(OnEc2(with).gpu.memory_mib == OnEc2(without).gpu.memory_mib);
  CHECK(OnEc2(with).gpu.containers == OnEc2(without).gpu.containers);
}

TEST_CASE("required attributes and launch type are taken over, attributes in order",
          "[placement]") {
  const Demand demand = DemandOf({}, {"b", "a"}, LaunchType::kExternal);

  CHECK(demand.required_attributes == std::vector<std::string>{"a", "b"});
  CHECK(demand.launch_type == LaunchType::kExternal);
}

}  // namespace
}  // namespace berth::placement
