#include "api/arguments.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "model/errors.h"
#include "model/utf8.h"

namespace berth::api {

namespace {

constexpr char kDefaultCluster[] = "default";

// Letters, marks and digits of any script pass: what is not ASCII is not looked at closer.
bool IsTagCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || (c & 0x80) != 0 ||
         std::string_view(" _.:/=+-@").find(c) != std::string_view::npos;
}

absl::Status InvalidCharacters(const std::string& key) {
  return model::InvalidParameter(absl::StrFormat(
      "the tag '%s' contains invalid characters: letters, digits, blanks and _ . : / = + - @ are "
      "allowed",
      key));
}

absl::Status CheckTagKey(const std::string& key) {
  if (key.empty()) return model::InvalidParameter("a tag has no key");
  if (model::CountCharacters(key) > kTagKeyLengthMax) {
    return model::InvalidParameter(
        absl::StrFormat("the tag key '%s' is longer than %d characters", key, kTagKeyLengthMax));
  }
  if (model::IsReservedTagKey(key)) {
    return model::InvalidParameter(
        absl::StrFormat("the tag key '%s' is reserved: it should not begin with aws:", key));
  }
  if (!std::ranges::all_of(key, IsTagCharacter)) return InvalidCharacters(key);
  return absl::OkStatus();
}

absl::Status CheckTag(const TagArgument& tag) {
  if (absl::Status key = CheckTagKey(tag.key.value_or("")); !key.ok()) return key;
  if (!tag.value) {
    return model::InvalidParameter(
        absl::StrFormat("the tag '%s' has no value: it may be empty, but must be there", *tag.key));
  }
  if (model::CountCharacters(*tag.value) > kTagValueLengthMax) {
    return model::InvalidParameter(absl::StrFormat(
        "the value of tag '%s' is longer than %d characters", *tag.key, kTagValueLengthMax));
  }
  if (!std::ranges::all_of(*tag.value, IsTagCharacter)) return InvalidCharacters(*tag.key);
  return absl::OkStatus();
}

template <class Id>
absl::StatusOr<std::vector<Id>> ParseAll(const model::ArnScope& scope,
                                         const model::ClusterName& cluster,
                                         const std::vector<std::string>& texts,
                                         absl::StatusOr<Id> (*parse)(const model::ArnScope&,
                                                                     const model::ClusterName&,
                                                                     std::string_view)) {
  std::vector<Id> ids;
  for (const std::string& text : texts) {
    absl::StatusOr<Id> id = parse(scope, cluster, text);
    if (!id.ok()) return id.status();
    ids.push_back(*std::move(id));
  }
  return ids;
}

}  // namespace

absl::StatusOr<model::ClusterName> ClusterArgument(const model::ArnScope& scope,
                                                   const std::optional<std::string>& cluster) {
  if (!cluster || cluster->empty()) return model::ClusterName{kDefaultCluster};
  return model::ParseCluster(scope, *cluster);
}

absl::StatusOr<std::vector<model::InstanceId>> InstanceArguments(
    const model::ArnScope& scope, const model::ClusterName& cluster,
    const std::vector<std::string>& texts) {
  return ParseAll<model::InstanceId>(scope, cluster, texts, &model::ParseInstance);
}

absl::StatusOr<std::vector<model::TaskId>> TaskArguments(const model::ArnScope& scope,
                                                         const model::ClusterName& cluster,
                                                         const std::vector<std::string>& texts) {
  return ParseAll<model::TaskId>(scope, cluster, texts, &model::ParseTask);
}

absl::StatusOr<model::ClusterName> RequiredClusterArgument(const model::ArnScope& scope,
                                                           const std::string& cluster) {
  if (cluster.empty()) return model::InvalidParameter("Cluster can not be blank.");
  return model::ParseCluster(scope, cluster);
}

bool Includes(const std::vector<std::string>& include, std::string_view word) {
  return std::ranges::find(include, word) != include.end();
}

absl::StatusOr<model::Tags> ParseTags(const std::vector<TagArgument>& tags) {
  if (tags.size() > model::kTagsMax) {
    return model::InvalidParameter(
        absl::StrFormat("tags can have at most %d items.", model::kTagsMax));
  }
  model::Tags parsed;
  std::set<std::string_view> keys;
  for (const TagArgument& tag : tags) {
    absl::Status status = CheckTag(tag);
    if (!status.ok()) return status;
    if (!keys.insert(*tag.key).second) {
      return model::InvalidParameter(absl::StrFormat("the tag key '%s' is given twice", *tag.key));
    }
    parsed.push_back({.key = *tag.key, .value = *tag.value});
  }
  return parsed;
}

absl::Status CheckTagKeys(const std::vector<std::string>& keys) {
  if (keys.size() > model::kTagsMax) {
    return model::InvalidParameter(
        absl::StrFormat("tagKeys can have at most %d items.", model::kTagsMax));
  }
  for (const std::string& key : keys) {
    if (absl::Status status = CheckTagKey(key); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace berth::api
