#include "api/tagged_resource.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "model/errors.h"

namespace berth::api {

namespace {

using scheduler::TaggedResource;

// Kinds that can have tags, and of which there are none here.
constexpr std::string_view kNotHere[] = {"capacity-provider",
                                         "daemon",
                                         "daemon-task-definition",
                                         "gateway",
                                         "gateway-route",
                                         "service",
                                         "service-deployment",
                                         "service-revision",
                                         "task-set",
                                         "express-gateway-service"};
// Of these, as of tasks and instances, ECS has ARNs of an old form, without the cluster.
constexpr std::string_view kService = "service";

absl::Status InvalidArn() { return model::InvalidParameter("The ARN provided is invalid."); }

absl::Status OldForm() {
  return model::InvalidParameter("Long arn format must be used for tagging operations");
}

absl::StatusOr<TaggedResource> ParseDefinitionArn(const model::ArnScope& scope,
                                                  std::string_view arn) {
  const absl::StatusOr<model::DefinitionRef> reference = model::ParseDefinition(scope, arn);
  if (!reference.ok() || !reference->revision) return InvalidArn();
  return model::DefinitionId{.family = reference->family, .revision = *reference->revision};
}

absl::StatusOr<TaggedResource> ParseWithinCluster(const model::ArnScope& scope,
                                                  std::string_view kind, std::string cluster_name,
                                                  std::string_view arn) {
  if (!model::IsValidName(cluster_name)) return InvalidArn();
  model::ClusterName cluster{std::move(cluster_name)};
  if (kind == "task") {
    absl::StatusOr<model::TaskId> id = model::ParseTask(scope, cluster, arn);
    if (!id.ok()) return InvalidArn();
    return scheduler::TaskInCluster{.cluster = std::move(cluster), .id = *std::move(id)};
  }
  absl::StatusOr<model::InstanceId> id = model::ParseInstance(scope, cluster, arn);
  if (!id.ok()) return InvalidArn();
  return scheduler::InstanceKey{.cluster = std::move(cluster), .id = *std::move(id)};
}

}  // namespace

absl::StatusOr<TaggedResource> ParseTaggedResource(const model::ArnScope& scope,
                                                   std::string_view arn) {
  const std::optional<model::Arn> parsed = model::ParseArn(arn);
  if (!parsed || parsed->service != "ecs") return InvalidArn();
  if (parsed->account != scope.account) {
    return model::InvalidParameter(absl::StrFormat("Identifier is for %s. Your accountId is %s",
                                                   parsed->account, scope.account));
  }
  const std::vector<std::string> pieces = absl::StrSplit(parsed->resource, '/');
  const std::string& kind = pieces[0];
  const bool named = pieces.size() > 1 && !pieces.back().empty();
  if (!named) return InvalidArn();

  if (kind == "cluster") {
    absl::StatusOr<model::ClusterName> cluster = model::ParseCluster(scope, arn);
    if (!cluster.ok()) return InvalidArn();
    return *std::move(cluster);
  }
  if (kind == "task-definition") return ParseDefinitionArn(scope, arn);
  const bool of_instance_or_task = kind == "task" || kind == "container-instance";
  if ((of_instance_or_task || kind == kService) && pieces.size() == 2) return OldForm();
  if (of_instance_or_task) return ParseWithinCluster(scope, kind, pieces[1], arn);
  if (std::ranges::find(kNotHere, kind) != std::end(kNotHere)) {
    return model::MakeError(model::ErrorKind::kResourceNotFound,
                            absl::StrFormat("The specified resource is not there: this "
                                            "installation has no %s %s",
                                            kind, pieces.back()));
  }
  return InvalidArn();
}

}  // namespace berth::api
