// Amazon Resource Names: how ids are written for clients, and read back.
//
// New ARNs are always of the long form (`task/CLUSTER/ID`); the old ones (`task/ID`) are accepted
// on input. Any partition is accepted. Rules and error texts: ecs-api.md 2.1.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "model/ids.h"

namespace berth::model {

// What every ARN of one installation shares.
struct ArnScope {
  std::string partition = "aws";
  std::string region = "us-east-1";
  std::string account = "000000000000";
};

std::string ClusterArn(const ArnScope& scope, const ClusterName& cluster);
std::string TaskArn(const ArnScope& scope, const ClusterName& cluster, const TaskId& task);
std::string InstanceArn(const ArnScope& scope, const ClusterName& cluster, const InstanceId& id);
std::string TaskDefinitionArn(const ArnScope& scope, const DefinitionId& id);
std::string ContainerArn(const ArnScope& scope, const ClusterName& cluster, const TaskId& task,
                         std::string_view container_uuid);

// The pieces of any ARN. `resource` is all after the fifth colon: "task/default/3f2a...".
struct Arn {
  std::string partition = {};
  std::string service = {};
  std::string region = {};
  std::string account = {};
  std::string resource = {};
};
std::optional<Arn> ParseArn(std::string_view text);

// Arguments of the API: a short name or id, or an ARN of either form. Errors are
// InvalidParameter with ECS's wording (another account, another kind, malformed). A task or
// instance ARN that names another cluster than `cluster` is refused likewise.
absl::StatusOr<ClusterName> ParseCluster(const ArnScope& scope, std::string_view text);
absl::StatusOr<TaskId> ParseTask(const ArnScope& scope, const ClusterName& cluster,
                                 std::string_view text);
absl::StatusOr<InstanceId> ParseInstance(const ArnScope& scope, const ClusterName& cluster,
                                         std::string_view text);

// `family`, `family:revision` or an ARN. Without a revision: the latest ACTIVE one, at call time.
struct DefinitionRef {
  std::string family = {};
  std::optional<int64_t> revision = std::nullopt;
};
absl::StatusOr<DefinitionRef> ParseDefinition(const ArnScope& scope, std::string_view text);

// 1-255 of [A-Za-z0-9_-]: clusters, families, containers, volumes.
bool IsValidName(std::string_view name);

}  // namespace berth::model
