#include "model/errors.h"

#include <catch2/catch.hpp>

namespace berth::model {
namespace {

struct Case {
  absl::Status status;
  ErrorKind kind;
  std::string message;
};

TEST_CASE("an error keeps its kind, and ECS's texts are to the letter", "[errors]") {
  const std::vector<Case> cases = {
      {InvalidParameter("a"), ErrorKind::kInvalidParameter, "a"},
      {ClientError("b"), ErrorKind::kClient, "b"},
      {Unsupported("c"), ErrorKind::kUnsupported, "c"},
      {Unavailable("d"), ErrorKind::kUnavailable, "d"},
      {MakeError(ErrorKind::kThrottled, "e"), ErrorKind::kThrottled, "e"},
      {MakeError(ErrorKind::kInternal, "f"), ErrorKind::kInternal, "f"},
      {ClusterNotFound(), ErrorKind::kClusterNotFound, "Cluster not found."},
      {ClusterInactive(), ErrorKind::kClusterNotFound, "Cluster not found."},
      {TaskDefinitionNotFound(), ErrorKind::kClient, "TaskDefinition not found."},
      {UnableToDescribeDefinition(), ErrorKind::kClient, "Unable to describe task definition."},
      {TaskDefinitionInactive(), ErrorKind::kInvalidParameter, "TaskDefinition is inactive"},
      {TaskNotFound(), ErrorKind::kInvalidParameter, "The referenced task was not found."},
      {InstanceNotFound("3f2a"), ErrorKind::kInvalidParameter,
       "Referenced container instance 3f2a not found."},
      {NoContainerInstances(), ErrorKind::kInvalidParameter,
       "No Container Instances were found in your cluster."},
  };
  for (const Case& c : cases) {
    INFO(c.message);
    CHECK_FALSE(c.status.ok());
    CHECK(KindOf(c.status) == c.kind);
    CHECK(std::string(c.status.message()) == c.message);
  }
}

TEST_CASE("a status that is none of ours is an internal error", "[errors]") {
  CHECK(KindOf(absl::InvalidArgumentError("from a library")) == ErrorKind::kInternal);
  CHECK(KindOf(absl::OkStatus()) == ErrorKind::kInternal);
}

TEST_CASE("a token conflict carries the tasks that the token stands for", "[errors]") {
  CHECK(KindOf(TokenConflict({})) == ErrorKind::kConflict);
  CHECK(ConflictingTasks(TokenConflict({})).empty());
  CHECK(ConflictingTasks(TokenConflict({TaskId{"a"}})) == std::vector{TaskId{"a"}});
  CHECK(ConflictingTasks(TokenConflict({TaskId{"b"}, TaskId{"a"}})) ==
        std::vector{TaskId{"b"}, TaskId{"a"}});
  CHECK(ConflictingTasks(ClusterNotFound()).empty());
}

}  // namespace
}  // namespace berth::model
