// Thousands of random commands from a seed: clients, agents that lose and repeat messages, machines
// that come and go, restarts. The audit runs after every one.
#include <algorithm>

#include "absl/strings/str_format.h"
#include "model/rng.h"
#include "tests/scheduler/world.h"

namespace berth::scheduler {
namespace {

using model::TaskStatus;

// How often GPUs, ports and so on collide depends on there being few of them.
class Walk {
 public:
  explicit Walk(uint64_t seed)
      : world_({.stopped_tasks = absl::Hours(3),
                .stopped_tasks_max = 40,
                .inactive_clusters = absl::Hours(2)}),
        rng_(seed) {
    for (int i = 0; i < 6; ++i) Define(i);
    for (int i = 0; i < 4; ++i) Register();
  }

  World& world() { return world_; }
  int64_t placed() const { return placed_; }
  int64_t turned_away() const { return turned_away_; }
  int64_t deleted() const { return deleted_; }

  void Step() {
    world_.now += absl::Seconds(rng_.Below(600));
    const uint64_t dice = rng_.Below(114);
    if (dice >= 110) return SideCluster();
    if (dice >= 106) return Tag();
    if (dice >= 104) return Setting();
    if (dice >= 100) return Undefine();
    if (dice < 30) return Run();
    if (dice < 40) return StopSome();
    if (dice < 75) return Report();
    if (dice < 80) return Connect();
    if (dice < 84) return Register();
    if (dice < 87) return Return();
    if (dice < 90) return Deregister();
    if (dice < 93) return Accept();
    if (dice < 96) return static_cast<void>(world_.Do(Tick{}));
    if (dice < 98) return Define(static_cast<int>(rng_.Below(6)));
    const std::string before = Emulated(Portrait(world_));
    world_.Restart();
    CHECK(Emulated(Portrait(world_)) == before);
  }

  // Questions, from dice of their own: with or without them the walk is the same.
  void Ask() {
    const auto below = [this](size_t n) { return questions_.Below(n); };
    const DefinitionRecord definition = definitions_[below(definitions_.size())];
    const std::string before = Portrait(world_);
    world_.Do(Plan{.task = world_.Running(definition, static_cast<int64_t>(1 + below(8))),
                   .count_more = below(2) == 0});
    if (!tasks_.empty()) {
      const model::TaskId id = tasks_[tasks_.size() - 1 - below(std::min(tasks_.size(), 20ul))]->id;
      world_.Do(Explain{.cluster = {"default"}, .task = id});
    }
    world_.Do(Explain{.cluster = {"default"}, .group = "family:family-1"});
    CHECK(Portrait(world_) == before);
  }

 private:
  const std::vector<std::string> kClusters = {"default", "east", "west"};

  // All lines but those of instances with a real agent, which a restart disconnects.
  static std::string Emulated(const std::string& portrait) {
    std::string kept;
    size_t begin = 0;
    while (begin < portrait.size()) {
      const size_t end = portrait.find('\n', begin);
      const std::string line = portrait.substr(begin, end - begin);
      if (line.find("real-") == std::string::npos) kept += line + "\n";
      begin = end + 1;
    }
    return kept;
  }

  bool Chance(uint64_t percent) { return rng_.Below(100) < percent; }
  template <class T>
  T Pick(const std::vector<T>& from) {
    return from[rng_.Below(from.size())];
  }
  // Mostly one of the last, which are more likely to be alive; now and then any.
  template <class T>
  T PickLate(const std::vector<T>& from) {
    constexpr uint64_t kLate = 20;
    const uint64_t back = Chance(90) ? std::min<uint64_t>(from.size(), kLate) : from.size();
    return from[from.size() - 1 - rng_.Below(back)];
  }

  void Define(int i) {
    model::TaskSpec spec;
    const auto mib = [&] { return static_cast<int64_t>(1 + rng_.Below(15000)); };
    switch (i) {
      case 0:
        spec = GpuSpec({Mps(mib())});
        break;
      case 1:
        spec = GpuSpec({Mps(mib()), Mps(mib())});
        break;
      case 2:
        spec = GpuSpec({Whole("1")});
        break;
      case 3:
        spec = GpuSpec({Whole("1"), Whole("2")});
        break;
      case 4:
        spec = GpuSpec({Whole("ALL")});
        break;
      default:
        spec = Spec({Container("app", 1000 + mib()), Container("log")});
        spec.containers[1].essential = false;
        spec.containers[0].port_mappings = {
            {.container_port = 80, .host_port = static_cast<int64_t>(8000 + rng_.Below(4))}};
    }
    spec.family = absl::StrFormat("family-%d", i);
    spec.containers[0].cpu_units = static_cast<int64_t>(rng_.Below(2048));
    definitions_.push_back(world_.Define(spec));
  }

  // Of a family's revisions the last is left alone: otherwise soon nothing would run.
  void Undefine() {
    const DefinitionRecord definition = Pick(definitions_);
    const auto last =
        world_.Do(DescribeTaskDefinition{.definition = {.family = definition->id.family}});
    if (last.reply.ok() && (*last.reply)->id == definition->id) return;
    world_.Do(DeregisterTaskDefinition{.definition = definition->id});
    if (Chance(50)) return;
    std::vector<model::DefinitionId> ids = {definition->id, Pick(definitions_)->id};
    const auto deleted = world_.Do(DeleteTaskDefinitions{.definitions = std::move(ids)});
    for (const auto& result : deleted.reply->results) deleted_ += result.record ? 1 : 0;
  }

  void Tag() {
    std::vector<TaggedResource> resources = {
        model::ClusterName{Pick(kClusters)}, Pick(definitions_)->id,
        InstanceKey{.cluster = {"default"}, .id = PickLate(machines_).first}};
    if (!tasks_.empty()) {
      resources.emplace_back(TaskInCluster{.cluster = {"default"}, .id = PickLate(tasks_)->id});
    }
    const TaggedResource resource = Pick(resources);
    const std::string key = absl::StrFormat("k%d", rng_.Below(55));
    if (Chance(70)) {
      world_.Do(TagResource{.resource = resource,
                            .tags = {{.key = key, .value = Chance(50) ? "v" : "w"}}});
    } else {
      world_.Do(UntagResource{.resource = resource, .keys = {key}});
    }
  }

  void Setting() {
    const std::string principal = Pick(std::vector<std::string>{"root", "me", "you"});
    const std::string name = Pick(std::vector<std::string>{"a", "b"});
    if (Chance(30)) {
      world_.Do(DeleteAccountSetting{.principal_arn = principal, .name = name});
    } else {
      world_.Do(PutAccountSetting{.setting = {.principal_arn = principal,
                                              .name = name,
                                              .value = Chance(50) ? "on" : "off"}});
    }
  }

  // Clusters that come and go, with a machine and a task now and then.
  void SideCluster() {
    const model::ClusterName name{Pick(kClusters)};
    const std::string document = Chance(50) ? "{}" : "{\"a\":1}";
    switch (rng_.Below(6)) {
      case 0:
      case 1:
        world_.Do(CreateCluster{.name = name, .document = document});
        return;
      case 2: {
        RegisterContainerInstance registration = World::Registration({});
        registration.cluster = name;
        world_.Do(registration);
        RunTask run = world_.Running(Pick(definitions_));
        run.cluster = name;
        run.client_token = "side";
        world_.Do(run);
        return;
      }
      case 3:
        world_.Do(
            UpdateCluster{.name = name, .expected_document = document, .document = R"({"b":2})"});
        return;
      default: {
        if (name.value == "default") return;
        const auto listed = world_.Do(ListContainerInstances{.cluster = name, .limit = 100});
        if (!listed.reply.ok()) return;
        for (const model::InstanceId& id : listed.reply->ids) {
          world_.Do(DeregisterContainerInstance{.cluster = name, .id = id, .force = true});
        }
        world_.Do(DeleteCluster{.name = name});
      }
    }
  }

  void Register() {
    const bool real = Chance(40);
    const Machine machine{
        .ec2_instance_id = absl::StrFormat("%s-%d", real ? "real" : "emulated", rng_.Below(8)),
        .cpu_units = 8192,
        .memory_mib = 64 * 1024,
        .gpus = Gpus(static_cast<int>(rng_.Below(5)), Chance(10) ? 0 : kGpuMib),
        .mps_clients_max = Chance(30) ? 2 : 48,
        .client_token = Chance(50) ? absl::StrFormat("r-%d", rng_.Below(20)) : "",
        .emulated = !real};
    const auto outcome = world_.Do(World::Registration(machine));
    if (!outcome.reply.ok()) return;
    machines_.push_back({outcome.reply->record->id, machine});
  }

  void Return() {
    auto [id, machine] = PickLate(machines_);
    machine.existing = id;
    machine.client_token = "";
    machine.gpus =
        Gpus(static_cast<int>(1 + rng_.Below(5)), static_cast<int64_t>(rng_.Below(kGpuMib)));
    if (Chance(20)) machine.cpu_units = static_cast<int64_t>(rng_.Below(8192));
    world_.Do(World::Registration(machine));
  }

  void Deregister() {
    world_.Do(DeregisterContainerInstance{
        .cluster = {"default"}, .id = PickLate(machines_).first, .force = Chance(40)});
  }

  void Connect() {
    const model::InstanceId id = PickLate(machines_).first;
    if (Chance(60)) {
      world_.Do(ConnectAgent{.cluster = {"default"},
                             .instance = id,
                             .version_info = {.agent_version = Chance(50) ? "1" : "2"}});
    } else {
      world_.Do(DisconnectAgent{.cluster = {"default"}, .instance = id});
    }
  }

  void Run() {
    RunTask command = world_.Running(Pick(definitions_), static_cast<int64_t>(1 + rng_.Below(4)));
    if (Chance(50)) {
      command.client_token = absl::StrFormat("t-%d", rng_.Below(30));
      command.fingerprint = absl::StrFormat("%s/%d/%d", command.definition.family,
                                            *command.definition.revision, command.count);
    }
    command.started_by = Chance(50) ? absl::StrFormat("by-%d", rng_.Below(3)) : "";
    const auto outcome = world_.Do(command);
    if (!outcome.reply.ok()) return;
    for (const model::TaskRecord& task : outcome.reply->tasks) tasks_.push_back(task);
    placed_ += static_cast<int64_t>(outcome.reply->tasks.size());
    turned_away_ += outcome.reply->failures.empty() ? 0 : 1;
  }

  void StopSome() {
    if (tasks_.empty()) return;
    world_.Do(StopTask{.cluster = {"default"}, .task = PickLate(tasks_)->id});
  }

  void Accept() {
    if (tasks_.empty()) return;
    world_.Do(AcceptTask{.cluster = {"default"}, .task = PickLate(tasks_)->id});
  }

  // True or not, in any order, now and then twice.
  void Report() {
    if (tasks_.empty()) return;
    const model::TaskRecord task = PickLate(tasks_);
    ReportTask report{.cluster = {"default"}, .task = task->id};
    if (Chance(80)) {
      report.status = Pick(std::vector{TaskStatus::kPending, TaskStatus::kRunning,
                                       TaskStatus::kRunning, TaskStatus::kStopped});
    }
    for (const model::TaskContainer& container : task->containers) {
      if (Chance(60)) continue;
      const bool ended = Chance(30);
      report.containers.push_back(
          {.name = container.name,
           .status = ended ? model::ContainerStatus::kStopped : model::ContainerStatus::kRunning,
           .exit_code = ended ? std::optional<int64_t>(rng_.Below(256)) : std::nullopt});
    }
    world_.Do(report);
    if (Chance(20)) CHECK(world_.Do(report).changes.empty());
  }

  World world_;
  model::Rng rng_;
  std::vector<DefinitionRecord> definitions_ = {};
  std::vector<std::pair<model::InstanceId, Machine>> machines_ = {};
  std::vector<model::TaskRecord> tasks_ = {};
  model::Rng questions_{17};
  int64_t placed_ = 0;
  int64_t turned_away_ = 0;
  int64_t deleted_ = 0;  // revisions
};

}  // namespace

TEST_CASE("whatever comes in whatever order, the books balance and a restart finds the same") {
  const uint64_t seed = GENERATE(range<uint64_t>(1, 6));
  INFO("seed " << seed);
  Walk walk(seed);

  for (int step = 0; step < 1500; ++step) {
    INFO("step " << step);
    walk.Step();
    if (step % 25 == 0) walk.Ask();
  }

  // Otherwise the walk has proved little.
  CHECK(walk.placed() > 150);
  CHECK(walk.turned_away() > 50);
  CHECK(walk.deleted() > 5);
}

TEST_CASE("the same seed gives the same changes, to the last one") {
  const auto changes = [] {
    Walk walk(42);
    for (int step = 0; step < 400; ++step) walk.Step();
    std::vector<std::string> described;
    for (const model::Change& change : walk.world().changes) described.push_back(Describe(change));
    return described;
  };

  CHECK(changes() == changes());
}

}  // namespace berth::scheduler
