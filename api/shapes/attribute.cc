#include "api/shapes/attribute.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "model/errors.h"

namespace berth::api {

namespace {

constexpr std::string_view kArnPrefix = "arn:";

absl::StatusOr<model::InstanceId> ParseTarget(const AttributeArgument& attribute,
                                              const model::ClusterName& cluster,
                                              const model::ArnScope& scope) {
  if (attribute.target_id.empty()) {
    return model::InvalidParameter(absl::StrFormat(
        "attribute %s has no targetId; it should be the id or ARN of a container instance",
        attribute.name));
  }
  if (attribute.target_type || !attribute.target_id.starts_with(kArnPrefix)) {
    absl::Status checked = CheckTargetType(attribute.target_type);
    if (!checked.ok()) return checked;
  }
  return model::ParseInstance(scope, cluster, attribute.target_id);
}

}  // namespace

absl::Status CheckTargetType(const std::optional<std::string>& target_type) {
  if (target_type == kInstanceTarget) return absl::OkStatus();
  return model::InvalidParameter("targetType must be container-instance");
}

absl::StatusOr<std::vector<scheduler::PutAttributes::Target>> ParseTargets(
    const std::vector<AttributeArgument>& attributes, const model::ClusterName& cluster,
    const model::ArnScope& scope) {
  std::vector<scheduler::PutAttributes::Target> targets;
  for (const AttributeArgument& attribute : attributes) {
    absl::StatusOr<model::InstanceId> instance = ParseTarget(attribute, cluster, scope);
    if (!instance.ok()) return instance.status();
    targets.push_back({.instance = *std::move(instance),
                       .attribute = {.name = attribute.name, .value = attribute.value}});
  }
  return targets;
}

void WriteAttribute(const model::Attribute& attribute, const std::string& instance_arn,
                    JsonWriter& writer) {
  writer.BeginObject();
  writer.String("name", attribute.name);
  if (attribute.value) writer.String("value", *attribute.value);
  writer.String("targetId", instance_arn);
  writer.EndObject();
}

}  // namespace berth::api
