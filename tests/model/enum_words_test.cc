// Every enumerator has its ECS spelling, and the spelling leads back to it.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "model/gpu.h"
#include "model/task_definition.h"
#include "model/task_status.h"

namespace berth::model {
namespace {

// `words` in the order of the enumerators, all of them.
template <class Enum>
void Walk(const std::vector<std::string_view>& words,
          std::optional<Enum> (*parse)(std::string_view)) {
  for (size_t i = 0; i < words.size(); ++i) {
    INFO(words[i]);
    const auto value = static_cast<Enum>(i);
    CHECK(ToString(value) == words[i]);
    CHECK(parse(words[i]) == value);
  }
  CHECK(parse("nonsense") == std::nullopt);
  CHECK(parse(std::string(words.back()) + " ") == std::nullopt);
}

TEST_CASE("every word of a life cycle is spelled as ECS spells it", "[words]") {
  Walk<TaskStatus>({"PROVISIONING", "PENDING", "ACTIVATING", "RUNNING", "DEACTIVATING", "STOPPING",
                    "DEPROVISIONING", "STOPPED"},
                   ParseTaskStatus);
  Walk<DesiredStatus>({"RUNNING", "STOPPED"}, ParseDesiredStatus);
  Walk<ContainerStatus>({"PENDING", "RUNNING", "STOPPED"}, ParseContainerStatus);
  Walk<HealthStatus>({"UNKNOWN", "HEALTHY", "UNHEALTHY"}, ParseHealthStatus);
  Walk<StopCode>({"", "TaskFailedToStart", "EssentialContainerExited", "UserInitiated",
                  "ServiceSchedulerInitiated", "SpotInterruption", "TerminationNotice",
                  "InfrastructureHealth"},
                 ParseStopCode);
  Walk<LaunchType>({"EC2", "FARGATE", "EXTERNAL", "MANAGED_INSTANCES"}, ParseLaunchType);
  Walk<DefinitionStatus>({"ACTIVE", "INACTIVE", "DELETE_IN_PROGRESS"}, ParseDefinitionStatus);
  Walk<InstanceStatus>({"ACTIVE", "DRAINING", "INACTIVE"}, ParseInstanceStatus);
  Walk<ClusterStatus>({"ACTIVE", "INACTIVE"}, ParseClusterStatus);
  Walk<NetworkMode>({"bridge", "host", "awsvpc", "none"}, ParseNetworkMode);
  Walk<DependencyCondition>({"START", "COMPLETE", "SUCCESS", "HEALTHY"}, ParseDependencyCondition);
}

TEST_CASE("what is only written has its spelling too", "[words]") {
  CHECK(ToString(GpuUse::kIdle) == "IDLE");
  CHECK(ToString(GpuUse::kNvidiaMps) == "NVIDIA_MPS");
  CHECK(ToString(GpuUse::kDedicated) == "DEDICATED");
  CHECK(ToString(Protocol::kTcp) == "tcp");
  CHECK(ToString(Protocol::kUdp) == "udp");
}

TEST_CASE("words are case-sensitive", "[words]") {
  CHECK(ParseTaskStatus("running") == std::nullopt);
  CHECK(ParseNetworkMode("AWSVPC") == std::nullopt);
  CHECK(ParseLaunchType("ec2") == std::nullopt);
}

TEST_CASE("a task's statuses are ordered as it goes through them", "[words]") {
  CHECK(TaskStatus::kProvisioning < TaskStatus::kPending);
  CHECK(TaskStatus::kPending < TaskStatus::kRunning);
  CHECK(TaskStatus::kRunning < TaskStatus::kStopping);
  CHECK(TaskStatus::kDeprovisioning < TaskStatus::kStopped);
}

}  // namespace
}  // namespace berth::model
