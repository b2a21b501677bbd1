// The errors that the core and its edges return, one named constructor each: their wording lives
// here and nowhere else. What AWS calls them and which HTTP status they get is in api/errors.cc.
//
// Texts quoted from ECS stay to the letter: clients and agents match on them (ecs-api.md 4.3, 17).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "model/ids.h"

namespace berth::model {

enum class ErrorKind {
  kInvalidParameter,  // a bad argument value or combination
  kClient,            // what a definition says, and the caller's fault in general
  kClusterNotFound,
  kAccessDenied,
  kResourceNotFound,    // tags and protection
  kTargetNotFound,      // what an attribute was to be put on
  kTargetNotConnected,  // ExecuteCommand
  kAttributeLimitExceeded,
  kClusterContainsServices,  // DeleteCluster
  kClusterContainsInstances,
  kClusterContainsTasks,
  kConflict,     // a client token used again with other parameters; has resource ids
  kUnsupported,  // a feature this installation does not offer
  kThrottled,
  kUnavailable,  // the store fails, a queue is full: the same call may work later
  kInternal,
};

// An error of the given kind. Prefer a named constructor below where the wording is used twice.
absl::Status MakeError(ErrorKind kind, std::string_view message);
absl::Status InvalidParameter(std::string_view message);
absl::Status ClientError(std::string_view message);
absl::Status Unsupported(std::string_view message);
absl::Status Unavailable(std::string_view message);

absl::Status ClusterNotFound();
absl::Status ClusterInactive();
absl::Status TaskDefinitionNotFound();      // a reference from RunTask and its like
absl::Status UnableToDescribeDefinition();  // DescribeTaskDefinition
absl::Status TaskDefinitionInactive();
absl::Status TaskNotFound();
absl::Status InstanceNotFound(std::string_view what);
absl::Status NoContainerInstances();
// Of an agent's key: another key registered it. With what would help.
absl::Status NotItsInstance(std::string_view what, std::string_view way_out);
absl::Status TokenConflict(std::vector<TaskId> tasks);

// What MakeError put in. A status that none of these made is kInternal.
ErrorKind KindOf(const absl::Status& status);
std::vector<TaskId> ConflictingTasks(const absl::Status& status);

}  // namespace berth::model
