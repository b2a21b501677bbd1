// Arguments that several actions share: how they are read and what is refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "api/decode.h"
#include "model/arn.h"
#include "model/ids.h"
#include "model/tag.h"

namespace berth::api {

inline constexpr size_t kTagKeyLengthMax = 128;  // characters
inline constexpr size_t kTagValueLengthMax = 256;

// Absent or empty means `default`.
absl::StatusOr<model::ClusterName> ClusterArgument(const model::ArnScope& scope,
                                                   const std::optional<std::string>& cluster);

// Where the API wants one: absent or empty is refused.
absl::StatusOr<model::ClusterName> RequiredClusterArgument(const model::ArnScope& scope,
                                                           const std::string& cluster);

// Lists of ids or ARNs; the first that is none is the error.
absl::StatusOr<std::vector<model::InstanceId>> InstanceArguments(
    const model::ArnScope& scope, const model::ClusterName& cluster,
    const std::vector<std::string>& texts);
absl::StatusOr<std::vector<model::TaskId>> TaskArguments(const model::ArnScope& scope,
                                                         const model::ClusterName& cluster,
                                                         const std::vector<std::string>& texts);

// Whether `include` names it. Words that we do not know ask for nothing.
bool Includes(const std::vector<std::string>& include, std::string_view word);

struct TagArgument {
  std::optional<std::string> key = std::nullopt;
  std::optional<std::string> value = std::nullopt;
};
template <>
inline constexpr auto kFields<TagArgument> = std::array{
    Field<&TagArgument::key>("key"),
    Field<&TagArgument::value>("value"),
};

// The rules of ecs-api.md 12.2; the first violation as InvalidParameter.
absl::StatusOr<model::Tags> ParseTags(const std::vector<TagArgument>& tags);

// The keys of UntagResource, which keep to the same rules.
absl::Status CheckTagKeys(const std::vector<std::string>& keys);

}  // namespace berth::api
