#include "tests/scheduler/world.h"

namespace berth::scheduler {

using model::ErrorKind;
using model::TaskStatus;

TEST_CASE("a cluster is ACTIVE at once, with nothing in it") {
  World world;

  const ClusterSnapshot cluster = world.Ok(CreateCluster{
      .name = {"gpu"}, .document = R"({"a":1})", .tags = {{.key = "team", .value = "ml"}}});

  CHECK(cluster.record->status == model::ClusterStatus::kActive);
  CHECK(cluster.record->document == R"({"a":1})");
  CHECK(cluster.record->created_at == kStart);
  CHECK(cluster.registered_instances == 0);
  CHECK(cluster.running_tasks + cluster.pending_tasks == 0);
}

TEST_CASE("creating a cluster again returns the one that is there, and changes nothing") {
  World world;
  const CreateCluster command{
      .name = {"gpu"}, .document = R"({"a":1})", .tags = {{.key = "team", .value = "ml"}}};
  const ClusterSnapshot first = world.Ok(command);
  const size_t changes = world.changes.size();

  CHECK(world.Ok(command).record == first.record);
  CHECK(world.Ok(CreateCluster{.name = {"gpu"}}).record == first.record);
  CHECK(world.changes.size() == changes);
}

TEST_CASE("creating a cluster again with other arguments is refused") {
  World world;
  world.Ok(CreateCluster{.name = {"gpu"}, .document = R"({"a":1})"});
  const std::string text =
      "Arguments on this idempotent request are inconsistent with arguments used in previous "
      "request(s).";

  CHECK(world.Refusal(CreateCluster{.name = {"gpu"}, .document = R"({"a":2})"}) == text);
  CHECK(world.Refusal(CreateCluster{
            .name = {"gpu"}, .document = R"({"a":1})", .tags = {{.key = "x", .value = "y"}}}) ==
        text);
}

TEST_CASE("a name whose old cluster is INACTIVE gives a new one, and nothing of the old shows") {
  World world;
  const model::InstanceId id = world.Register({});
  RunTask command = world.Running(world.Define(Spec()));
  command.client_token = "t";
  const RunTask::Reply run = world.Ok(command);
  world.Ok(DeregisterContainerInstance{.cluster = {"default"}, .id = id, .force = true});
  world.Ok(DeleteCluster{.name = {"default"}});

  // It is described, and to what would add to it it is not there.
  CHECK(world.Cluster().record->status == model::ClusterStatus::kInactive);
  CHECK(world.Ok(ListClusters{.limit = 10}).names.empty());
  CHECK(world.Ok(DescribeTasks{.cluster = {"default"}, .ids = {run.tasks[0]->id}}).tasks.size() ==
        1);
  CHECK(world.Refusal(command, ErrorKind::kClusterNotFound) == "Cluster not found.");
  CHECK(world.Refusal(World::Registration({}), ErrorKind::kClusterNotFound) ==
        "Cluster not found.");

  world.now += absl::Minutes(1);
  const ClusterSnapshot fresh = world.Ok(CreateCluster{.name = {"default"}});

  CHECK(fresh.record->status == model::ClusterStatus::kActive);
  CHECK(fresh.record->created_at == world.now);
  CHECK(world.Ok(DescribeTasks{.cluster = {"default"}, .ids = {run.tasks[0]->id}}).missing.size() ==
        1);
  CHECK(world.store.tasks.empty());
  CHECK(world.store.instances.empty());
  CHECK(world.store.tokens.empty());
  CHECK(world.store.clusters.size() == 1);
}

TEST_CASE("describing clusters keeps the order asked for, drops repeats and names the missing") {
  World world;
  world.Ok(CreateCluster{.name = {"b"}});

  const auto reply = world.Ok(DescribeClusters{.names = {{"b"}, {"x"}, {"default"}, {"b"}, {"x"}}});

  REQUIRE(reply.clusters.size() == 2);
  CHECK(reply.clusters[0].record->name.value == "b");
  CHECK(reply.clusters[1].record->name.value == "default");
  CHECK(reply.missing == std::vector<model::ClusterName>{{"x"}});
}

TEST_CASE("describing no cluster describes the default one, and its absence is no failure") {
  World world;
  CHECK(world.Ok(DescribeClusters{}).clusters.size() == 1);

  world.state = State();
  const auto reply = world.Ok(DescribeClusters{});
  CHECK(reply.clusters.empty());
  CHECK(reply.missing.empty());
}

TEST_CASE("100 clusters can be described at once, not 101") {
  World world;
  CHECK(world.Ok(DescribeClusters{.names = std::vector<model::ClusterName>(100, {"default"})})
            .clusters.size() == 1);
  CHECK(
      world.Refusal(DescribeClusters{.names = std::vector<model::ClusterName>(101, {"default"})}) ==
      "clusters can have at most 100 items.");
}

TEST_CASE("clusters are listed by name, page by page") {
  World world;
  for (const char* name : {"c", "a", "b"}) world.Ok(CreateCluster{.name = {name}});

  const auto first = world.Ok(ListClusters{.limit = 2});
  CHECK(first.names == std::vector<model::ClusterName>{{"a"}, {"b"}});
  CHECK(first.more);
  const auto second = world.Ok(ListClusters{.after = "b", .limit = 2});
  CHECK(second.names == std::vector<model::ClusterName>{{"c"}, {"default"}});
  CHECK_FALSE(second.more);
}

TEST_CASE("a cluster counts its tasks by last status and by launch type") {
  World world;
  world.Register({});
  world.Register({.attributes = {{.name = model::kExternalCapability}}});
  model::TaskSpec spec = Spec();
  spec.network_mode = model::NetworkMode::kHost;  // which all three support
  const DefinitionRecord definition = world.Define(spec);
  const auto run = [&](model::LaunchType type) {
    RunTask command = world.Running(definition);
    command.launch_type = type;
    return world.Ok(command).tasks.at(0);
  };
  const model::TaskRecord ec2 = run(model::LaunchType::kEc2);
  const model::TaskRecord managed = run(model::LaunchType::kManagedInstances);
  const model::TaskRecord external = run(model::LaunchType::kExternal);
  CHECK(external->instance != ec2->instance);
  world.Report(managed, TaskStatus::kRunning);
  world.Report(external, TaskStatus::kRunning);

  const ClusterSnapshot cluster = world.Cluster();
  CHECK(cluster.registered_instances == 2);
  CHECK(cluster.running_tasks == 2);
  CHECK(cluster.pending_tasks == 1);
  CHECK(cluster.ec2.running == 1);
  CHECK(cluster.ec2.pending == 1);
  CHECK(cluster.external.running == 1);
  CHECK(cluster.external.pending == 0);

  world.Stop(managed);
  CHECK(world.Cluster().running_tasks == 1);
}

TEST_CASE("a deleted cluster is INACTIVE, described without tags, and not listed") {
  World world;
  world.Ok(CreateCluster{.name = {"gpu"}, .tags = {{.key = "team", .value = "ml"}}});
  world.now += absl::Minutes(1);

  const ClusterSnapshot deleted = world.Ok(DeleteCluster{.name = {"gpu"}});

  CHECK(deleted.record->status == model::ClusterStatus::kInactive);
  CHECK(deleted.record->deleted_at == world.now);
  CHECK(deleted.record->tags.empty());
  CHECK(world.Cluster("gpu").record == deleted.record);
  CHECK(world.Ok(ListClusters{.limit = 9}).names == std::vector<model::ClusterName>{{"default"}});
  world.Restart();
  CHECK(world.Cluster("gpu").record->status == model::ClusterStatus::kInactive);
}

TEST_CASE("a cluster deleted twice is as after the first time") {
  World world;
  const ClusterSnapshot deleted = world.Ok(DeleteCluster{.name = {"default"}});
  const size_t changes = world.changes.size();
  world.now += absl::Minutes(1);

  CHECK(world.Ok(DeleteCluster{.name = {"default"}}).record == deleted.record);

  CHECK(world.changes.size() == changes);
  CHECK(world.Refusal(DeleteCluster{.name = {"ghost"}}, ErrorKind::kClusterNotFound) ==
        "Cluster not found.");
}

TEST_CASE("a cluster is not deleted while instances or tasks are in it") {
  World world;
  const model::InstanceId id = world.Register({});
  const DeleteCluster command{.name = {"default"}};
  const std::string text =
      "The Cluster cannot be deleted while Container Instances are active or draining.";
  CHECK(world.Refusal(command, ErrorKind::kClusterContainsInstances) == text);

  const model::TaskRecord task = world.Run(Spec());
  CHECK(world.Refusal(command, ErrorKind::kClusterContainsInstances) == text);
  world.Ok(StopTask{.cluster = {"default"}, .task = task->id});
  CHECK(world.Refusal(command, ErrorKind::kClusterContainsInstances) == text);
  world.Report(task, TaskStatus::kStopped);
  world.Ok(DeregisterContainerInstance{.cluster = {"default"}, .id = id});

  CHECK(world.Ok(command).record->status == model::ClusterStatus::kInactive);
  CHECK(world.Task(task->id)->last_status == TaskStatus::kStopped);
}

TEST_CASE("a cluster's document is replaced if it is still the one that was read") {
  World world;
  world.Ok(CreateCluster{.name = {"gpu"}, .document = "old"});
  const UpdateCluster update{.name = {"gpu"}, .expected_document = "old", .document = "new"};

  CHECK(world.Ok(update)->record->document == "new");
  CHECK(world.Ok(update) == std::nullopt);  // it lost the race against itself
  CHECK(world.Cluster("gpu").record->document == "new");
  const size_t changes = world.changes.size();
  CHECK(world.Ok(UpdateCluster{.name = {"gpu"}, .expected_document = "new", .document = "new"})
            .has_value());
  CHECK(world.changes.size() == changes);

  world.Ok(DeleteCluster{.name = {"gpu"}});
  CHECK(world.Refusal(update, ErrorKind::kClusterNotFound) == "Cluster not found.");
  CHECK(world.Refusal(UpdateCluster{.name = {"ghost"}}, ErrorKind::kClusterNotFound) ==
        "Cluster not found.");
}

TEST_CASE("that a cluster is not there is told when its deletion is durable") {
  World world;
  world.Ok(CreateCluster{.name = {"gpu"}});
  world.Ok(DeleteCluster{.name = {"gpu"}});
  const uint64_t deleted = world.state.change_number();
  world.Ok(CreateCluster{.name = {"later"}});
  RegisterContainerInstance registration = World::Registration({});
  registration.cluster = {"gpu"};

  CHECK(world.Do(registration).saw_change == deleted);
  CHECK(world.Do(UpdateCluster{.name = {"gpu"}}).saw_change == deleted);
  CHECK(world.Do(ListClusters{.limit = 9}).saw_change == deleted + 1);
  world.now += absl::Hours(24);
  world.Ok(Tick{});
  CHECK(world.Do(DescribeClusters{.names = {{"gpu"}}}).saw_change == world.state.change_number());
}

TEST_CASE("without settings, a cluster is the same under another default of the account") {
  World world;
  const CreateCluster enabled{
      .name = {"gpu"}, .document = "enabled", .alike = {"{}", "enabled", "enhanced"}};
  const ClusterSnapshot first = world.Ok(enabled);
  CHECK(first.record->document == "enabled");
  CreateCluster later = enabled;
  later.document = "{}";
  CHECK(world.Ok(later).record == first.record);

  later.document = "another";
  later.alike = {"another", "another enabled"};
  CHECK(world.Do(later).reply.status().code() == absl::StatusCode::kInvalidArgument);
  CHECK_FALSE(world.Do(CreateCluster{.name = {"gpu"}, .has_settings = true}).reply.ok());
}

}  // namespace berth::scheduler
