// The GPU rules of RegisterTaskDefinition. A number before a case is that of the list of test cases
// in the rules for GPU sharing; V is the rule.
#include <catch2/catch.hpp>

#include "model/reserved_variables.h"
#include "spec_builder.h"

namespace berth::model {
namespace {

const std::string kEntry = "container 'app': resourceRequirements[0]";

struct Case {
  std::string why;
  ResourceRequirement requirement;
  std::string refusal = {};  // empty: accepted
};

ResourceRequirement Strategy(ResourceRequirement::SharingStrategy strategy,
                             std::string type = "GPU") {
  return {.type = std::move(type), .sharing_strategy = strategy};
}

TEST_CASE("one GPU entry is whole or shared, and complete", "[validation][gpus]") {
  ResourceRequirement both = Mps(4096);
  both.value = "1";
  const std::string memory_range = " the share of the GPU's memory in MiB, from 1 to 2147483647";
  const auto memory = [&](const std::string& found) {
    return kEntry + ".sharingStrategy.nvidiaMps.memory is " + found + "; it must be" + memory_range;
  };
  const auto percent = [](int found) {
    return kEntry + ".sharingStrategy.nvidiaMps.maxComputePercent is " + std::to_string(found) +
           "; it must be from 1 to 100";
  };
  const auto value = [](const std::string& found) {
    return kEntry + ".value is '" + found +
           "'; it must be a whole number of GPUs from 1 on, or ALL; for a part of one GPU give "
           "sharingStrategy.nvidiaMps.memory instead of value";
  };
  const auto not_shared = [](const std::string& type) {
    return kEntry + ".sharingStrategy is given for type " + type +
           "; it must be absent, since only a GPU can be shared";
  };
  const std::string no_member =
      kEntry +
      ".sharingStrategy is without a member that is known here; it must be an object with exactly "
      "one member, nvidiaMps";
  const std::vector<Case> cases = {
      {"2: value and sharingStrategy", both,
       kEntry +
           " has both value and sharingStrategy; it must have exactly one: value for whole GPUs, "
           "sharingStrategy for a share of one"},
      {"3: neither, as a client that is too old sends it",
       {.type = "GPU"},
       kEntry +
           " of type GPU has neither value nor sharingStrategy; it must have value for whole GPUs "
           "(such as \"1\") or sharingStrategy.nvidiaMps.memory for a share of one. If "
           "sharingStrategy was given, the client may be too old for it and have dropped it: use a "
           "newer AWS SDK or CLI"},
      {"4, 5: no member, or none that is known", Strategy({}), no_member},
      {"6: no memory", Strategy({.has_nvidia_mps = true}),
       kEntry +
           ".sharingStrategy.nvidiaMps.memory is missing; it must be the share of the GPU's memory "
           "in MiB, at least 1"},
      {"6: memory 0", Mps(0), memory("0")},
      {"6: memory -1", Mps(-1), memory("-1")},
      {"7: memory 1", Mps(1)},
      {"9: memory 2147483647", Mps(2147483647)},
      {"one more is no Integer of the API", Mps(2147483648), memory("2147483648")},
      {"the most negative number", Mps(INT64_MIN), memory("-9223372036854775808")},
      {"10: percent 0", Mps(1000, 0), percent(0)},
      {"10: percent 101", Mps(1000, 101), percent(101)},
      {"10: percent -5", Mps(1000, -5), percent(-5)},
      {"11: percent 1", Mps(1000, 1)},
      {"11: percent 100", Mps(1000, 100)},
      {"12: percent absent", Mps(1000)},
      {"14: InferenceAccelerator with a strategy",
       Strategy({.has_nvidia_mps = true, .memory_mib = 1000}, "InferenceAccelerator"),
       not_shared("InferenceAccelerator")},
      {"14: NeuronDevice with a strategy",
       Strategy({.has_nvidia_mps = true, .memory_mib = 1000}, "NeuronDevice"),
       not_shared("NeuronDevice")},
      {"InferenceAccelerator",
       {.type = "InferenceAccelerator", .value = "device_1"},
       kEntry + ".type is InferenceAccelerator, which is not offered here; it must be GPU"},
      {"NeuronDevice would run without its device",
       {.type = "NeuronDevice", .value = "ALL"},
       kEntry + ".type is NeuronDevice, which is not offered here; it must be GPU"},
      {"V1: no type", {.value = "1"}, kEntry + ".type is missing; it must be GPU"},
      {"V1: an unknown type",
       {.type = "gpu", .value = "1"},
       kEntry + ".type is 'gpu'; it must be GPU"},
      {"V18: one GPU", Whole("1")},
      {"V18: sixteen", Whole("16")},
      {"V18: ALL", Whole("ALL")},
      {"V18: a count that no machine has", Whole("999999999")},
      {"a count of ten digits", Whole("1000000000"), value("1000000000")},
      {"V18: a part of a GPU", Whole("0.25"), value("0.25")},
      {"V18: none", Whole("0"), value("0")},
      {"V18: fewer than none", Whole("-1"), value("-1")},
      {"V18: empty", Whole(""), value("")},
      {"V18: all in small letters", Whole("all"), value("all")},
      {"V18: a leading zero", Whole("01"), value("01")},
      {"V18: a space", Whole(" 1"), value(" 1")},
  };
  for (const Case& c : cases) {
    INFO(c.why);
    const absl::Status status = ValidateTaskSpec(Spec({WithGpu("app", c.requirement)}));
    CHECK(std::string(status.message()) == c.refusal);
    if (!status.ok()) CHECK(KindOf(status) == ErrorKind::kClient);
  }
}

TEST_CASE("1: the guide's example is accepted", "[validation][gpus]") {
  TaskSpec spec =
      Spec({WithGpu("a", Mps(12288, 50)), WithGpu("b", Mps(8192, 25)), Container("router")});
  spec.network_mode = NetworkMode::kAwsvpc;
  spec.requires_compatibilities = {"MANAGED_INSTANCES"};

  CHECK(Refusal(spec) == "");
  CHECK(GpuRequirementOf(spec.containers[2]).kind == GpuRequirement::Kind::kNone);
}

TEST_CASE("the GPU containers of a task agree", "[validation][gpus]") {
  struct Together {
    std::string why;
    std::vector<ContainerDefinition> containers;
    std::string refusal = {};
  };
  ContainerDefinition two_entries = WithGpu("a", Mps(1000));
  two_entries.resource_requirements.push_back(Mps(2000));
  const std::vector<Together> cases = {
      {"13: shared and whole",
       {WithGpu("a", Mps(1000)), WithGpu("b", Whole("1"))},
       "container 'a' asks for a GPU by sharingStrategy and container 'b' by value; all GPU "
       "containers of a task must use the same option, either value or sharingStrategy"},
      {"13: whole and shared, one between",
       {WithGpu("a", Whole("1")), Container("b"), WithGpu("c", Mps(1000))},
       "container 'a' asks for a GPU by value and container 'c' by sharingStrategy; all GPU "
       "containers of a task must use the same option, either value or sharingStrategy"},
      {"18: two entries in a container",
       {two_entries},
       "container 'a': resourceRequirements[1] is a second entry of type GPU; it must be the only "
       "one: put the number of GPUs in one value, or the memory in one share"},
      {"20: 80 % and 80 %", {WithGpu("a", Mps(1000, 80)), WithGpu("b", Mps(1000, 80))}},
      {"V10: without a GPU beside a share", {Container("a"), WithGpu("b", Mps(1000))}},
      {"V11: different shares", {WithGpu("a", Mps(12288, 50)), WithGpu("b", Mps(8192))}},
      {"36: three shares whose sum is beyond 32 bits",
       {WithGpu("a", Mps(1073741824)), WithGpu("b", Mps(1073741824)),
        WithGpu("c", Mps(1073741824))}},
      {"whole ones of different number", {WithGpu("a", Whole("1")), WithGpu("b", Whole("2"))}},
      {"ALL leaves none for another",
       {WithGpu("a", Whole("1")), WithGpu("b", Whole("ALL"))},
       "container 'b' takes ALL GPUs of the container instance, which leaves none for container "
       "'a'; "
       "give each a number"},
      {"ALL twice",
       {WithGpu("a", Whole("ALL")), WithGpu("b", Whole("ALL"))},
       "container 'a' takes ALL GPUs of the container instance, which leaves none for container "
       "'b'; "
       "give each a number"},
  };
  for (const Together& c : cases) {
    INFO(c.why);
    CHECK(Refusal(Spec(c.containers)) == c.refusal);
  }
}

TEST_CASE("launch types that cannot share, or have no GPUs, are refused", "[validation][gpus]") {
  struct Launch {
    std::string why;
    std::vector<std::string> requires_compatibilities;
    ResourceRequirement requirement;
    std::string refusal = {};
  };
  const std::string external =
      "Tasks using the External launch type do not support sharingStrategy of container 'app'; "
      "require EC2 or MANAGED_INSTANCES, or give the container whole GPUs with 'value'.";
  const std::string fargate =
      "Tasks using the Fargate launch type do not support GPU resource requirements";
  const std::vector<Launch> cases = {
      {"15: EXTERNAL", {"EXTERNAL"}, Mps(1000), external},
      {"15: EC2 and EXTERNAL", {"EC2", "EXTERNAL"}, Mps(1000), external},
      {"EXTERNAL with whole GPUs", {"EXTERNAL"}, Whole("1")},
      {"16: FARGATE, shared", {"FARGATE"}, Mps(1000), fargate},
      {"16: FARGATE, whole", {"FARGATE"}, Whole("1"), fargate},
      {"V13: EC2", {"EC2"}, Mps(1000)},
      {"17: none required", {}, Mps(1000)},
  };
  for (const Launch& c : cases) {
    INFO(c.why);
    TaskSpec spec = Spec({WithGpu("app", c.requirement)});
    spec.requires_compatibilities = c.requires_compatibilities;
    CHECK(Refusal(spec) == c.refusal);
  }
}

TEST_CASE("V25: GPUs need Linux", "[validation][gpus]") {
  for (const ResourceRequirement& requirement : {Mps(1000), Whole("1")}) {
    TaskSpec spec = Spec({WithGpu("app", requirement)});
    spec.operating_system_family = "LINUX";
    CHECK(Refusal(spec) == "");
    spec.operating_system_family = "WINDOWS_SERVER_2022_CORE";
    CHECK(
        Refusal(spec) ==
        "container 'app': resourceRequirements is given with runtimePlatform.operatingSystemFamily "
        "WINDOWS_SERVER_2022_CORE; it must be absent, since GPUs need LINUX");
  }
}

TEST_CASE("V26, V27: no network, pid or ipc mode stands in the way of sharing",
          "[validation][gpus]") {
  for (const NetworkMode mode :
       {NetworkMode::kBridge, NetworkMode::kHost, NetworkMode::kAwsvpc, NetworkMode::kNone}) {
    TaskSpec spec = Spec({WithGpu("app", Mps(1000))});
    spec.network_mode = mode;
    spec.pid_mode = "task";
    spec.ipc_mode = "none";
    CHECK(Refusal(spec) == "");
  }
}

TEST_CASE("19: a reserved variable is refused where a GPU is shared, and only there",
          "[validation][gpus]") {
  const auto refusal = [](const std::string& member, std::string_view name) {
    return "container 'app': " + member + " sets " + std::string(name) +
           ", which is reserved in a container that shares a GPU (the agent sets what the share "
           "needs); remove it";
  };
  CHECK(std::size(kReservedGpuVariables) == 10);
  for (const std::string_view variable : kReservedGpuVariables) {
    const std::string name(variable);
    INFO(name);
    TaskSpec spec = Spec({WithGpu("app", Mps(1000)), Container("side")});

    spec.containers[0].environment = {{"A", "1"}, {name, "x"}};
    CHECK(Refusal(spec) == refusal("environment", name));

    spec.containers[0].environment = {};
    spec.containers[0].secrets = {{name, "/p"}};
    CHECK(Refusal(spec) == refusal("secrets", name));

    spec.containers[0].secrets = {};
    spec.containers[1].environment = {{name, "x"}};
    CHECK(Refusal(spec) == "");

    TaskSpec whole = Spec({WithGpu("app", Whole("1"))});
    whole.containers[0].environment = {{name, "x"}};
    CHECK(Refusal(whole) == "");
  }
}

TEST_CASE("a variable that only resembles a reserved one is free", "[validation][gpus]") {
  TaskSpec spec = Spec({WithGpu("app", Mps(1000))});
  spec.containers[0].environment = {{"CUDA_MPS_PIPE_DIRECTORY_2", "x"},
                                    {"cuda_visible_devices", "x"},
                                    {"NVIDIA_DRIVER_CAPABILITIES", "compute"}};
  CHECK(Refusal(spec) == "");
}

}  // namespace
}  // namespace berth::model
