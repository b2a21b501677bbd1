// Attributes of container instances in requests and answers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/decode.h"
#include "api/json_writer.h"
#include "model/arn.h"
#include "scheduler/commands.h"

namespace berth::api {

struct AttributeArgument {
  std::string name = {};
  std::optional<std::string> value = std::nullopt;
  std::optional<std::string> target_type = std::nullopt;
  std::string target_id = {};
};
template <>
inline constexpr auto kFields<AttributeArgument> = std::array{
    Field<&AttributeArgument::name>("name"),
    Field<&AttributeArgument::value>("value"),
    Field<&AttributeArgument::target_type>("targetType"),
    Field<&AttributeArgument::target_id>("targetId"),
};

// The one kind of target that there is.
inline constexpr std::string_view kInstanceTarget = "container-instance";
absl::Status CheckTargetType(const std::optional<std::string>& target_type);

// A target is a whole ARN, or a short id beside its type.
absl::StatusOr<std::vector<scheduler::PutAttributes::Target>> ParseTargets(
    const std::vector<AttributeArgument>& attributes, const model::ClusterName& cluster,
    const model::ArnScope& scope);

// As one element of `attributes`: name, value and the ARN of its instance.
void WriteAttribute(const model::Attribute& attribute, const std::string& instance_arn,
                    JsonWriter& writer);

}  // namespace berth::api
