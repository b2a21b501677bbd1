#include "model/arn.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/errors.h"

namespace berth::model {
namespace {

constexpr std::string_view kArnPrefix = "arn:";
constexpr std::string_view kService = "ecs";
constexpr size_t kNameLengthMax = 255;
constexpr size_t kIdLength = 32;    // hex digits
constexpr size_t kUuidLength = 36;  // ids of old, with hyphens

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLowerHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f'); }
bool IsNameCharacter(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

bool IsUuid(std::string_view text) {
  if (text.size() != kUuidLength) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool hyphen = i == 8 || i == 13 || i == 18 || i == 23;
    if (hyphen ? text[i] != '-' : !IsLowerHex(text[i])) return false;
  }
  return true;
}

bool IsId(std::string_view text) {
  return (text.size() == kIdLength && std::ranges::all_of(text, IsLowerHex)) || IsUuid(text);
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (size_t begin = 0;;) {
    const size_t end = text.find(separator, begin);
    pieces.push_back(text.substr(begin, end == std::string_view::npos ? end : end - begin));
    if (end == std::string_view::npos) return pieces;
    begin = end + 1;
  }
}

std::string Resource(const ArnScope& scope, std::string_view resource) {
  return absl::StrFormat("arn:%s:ecs:%s:%s:%s", scope.partition, scope.region, scope.account,
                         resource);
}

absl::Status InvalidIdentifier(std::string_view text) {
  return InvalidParameter(absl::StrFormat("Invalid identifier: %s", text));
}

// The resource of an ARN of this kind and account, cut at '/', without the kind. The region is not
// compared, nor is the partition: one installation has one of each, so they tell nothing apart.
absl::StatusOr<std::vector<std::string_view>> ResourcePieces(const ArnScope& scope,
                                                             std::string_view kind,
                                                             std::string_view text) {
  const std::optional<Arn> arn = ParseArn(text);
  if (!arn.has_value() || arn->service != kService) return InvalidIdentifier(text);
  if (arn->account != scope.account) {
    return InvalidParameter(
        absl::StrFormat("Identifier is for %s. Your accountId is %s", arn->account, scope.account));
  }
  // Views into `text`, which outlives `arn`.
  std::vector<std::string_view> pieces =
      Split(text.substr(text.size() - arn->resource.size()), '/');
  if (pieces.front() != kind) {
    return InvalidParameter(absl::StrFormat("Unsupported resource type: %s", pieces.front()));
  }
  pieces.erase(pieces.begin());
  if (pieces.empty()) return InvalidIdentifier(text);
  return pieces;
}

// The id of a resource that lives in a cluster: `KIND/CLUSTER/ID`, `KIND/ID` of old, or the bare
// id.
absl::StatusOr<std::string_view> IdWithinCluster(const ArnScope& scope, const ClusterName& cluster,
                                                 std::string_view kind, std::string_view text) {
  if (!text.starts_with(kArnPrefix)) return text;
  const absl::StatusOr<std::vector<std::string_view>> pieces = ResourcePieces(scope, kind, text);
  if (!pieces.ok()) return pieces.status();
  if (pieces->size() > 2) return InvalidIdentifier(text);
  if (pieces->size() == 2 && pieces->front() != cluster.value) {
    return InvalidParameter(absl::StrFormat("Identifier is for cluster %s. Your cluster is %s",
                                            pieces->front(), cluster.value));
  }
  return pieces->back();
}

}  // namespace

std::string ClusterArn(const ArnScope& scope, const ClusterName& cluster) {
  return Resource(scope, "cluster/" + cluster.value);
}

std::string TaskArn(const ArnScope& scope, const ClusterName& cluster, const TaskId& task) {
  return Resource(scope, absl::StrFormat("task/%s/%s", cluster.value, task.value));
}

std::string InstanceArn(const ArnScope& scope, const ClusterName& cluster, const InstanceId& id) {
  return Resource(scope, absl::StrFormat("container-instance/%s/%s", cluster.value, id.value));
}

std::string TaskDefinitionArn(const ArnScope& scope, const DefinitionId& id) {
  return Resource(scope, absl::StrFormat("task-definition/%s:%d", id.family, id.revision));
}

std::string ContainerArn(const ArnScope& scope, const ClusterName& cluster, const TaskId& task,
                         std::string_view container_uuid) {
  return Resource(scope,
                  absl::StrFormat("container/%s/%s/%s", cluster.value, task.value, container_uuid));
}

std::optional<Arn> ParseArn(std::string_view text) {
  if (!text.starts_with(kArnPrefix)) return std::nullopt;
  std::string_view rest = text.substr(kArnPrefix.size());
  std::string_view head[4];  // partition, service, region, account
  for (std::string_view& piece : head) {
    const size_t colon = rest.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    piece = rest.substr(0, colon);
    rest.remove_prefix(colon + 1);
  }
  if (head[0].empty() || head[1].empty() || rest.empty()) return std::nullopt;
  return Arn{.partition = std::string(head[0]),
             .service = std::string(head[1]),
             .region = std::string(head[2]),
             .account = std::string(head[3]),
             .resource = std::string(rest)};
}

absl::StatusOr<ClusterName> ParseCluster(const ArnScope& scope, std::string_view text) {
  std::string_view name = text;
  if (text.starts_with(kArnPrefix)) {
    const absl::StatusOr<std::vector<std::string_view>> pieces =
        ResourcePieces(scope, "cluster", text);
    if (!pieces.ok()) return pieces.status();
    if (pieces->size() != 1) return InvalidIdentifier(text);
    name = pieces->front();
  }
  if (!IsValidName(name)) {
    return InvalidParameter(
        absl::StrFormat("Cluster must match ^[a-zA-Z0-9\\-_]{1,255}$, but was %s", name));
  }
  return ClusterName{std::string(name)};
}

absl::StatusOr<TaskId> ParseTask(const ArnScope& scope, const ClusterName& cluster,
                                 std::string_view text) {
  const absl::StatusOr<std::string_view> id = IdWithinCluster(scope, cluster, "task", text);
  if (!id.ok()) return id.status();
  if (!IsId(*id)) return InvalidParameter("Task Identifier is invalid");
  return TaskId{std::string(*id)};
}

absl::StatusOr<InstanceId> ParseInstance(const ArnScope& scope, const ClusterName& cluster,
                                         std::string_view text) {
  const absl::StatusOr<std::string_view> id =
      IdWithinCluster(scope, cluster, "container-instance", text);
  if (!id.ok()) return id.status();
  if (!IsId(*id)) return InvalidIdentifier(text);
  return InstanceId{std::string(*id)};
}

absl::StatusOr<DefinitionRef> ParseDefinition(const ArnScope& scope, std::string_view text) {
  if (text.empty()) return InvalidParameter("Task Definition can not be blank.");
  std::string_view name = text;
  if (text.starts_with(kArnPrefix)) {
    const absl::StatusOr<std::vector<std::string_view>> pieces =
        ResourcePieces(scope, "task-definition", text);
    if (!pieces.ok()) return pieces.status();
    if (pieces->size() != 1) return InvalidIdentifier(text);
    name = pieces->front();
  }

  const size_t colon = name.find(':');
  const std::string_view family = name.substr(0, colon);
  if (!IsValidName(family)) return InvalidIdentifier(text);
  DefinitionRef ref{.family = std::string(family)};
  if (colon == std::string_view::npos) return ref;

  const std::string_view digits = name.substr(colon + 1);
  int64_t revision = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), revision);
  if (error != std::errc() || end != digits.data() + digits.size() || revision < 1) {
    return InvalidParameter(absl::StrFormat("Invalid revision number. Number: %s", digits));
  }
  ref.revision = revision;
  return ref;
}

bool IsValidName(std::string_view name) {
  return !name.empty() && name.size() <= kNameLengthMax &&
         std::ranges::all_of(name, IsNameCharacter);
}

}  // namespace berth::model
