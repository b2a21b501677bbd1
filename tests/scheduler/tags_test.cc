// TagResource, UntagResource, ListTagsForResource.
#include "absl/strings/str_format.h"
#include "tests/scheduler/world.h"

namespace berth::scheduler {
namespace {

using model::ErrorKind;
using model::Tags;

// A cluster with one of everything that can carry tags.
struct Tagged {
  Tagged() {
    instance = world.Register({});
    definition = world.Define(Spec());
    task = world.Run(definition)->id;
    resources = {model::ClusterName{"default"}, definition->id,
                 InstanceKey{.cluster = {"default"}, .id = instance},
                 TaskInCluster{.cluster = {"default"}, .id = task}};
  }

  Tags Of(const TaggedResource& resource) {
    return world.Ok(ListTagsForResource{.resource = resource}).tags;
  }

  World world;
  model::InstanceId instance;
  DefinitionRecord definition;
  model::TaskId task;
  std::vector<TaggedResource> resources;
};

Tags Many(int count) {
  Tags tags;
  for (int i = 0; i < count; ++i) tags.push_back({.key = absl::StrFormat("k%d", i)});
  return tags;
}

}  // namespace

TEST_CASE("tags are added, replaced and removed on every kind of resource, and kept") {
  Tagged given;
  for (const TaggedResource& resource : given.resources) {
    INFO(resource.index());
    CHECK(given.Of(resource).empty());

    given.world.Ok(TagResource{.resource = resource,
                               .tags = {{.key = "a", .value = "1"}, {.key = "b", .value = "2"}}});
    given.world.Ok(TagResource{.resource = resource,
                               .tags = {{.key = "c", .value = "3"}, {.key = "a", .value = "9"}}});
    CHECK(given.Of(resource) ==
          Tags{{.key = "a", .value = "9"}, {.key = "b", .value = "2"}, {.key = "c", .value = "3"}});

    given.world.Ok(UntagResource{.resource = resource, .keys = {"b", "absent", "A"}});
    given.world.Restart();
    CHECK(given.Of(resource) == Tags{{.key = "a", .value = "9"}, {.key = "c", .value = "3"}});
  }
}

TEST_CASE("tagging with what is there, and untagging what is not, writes nothing") {
  Tagged given;
  for (const TaggedResource& resource : given.resources) {
    const TagResource tag{.resource = resource, .tags = {{.key = "a", .value = "1"}}};
    given.world.Ok(tag);
    const size_t changes = given.world.changes.size();

    given.world.Ok(tag);
    given.world.Ok(UntagResource{.resource = resource, .keys = {"b"}});

    CHECK(given.world.changes.size() == changes);
    CHECK(given.world.Do(ListTagsForResource{.resource = resource}).saw_change > 0);
  }
}

TEST_CASE("a resource has at most fifty tags, and one too many adds none of the call's") {
  Tagged given;
  for (const TaggedResource& resource : given.resources) {
    given.world.Ok(TagResource{.resource = resource, .tags = Many(49)});
    TagResource two{.resource = resource, .tags = {{.key = "x"}, {.key = "y"}}};
    CHECK(given.world.Refusal(two) == "the resource would have 51 tags; at most 50 are allowed");
    CHECK(given.Of(resource) == Many(49));

    given.world.Ok(TagResource{.resource = resource, .tags = {{.key = "x"}}});
    given.world.Ok(TagResource{.resource = resource, .tags = {{.key = "x", .value = "new"}}});
    CHECK(given.Of(resource).size() == 50);
  }
}

TEST_CASE("the tags that ECS itself gives a task do not count") {
  World world;
  world.Register({});
  RunTask run = world.Running(world.Define(Spec()));
  run.enable_managed_tags = true;
  const TaskInCluster task{.cluster = {"default"}, .id = world.Ok(run).tasks.at(0)->id};

  world.Ok(TagResource{.resource = task, .tags = Many(50)});

  CHECK(world.Ok(ListTagsForResource{.resource = task}).tags.size() == 51);
  CHECK(world.Refusal(TagResource{.resource = task, .tags = {{.key = "x"}}}) ==
        "the resource would have 51 tags; at most 50 are allowed");
}

TEST_CASE("what has ended takes no tags, and shows those that it has left") {
  Tagged given;
  World& world = given.world;
  for (const TaggedResource& resource : given.resources) {
    world.Ok(TagResource{.resource = resource, .tags = {{.key = "a", .value = "1"}}});
  }
  const auto refusal = [&](const TaggedResource& resource) {
    const std::string untag = world.Refusal(UntagResource{.resource = resource, .keys = {"a"}});
    CHECK(world.Refusal(TagResource{.resource = resource, .tags = {{.key = "b"}}}) == untag);
    return untag;
  };

  world.Ok(StopTask{.cluster = {"default"}, .task = given.task});
  CHECK(refusal(given.resources[3]) ==
        "The specified task is stopped. Specify a running task and try again.");
  CHECK(given.Of(given.resources[3]).empty());
  world.Ok(
      DeregisterContainerInstance{.cluster = {"default"}, .id = given.instance, .force = true});
  CHECK(refusal(given.resources[2]) ==
        "The specified container instance is inactive. Specify an active container instance and "
        "try again.");
  world.Ok(DeleteCluster{.name = {"default"}});
  CHECK(refusal(given.resources[0]) ==
        "The specified cluster is inactive. Specify an active cluster and try again.");
  CHECK(given.Of(given.resources[0]).empty());
}

TEST_CASE("what is not there has no tags") {
  World world;
  const std::vector<std::pair<TaggedResource, std::string>> missing = {
      {model::DefinitionId{"web", 7}, "The specified resource is not there: task definition web:7"},
      {InstanceKey{.cluster = {"default"}, .id = {"feed"}},
       "The specified resource is not there: container instance feed"},
      {TaskInCluster{.cluster = {"default"}, .id = {"beef"}},
       "The specified resource is not there: task beef"}};
  for (const auto& [resource, text] : missing) {
    CHECK(world.Refusal(TagResource{.resource = resource}, ErrorKind::kResourceNotFound) == text);
    CHECK(world.Refusal(UntagResource{.resource = resource}, ErrorKind::kResourceNotFound) == text);
    CHECK(world.Refusal(ListTagsForResource{.resource = resource}, ErrorKind::kResourceNotFound) ==
          text);
  }
  for (const TaggedResource& resource :
       {TaggedResource(model::ClusterName{"ghost"}), TaggedResource(InstanceKey{{"ghost"}, {"1"}}),
        TaggedResource(TaskInCluster{{"ghost"}, {"1"}})}) {
    CHECK(world.Refusal(TagResource{.resource = resource}, ErrorKind::kClusterNotFound) ==
          "Cluster not found.");
    CHECK(world.Refusal(ListTagsForResource{.resource = resource}, ErrorKind::kClusterNotFound) ==
          "Cluster not found.");
  }
}

}  // namespace berth::scheduler
