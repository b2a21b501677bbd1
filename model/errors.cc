#include "model/errors.h"

#include <optional>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_format.h"
#include "model/enum_table.h"

namespace berth::model {
namespace {

// The kind and the ids travel as payloads of the status, under these names.
constexpr char kKindPayload[] = "berth/error-kind";
constexpr char kTasksPayload[] = "berth/conflicting-tasks";
constexpr char kTaskSeparator = ',';  // no id contains it

constexpr EnumEntry<ErrorKind> kErrorKinds[] = {
    {ErrorKind::kInvalidParameter, "invalid-parameter"},
    {ErrorKind::kClient, "client"},
    {ErrorKind::kClusterNotFound, "cluster-not-found"},
    {ErrorKind::kAccessDenied, "access-denied"},
    {ErrorKind::kResourceNotFound, "resource-not-found"},
    {ErrorKind::kTargetNotFound, "target-not-found"},
    {ErrorKind::kTargetNotConnected, "target-not-connected"},
    {ErrorKind::kAttributeLimitExceeded, "attribute-limit-exceeded"},
    {ErrorKind::kClusterContainsServices, "cluster-contains-services"},
    {ErrorKind::kClusterContainsInstances, "cluster-contains-instances"},
    {ErrorKind::kClusterContainsTasks, "cluster-contains-tasks"},
    {ErrorKind::kConflict, "conflict"},
    {ErrorKind::kUnsupported, "unsupported"},
    {ErrorKind::kThrottled, "throttled"},
    {ErrorKind::kUnavailable, "unavailable"},
    {ErrorKind::kInternal, "internal"},
};

absl::StatusCode CodeOf(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalidParameter:
    case ErrorKind::kClient:
      return absl::StatusCode::kInvalidArgument;
    case ErrorKind::kClusterNotFound:
    case ErrorKind::kResourceNotFound:
    case ErrorKind::kTargetNotFound:
      return absl::StatusCode::kNotFound;
    case ErrorKind::kAccessDenied:
      return absl::StatusCode::kPermissionDenied;
    case ErrorKind::kTargetNotConnected:
    case ErrorKind::kAttributeLimitExceeded:
    case ErrorKind::kClusterContainsServices:
    case ErrorKind::kClusterContainsInstances:
    case ErrorKind::kClusterContainsTasks:
      return absl::StatusCode::kFailedPrecondition;
    case ErrorKind::kConflict:
      return absl::StatusCode::kAlreadyExists;
    case ErrorKind::kUnsupported:
      return absl::StatusCode::kUnimplemented;
    case ErrorKind::kThrottled:
      return absl::StatusCode::kResourceExhausted;
    case ErrorKind::kUnavailable:
      return absl::StatusCode::kUnavailable;
    case ErrorKind::kInternal:
      return absl::StatusCode::kInternal;
  }
  BERTH_CHECK(false && "an error kind without a status code");
}

absl::string_view ToAbsl(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

absl::Status MakeError(ErrorKind kind, std::string_view message) {
  absl::Status status(CodeOf(kind), ToAbsl(message));
  status.SetPayload(kKindPayload, absl::Cord(ToAbsl(NameOf(kErrorKinds, kind))));
  return status;
}

absl::Status InvalidParameter(std::string_view message) {
  return MakeError(ErrorKind::kInvalidParameter, message);
}
absl::Status ClientError(std::string_view message) {
  return MakeError(ErrorKind::kClient, message);
}
absl::Status Unsupported(std::string_view message) {
  return MakeError(ErrorKind::kUnsupported, message);
}
absl::Status Unavailable(std::string_view message) {
  return MakeError(ErrorKind::kUnavailable, message);
}

absl::Status ClusterNotFound() {
  return MakeError(ErrorKind::kClusterNotFound, "Cluster not found.");
}

// What would add to an INACTIVE cluster is told that there is none, under the same name and text:
// clients and agents then create it anew.
absl::Status ClusterInactive() { return ClusterNotFound(); }

absl::Status TaskDefinitionNotFound() { return ClientError("TaskDefinition not found."); }

absl::Status UnableToDescribeDefinition() {
  return ClientError("Unable to describe task definition.");
}

absl::Status TaskDefinitionInactive() { return InvalidParameter("TaskDefinition is inactive"); }

absl::Status TaskNotFound() { return InvalidParameter("The referenced task was not found."); }

absl::Status InstanceNotFound(std::string_view what) {
  return InvalidParameter(absl::StrFormat("Referenced container instance %s not found.", what));
}

absl::Status NoContainerInstances() {
  return InvalidParameter("No Container Instances were found in your cluster.");
}

absl::Status NotItsInstance(std::string_view what, std::string_view way_out) {
  return MakeError(
      ErrorKind::kAccessDenied,
      absl::StrFormat("this access key is an agent's, and %s is not among the container instances "
                      "that it registered or the tasks on them: %s",
                      what, way_out));
}

absl::Status TokenConflict(std::vector<TaskId> tasks) {
  absl::Status status =
      MakeError(ErrorKind::kConflict,
                "The client token was used before with other parameters. Use a new token for a new "
                "request, or repeat the first request unchanged.");
  std::string joined;
  for (const TaskId& task : tasks) {
    if (!joined.empty()) joined += kTaskSeparator;
    joined += task.value;
  }
  status.SetPayload(kTasksPayload, absl::Cord(joined));
  return status;
}

ErrorKind KindOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kKindPayload);
  if (!payload.has_value()) return ErrorKind::kInternal;
  return ValueOf(kErrorKinds, std::string(*payload)).value_or(ErrorKind::kInternal);
}

std::vector<TaskId> ConflictingTasks(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kTasksPayload);
  std::vector<TaskId> tasks;
  if (!payload.has_value()) return tasks;

  const std::string joined(*payload);
  for (size_t begin = 0; begin < joined.size();) {
    size_t end = joined.find(kTaskSeparator, begin);
    if (end == std::string::npos) end = joined.size();
    tasks.push_back(TaskId{joined.substr(begin, end - begin)});
    begin = end + 1;
  }
  return tasks;
}

}  // namespace berth::model
