#include "tests/scheduler/world.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/capabilities.h"

namespace berth::scheduler {
namespace {

using model::TaskStatus;

template <class... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};
template <class... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;

std::string Seconds(absl::Time time) {
  return time == absl::InfinitePast() ? "-" : absl::StrFormat("%d", absl::ToUnixMillis(time));
}

std::string Text(const model::Tags& tags) {
  return absl::StrJoin(tags, ",", [](std::string* out, const model::Tag& tag) {
    *out += tag.key + "=" + tag.value;
  });
}

std::string Text(const model::Task& task) {
  std::string text = absl::StrFormat(
      "task %s #%d %s on %s %s:%d %s/%s code=%s reason=%s v%d %s group=%s by=%s token=%s tags=%s "
      "az=%s arch=%s connected=%d times=%s,%s,%s,%s,%s,%s,%s,%s",
      task.id.value, task.sequence, task.cluster.value, task.instance.value,
      task.definition->id.family, task.definition->id.revision,
      std::string(model::ToString(task.last_status)),
      std::string(model::ToString(task.desired_status)),
      std::string(model::ToString(task.stop_code)), task.stopped_reason, task.version,
      std::string(model::ToString(task.launch_type)), task.group, task.started_by,
      task.client_token, Text(task.tags), task.availability_zone, task.cpu_architecture,
      task.connectivity ? 1 : 0, Seconds(task.created_at), Seconds(task.connectivity_at),
      Seconds(task.pull_started_at), Seconds(task.pull_stopped_at), Seconds(task.started_at),
      Seconds(task.stopping_at), Seconds(task.execution_stopped_at), Seconds(task.stopped_at));
  for (const model::TaskContainer& container : task.containers) {
    text += absl::StrFormat(
        " [%s %s %s exit=%s %s %s gpus=%s bindings=%d]", container.name, container.uuid,
        std::string(model::ToString(container.last_status)),
        container.exit_code ? absl::StrFormat("%d", *container.exit_code) : "-", container.reason,
        container.runtime_id,
        absl::StrJoin(container.gpu_ids, ",",
                      [](std::string* out, const model::GpuId& id) { *out += id.value; }),
        container.network_bindings.size());
  }
  return text;
}

std::string Text(const model::ContainerInstance& instance) {
  return absl::StrFormat(
      "instance %s #%d %s %s v%d cpu=%d memory=%d gpus=%d attributes=%d reason=%s token=%s at=%s "
      "%s agent=%s tags=%s",
      instance.id.value, instance.sequence, instance.ec2_instance_id,
      std::string(model::ToString(instance.status)), instance.version, instance.resources.cpu_units,
      instance.resources.memory_mib, instance.resources.gpus.size(), instance.attributes.size(),
      instance.status_reason, instance.registration_token, Seconds(instance.registered_at),
      Seconds(instance.deregistered_at), instance.version_info.agent_version, Text(instance.tags));
}

std::string Text(const InstanceSnapshot& snapshot) {
  std::string text = absl::StrFormat(
      "%s left=%d,%d ports=%s connected=%d counts=%d,%d", Text(*snapshot.record),
      snapshot.state.remaining_cpu_units, snapshot.state.remaining_memory_mib,
      absl::StrJoin(snapshot.state.tcp_ports_in_use, ","), snapshot.agent_connected ? 1 : 0,
      snapshot.running_tasks, snapshot.pending_tasks);
  for (const placement::GpuState& gpu : snapshot.state.gpus) {
    text +=
        absl::StrFormat(" [%s %s %d/%d n=%d]", gpu.id.value, std::string(model::ToString(gpu.use)),
                        gpu.remaining_memory_mib, gpu.total_memory_mib, gpu.containers);
  }
  return text;
}

std::string Text(const model::TaskDefinition& definition) {
  return absl::StrFormat("definition %s:%d #%d %s times=%s,%s,%s tags=%s", definition.id.family,
                         definition.id.revision, definition.sequence,
                         std::string(model::ToString(definition.status)),
                         Seconds(definition.registered_at), Seconds(definition.deregistered_at),
                         Seconds(definition.delete_requested_at), Text(definition.tags));
}

std::string Text(const model::Cluster& cluster) {
  return absl::StrFormat("cluster %s #%d %s %s tags=%s deleted=%s", cluster.name.value,
                         cluster.sequence, std::string(model::ToString(cluster.status)),
                         cluster.document, Text(cluster.tags), Seconds(cluster.deleted_at));
}

}  // namespace

// --- the store ----------------------------------------------------------------------------------

void FakeStore::Apply(const model::Change& change) {
  std::visit(
      Overloaded{
          [&](const model::PutCluster& put) { clusters[put.record->sequence] = put.record; },
          [&](const model::DeleteCluster& gone) {
            CHECK(HoldsNothing(gone.sequence));
            CHECK(clusters.erase(gone.sequence) == 1);
          },
          [&](const model::PutFamily& put) {
            families[put.record.name] = put.record.last_revision;
          },
          [&](const model::PutTaskDefinition& put) {
            definitions[put.record->sequence] = put.record;
          },
          [&](const model::DeleteTaskDefinition& gone) {
            CHECK(definitions.erase(gone.sequence) == 1);
          },
          [&](const model::PutInstance& put) { instances[put.record->sequence] = put.record; },
          [&](const model::DeleteInstance& gone) { CHECK(instances.erase(gone.sequence) == 1); },
          [&](const model::PutTask& put) { tasks[put.record->sequence] = put.record; },
          [&](const model::DeleteTask& gone) { CHECK(tasks.erase(gone.sequence) == 1); },
          [&](const model::PutClientToken& put) {
            tokens[{put.record.cluster.value, put.record.token}] = put.record;
          },
          [&](const model::DeleteClientToken& gone) {
            CHECK(tokens.erase({gone.cluster.value, gone.token}) == 1);
          },
          [&](const model::PutAccountSetting& put) {
            settings[{put.record.principal_arn, put.record.name}] = put.record;
          },
          [&](const model::DeleteAccountSetting& gone) {
            CHECK(settings.erase({gone.principal_arn, gone.name}) == 1);
          },
          [&](const model::PutAccessKey& put) { access_keys[put.record->sequence] = put.record; },
      },
      change);
}

bool FakeStore::HoldsNothing(int64_t cluster_sequence) const {
  const model::ClusterName& name = clusters.at(cluster_sequence)->name;
  const auto of_it = [&name](const auto& entry) { return entry.second->cluster == name; };
  return std::none_of(instances.begin(), instances.end(), of_it) &&
         std::none_of(tasks.begin(), tasks.end(), of_it) &&
         std::none_of(tokens.begin(), tokens.end(),
                      [&name](const auto& entry) { return entry.second.cluster == name; });
}

model::Records FakeStore::Load() const {
  model::Records records;
  for (const auto& [sequence, record] : clusters) {
    records.clusters.push_back(std::make_shared<model::Cluster>(*record));
  }
  for (const auto& [name, revision] : families) {
    records.families.push_back({.name = name, .last_revision = revision});
  }
  std::map<int64_t, std::shared_ptr<model::TaskDefinition>> loaded;
  for (const auto& [sequence, record] : definitions) {
    auto copy = std::make_shared<model::TaskDefinition>(*record);
    loaded[sequence] = copy;
    records.definitions.push_back(std::move(copy));
  }
  for (const auto& [sequence, record] : instances) {
    records.instances.push_back(std::make_shared<model::ContainerInstance>(*record));
  }
  // Last first: a State may not depend on the order of the rows.
  for (auto entry = tasks.rbegin(); entry != tasks.rend(); ++entry) {
    auto copy = std::make_shared<model::Task>(*entry->second);
    copy->definition = loaded.at(copy->definition->sequence);
    copy->spec = copy->definition->spec;
    if (copy->overrides != nullptr) {
      auto merged = model::MergeOverrides(*copy->spec, *copy->overrides);
      REQUIRE(merged.ok());
      copy->spec = *merged;
    }
    records.tasks.push_back(std::move(copy));
  }
  for (const auto& [key, token] : tokens) records.client_tokens.push_back(token);
  for (const auto& [key, setting] : settings) records.account_settings.push_back(setting);
  for (auto entry = access_keys.rbegin(); entry != access_keys.rend(); ++entry) {
    records.access_keys.push_back(std::make_shared<model::AccessKey>(*entry->second));
  }
  return records;
}

std::string CountingIds::NewHex32() { return absl::StrFormat("%032x", next_++); }
std::string CountingIds::NewUuid() {
  return absl::StrFormat("00000000-0000-4000-8000-%012x", next_++);
}

// --- values -------------------------------------------------------------------------------------

model::ContainerDefinition Container(const std::string& name, int64_t memory_mib) {
  return {.name = name, .image = "busybox:1.36", .memory_mib = memory_mib};
}

model::ResourceRequirement Mps(int64_t memory_mib, std::optional<int64_t> percent) {
  return {.type = "GPU",
          .sharing_strategy = model::ResourceRequirement::SharingStrategy{
              .has_nvidia_mps = true, .memory_mib = memory_mib, .max_compute_percent = percent}};
}

model::ResourceRequirement Whole(const std::string& value) {
  return {.type = "GPU", .value = value};
}

model::ContainerDefinition WithGpu(const std::string& name,
                                   model::ResourceRequirement requirement) {
  model::ContainerDefinition container = Container(name);
  container.resource_requirements = {std::move(requirement)};
  return container;
}

model::TaskSpec GpuSpec(const std::vector<model::ResourceRequirement>& requirements) {
  std::vector<model::ContainerDefinition> containers;
  for (size_t i = 0; i < requirements.size(); ++i) {
    containers.push_back(WithGpu(absl::StrFormat("c%d", i), requirements[i]));
  }
  return Spec(std::move(containers));
}

model::TaskSpec Spec(std::vector<model::ContainerDefinition> containers) {
  return {.family = "web", .containers = std::move(containers)};
}

std::vector<model::Gpu> Gpus(int count, int64_t memory_mib) {
  std::vector<model::Gpu> gpus;
  for (int i = 0; i < count; ++i) {
    gpus.push_back({.id = {absl::StrFormat("GPU-%d", i)}, .memory_mib = memory_mib});
  }
  return gpus;
}

// --- the world ----------------------------------------------------------------------------------

World::World(Retention keep, placement::ClusterGpuPolicy policy)
    : retention(keep), gpu_policy(policy), state(keep, policy) {
  Ok(CreateCluster{.name = {"default"}});
}

DefinitionRecord World::Define(const model::TaskSpec& spec) {
  INFO(model::ValidateTaskSpec(spec).ToString());
  REQUIRE(model::ValidateTaskSpec(spec).ok());
  return Ok(RegisterTaskDefinition{.family = spec.family,
                                   .document = std::make_shared<const std::string>("{}"),
                                   .spec = std::make_shared<const model::TaskSpec>(spec)});
}

RegisterContainerInstance World::Registration(const Machine& machine) {
  RegisterContainerInstance command{.cluster = {"default"},
                                    .existing = machine.existing,
                                    .client_token = machine.client_token,
                                    .ec2_instance_id = machine.ec2_instance_id,
                                    .resources = {.cpu_units = machine.cpu_units,
                                                  .memory_mib = machine.memory_mib,
                                                  .reserved_tcp_ports = machine.tcp_ports,
                                                  .gpus = machine.gpus,
                                                  .mps_clients_max = machine.mps_clients_max},
                                    .attributes = machine.attributes,
                                    .emulated = machine.emulated};
  for (std::string& name : model::AllCapabilities()) {
    if (name == model::kGpuSharingCapability && !machine.shares_gpus) continue;
    command.attributes.push_back({.name = std::move(name)});
  }
  command.attributes.push_back({.name = "ecs.availability-zone", .value = "rack-7"});
  command.attributes.push_back({.name = "ecs.cpu-architecture", .value = "x86_64"});
  command.attributes.push_back({.name = "ecs.os-type", .value = "linux"});
  return command;
}

model::InstanceId World::Register(const Machine& machine) {
  return Ok(Registration(machine)).record->id;
}

RunTask World::Running(const DefinitionRecord& definition, int64_t count) const {
  return {.cluster = {"default"},
          .definition = {.family = definition->id.family, .revision = definition->id.revision},
          .count = count};
}

model::TaskRecord World::Run(const model::TaskSpec& spec) { return Run(Define(spec)); }

model::TaskRecord World::Run(const DefinitionRecord& definition) {
  const RunTask::Reply reply = Ok(Running(definition));
  INFO((reply.failures.empty() ? "" : reply.failures[0].reason + ": " + reply.failures[0].detail));
  REQUIRE(reply.tasks.size() == 1);
  return reply.tasks[0];
}

void World::Stop(const model::TaskRecord& task) {
  Ok(StopTask{.cluster = task->cluster, .task = task->id});
  Report(task, TaskStatus::kStopped);
}

void World::Report(const model::TaskRecord& task, TaskStatus status) {
  Ok(ReportTask{.cluster = task->cluster, .task = task->id, .status = status});
}

void World::Connect(const model::InstanceId& id) {
  Ok(ConnectAgent{.cluster = {"default"}, .instance = id});
}

model::TaskRecord World::Task(const model::TaskId& id) {
  const DescribeTasks::Reply reply = Ok(DescribeTasks{.cluster = {"default"}, .ids = {id}});
  REQUIRE(reply.tasks.size() == 1);
  return reply.tasks[0];
}

InstanceSnapshot World::Instance(const model::InstanceId& id) {
  const auto reply = Ok(DescribeContainerInstances{.cluster = {"default"}, .ids = {id}});
  REQUIRE(reply.instances.size() == 1);
  return reply.instances[0];
}

ClusterSnapshot World::Cluster(const std::string& name) {
  const auto reply = Ok(DescribeClusters{.names = {{name}}});
  REQUIRE(reply.clusters.size() == 1);
  return reply.clusters[0];
}

void World::Restart() {
  state = State(retention, gpu_policy);
  const absl::Status status = state.Load(store.Load());
  INFO(status.ToString());
  REQUIRE(status.ok());
  CHECK(state.FindViolations() == std::vector<std::string>{});
}

std::string Portrait(World& world) {
  std::string portrait;
  const auto add = [&portrait](const std::string& line) { portrait += line + "\n"; };
  const auto ask = [&world]<class Command>(const Command& command) {
    auto outcome = Decide(world.state, command, Context{.now = world.now, .ids = world.ids});
    REQUIRE(outcome.reply.ok());
    return *std::move(outcome.reply);
  };
  constexpr int64_t kAll = 1'000'000;
  for (const model::ClusterName& name : ask(ListClusters{.limit = kAll}).names) {
    add("listed " + name.value);
  }
  std::set<model::ClusterName> clusters;  // INACTIVE ones too
  for (const auto& [sequence, record] : world.store.clusters) clusters.insert(record->name);
  for (const model::ClusterName& name : clusters) {
    const ClusterSnapshot cluster = ask(DescribeClusters{.names = {name}}).clusters.at(0);
    add(absl::StrFormat("%s registered=%d running=%d pending=%d", Text(*cluster.record),
                        cluster.registered_instances, cluster.running_tasks,
                        cluster.pending_tasks));
    const auto instances = ask(ListContainerInstances{.cluster = name, .limit = kAll});
    for (const model::InstanceId& id : instances.ids) {
      const auto shown = ask(DescribeContainerInstances{.cluster = name, .ids = {id}});
      add(Text(shown.instances.at(0)));
    }
    for (const auto desired : {model::DesiredStatus::kRunning, model::DesiredStatus::kStopped}) {
      const auto tasks = ask(ListTasks{.cluster = name, .desired_status = desired, .limit = kAll});
      for (const model::TaskId& id : tasks.ids) {
        add(Text(*ask(DescribeTasks{.cluster = name, .ids = {id}}).tasks.at(0)));
      }
    }
  }
  for (const auto status : {model::DefinitionStatus::kActive, model::DefinitionStatus::kInactive,
                            model::DefinitionStatus::kDeleteInProgress}) {
    for (const auto& id : ask(ListTaskDefinitions{.status = status, .limit = kAll}).ids) {
      add(Text(*ask(
          DescribeTaskDefinition{.definition = {.family = id.family, .revision = id.revision}})));
    }
  }
  using Filter = ListTaskDefinitionFamilies::Filter;
  for (const Filter filter : {Filter::kAll, Filter::kActive, Filter::kInactive}) {
    const auto families = ask(ListTaskDefinitionFamilies{.filter = filter, .limit = kAll});
    add("families " + absl::StrJoin(families.families, ","));
  }
  std::set<std::string> principals;
  for (const auto& [key, setting] : world.store.settings) principals.insert(key.first);
  const auto settings =
      ask(ListAccountSettings{.principal_arns = {principals.begin(), principals.end()}});
  for (const model::AccountSetting& setting : settings.settings) {
    add(absl::StrFormat("setting %s of %s: %s", setting.name, setting.principal_arn,
                        setting.value));
  }
  return portrait;
}

std::string Describe(const model::Change& change) {
  return std::visit(
      Overloaded{
          [](const model::PutCluster& put) { return "put " + Text(*put.record); },
          [](const model::PutFamily& put) {
            return absl::StrFormat("put family %s %d", put.record.name, put.record.last_revision);
          },
          [](const model::PutTaskDefinition& put) { return "put " + Text(*put.record); },
          [](const model::DeleteTaskDefinition& gone) {
            return absl::StrFormat("delete definition #%d", gone.sequence);
          },
          [](const model::PutInstance& put) { return "put " + Text(*put.record); },
          [](const model::DeleteInstance& gone) {
            return absl::StrFormat("delete instance #%d", gone.sequence);
          },
          [](const model::PutTask& put) { return "put " + Text(*put.record); },
          [](const model::DeleteTask& gone) {
            return absl::StrFormat("delete task #%d", gone.sequence);
          },
          [](const model::PutClientToken& put) {
            return absl::StrFormat("put token %s of %d", put.record.token, put.record.tasks.size());
          },
          [](const model::DeleteClientToken& gone) { return "delete token " + gone.token; },
          [](const model::DeleteCluster& gone) {
            return absl::StrFormat("delete cluster #%d", gone.sequence);
          },
          [](const model::PutAccountSetting& put) {
            return absl::StrFormat("put setting %s of %s: %s", put.record.name,
                                   put.record.principal_arn, put.record.value);
          },
          [](const model::DeleteAccountSetting& gone) {
            return absl::StrFormat("delete setting %s of %s", gone.name, gone.principal_arn);
          },
          [](const model::PutAccessKey& put) {
            return absl::StrFormat("put access key %s #%d %s", put.record->id, put.record->sequence,
                                   Seconds(put.record->revoked_at));
          },
      },
      change);
}

}  // namespace berth::scheduler
