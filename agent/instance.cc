#include "agent/instance.h"

#include <algorithm>
#include <filesystem>
#include <functional>

#include <spdlog/spdlog.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "agent/docker/docker_runtime.h"
#include "agent/simulated_runtime.h"
#include "agent/spawn.h"

namespace berth::agent {

namespace {

constexpr char kIdentityFile[] = "instance.json";
constexpr char kDefaultCluster[] = "default";
// Tasks that are cleaned up and still remembered, at most.
constexpr size_t kRememberedMax = 1000;
constexpr absl::Duration kSweepEvery = absl::Minutes(1);
constexpr absl::Duration kSweepLeast = absl::Seconds(1);
constexpr char kLostRecord[] =
    "the agent has lost its record of this task; its containers were removed";

AgentExit Restartable(std::string reason) { return {.code = 1, .reason = std::move(reason)}; }

void LogLeft(const std::string& arn, const absl::Status& why) {
  spdlog::error("task {}: something is left of it, which will be removed later: {}", arn,
                std::string(why.message()));
}

// CDI where Docker knows all of them by it.
GpuAccess GpuAccessOf(const GpuInventory& inventory, const std::vector<std::string>& cdi_devices) {
  const bool all =
      std::all_of(inventory.gpus.begin(), inventory.gpus.end(), [&](const model::Gpu& gpu) {
        return std::find(cdi_devices.begin(), cdi_devices.end(), CdiName(gpu.id)) !=
               cdi_devices.end();
      });
  return all ? GpuAccess::kCdi : GpuAccess::kDeviceRequest;
}

}  // namespace

InstanceAgent::InstanceAgent(net::any_io_executor executor, Parts parts)
    : executor_(std::move(executor)),
      parts_(std::move(parts)),
      files_(parts_.data_dir, parts_.disk, DiskSettings{.sync = parts_.docker != nullptr}) {}

net::awaitable<std::optional<AgentExit>> InstanceAgent::Begin() {
  const auto self = shared_from_this();
  if (std::optional<AgentExit> exit = LoadIdentity()) co_return exit;
  gpus_ = DiscoverGpus(parts_.settings.gpus, identity_.agent_id);
  MakeRuntime();
  MakeReporter();
  std::optional<AgentExit> failed = co_await LoadTasks();
  if (failed) co_return failed;

  const std::string token = NewUuid();
  std::string body = RegistrationBody(parts_.settings, identity_, parts_.machine, gpus_, token);
  std::variant<Registered, AgentExit> result =
      co_await Register(parts_.server, parts_.settings.cluster, std::move(body),
                        parts_.timing.registration, parts_.rng.Fork());
  if (AgentExit* exit = std::get_if<AgentExit>(&result)) {
    if (exit->code == 5 && !identity_.instance_arn.empty()) {
      absl::StrAppend(&exit->reason, "; this was a registration again as ", identity_.instance_arn,
                      ", known from ", parts_.data_dir, "/", kIdentityFile,
                      ": without that file the agent registers afresh");
    }
    co_return *exit;
  }
  // A re-registration keeps its ARN, whatever the answer says.
  if (identity_.instance_arn.empty()) {
    identity_.instance_arn = std::get<Registered>(result).instance_arn;
  }
  const absl::Status saved = co_await files_.Write(kIdentityFile, EncodeIdentity(identity_));
  if (!saved.ok()) co_return Restartable(std::string(saved.message()));
  spdlog::info("registered as {}, {} GPUs", identity_.instance_arn, gpus_.gpus.size());

  Channel::Settings channel;
  channel.cluster = identity_.cluster;
  channel.instance_arn = identity_.instance_arn;
  channel.agent_version = parts_.settings.version;
  channel.docker_version = parts_.machine.docker_version;
  channel.timing = parts_.timing.channel;
  channel.rng = parts_.rng.Fork();
  // The channel is a member: it does not outlive what it calls.
  channel_ = std::make_shared<Channel>(
      parts_.server, [this](std::string text) { return OnMessage(std::move(text)); },
      std::move(channel));
  for (const auto& [id, entry] : tasks_) {
    entry.flow->Begin();
    reporter_->Notify(entry.flow);
  }
  OfferIntrospection();
  Spawn(executor_, "channel", channel_->Run());
  Spawn(executor_, "clean-up", Sweep());
  co_return std::nullopt;
}

// Without it tasks run as ever, so a port that is taken, as by a second agent, is no reason to end.
void InstanceAgent::OfferIntrospection() {
  if (parts_.settings.introspection_port == 0) return;
  const auto answer = [weak = weak_from_this()](std::string_view target) -> LocalAnswer {
    const auto self = weak.lock();
    if (self == nullptr) return {.status = 503, .json = "{}"};
    InstanceView view = {.cluster = self->identity_.cluster,
                         .instance_arn = self->identity_.instance_arn,
                         .version = self->parts_.settings.version};
    for (const auto& [id, entry] : self->tasks_) {
      view.tasks.push_back({.task = &entry.flow->task(), .state = &entry.flow->state()});
    }
    return AnswerIntrospection(target, view);
  };
  const auto server =
      LocalHttpServer::Listen(executor_, parts_.settings.introspection_port, answer);
  if (server.ok()) {
    introspection_ = *server;
    return;
  }
  spdlog::warn("introspection is off: {}; another port may be given with --introspection-port",
               std::string(server.status().message()));
}

std::optional<AgentExit> InstanceAgent::LoadIdentity() {
  const absl::Status open = files_.Open();
  if (!open.ok()) return Restartable(std::string(open.message()));
  const std::string cluster =
      parts_.settings.cluster.empty() ? kDefaultCluster : parts_.settings.cluster;
  const absl::StatusOr<std::string> text = files_.Read(kIdentityFile);
  if (!text.ok()) return Restartable(std::string(text.status().message()));
  if (!text->empty()) {
    const absl::StatusOr<Identity> saved = DecodeIdentity(*text);
    if (saved.ok()) {
      identity_ = *saved;
      if (identity_.cluster != cluster) {
        return AgentExit{
            .code = 5,
            .reason = absl::StrFormat(
                "%s/%s belongs to an instance of cluster %s, and cluster %s is configured; use "
                "another data directory",
                parts_.data_dir, kIdentityFile, identity_.cluster, cluster)};
      }
      highest_number_ = identity_.manifest_number;
      return std::nullopt;
    }
    files_.SetAside(kIdentityFile, std::string(saved.status().message()));
  }
  // Made from what stays the same, so that the loss of the file does not lose the containers.
  std::error_code ignored;
  const std::string path = std::filesystem::weakly_canonical(parts_.data_dir, ignored);
  const std::string own = absl::StrCat(parts_.machine.unique_id, "|", path, "|", cluster);
  identity_.ec2_instance_id =
      parts_.settings.instance_id.empty() ? StableInstanceId(own) : parts_.settings.instance_id;
  if (parts_.settings.instances > 1 && !parts_.settings.instance_id.empty()) {
    absl::StrAppend(&identity_.ec2_instance_id, "-",
                    std::filesystem::path(parts_.data_dir).filename().string());
  }
  identity_.agent_id = StableInstanceId(own).substr(2);
  identity_.cluster = cluster;
  return std::nullopt;
}

void InstanceAgent::MakeRuntime() {
  if (parts_.docker == nullptr) {
    runtime_ = std::make_shared<SimulatedRuntime>(executor_, identity_.agent_id.substr(0, 8));
    return;
  }
  DockerRuntime::Settings settings;
  settings.cluster = identity_.cluster;
  settings.instance = identity_.agent_id;
  settings.region = parts_.settings.region;
  settings.architecture = parts_.machine.docker_architecture;
  settings.pull_policy = parts_.settings.pull_policy;
  // Requires: Agent::Create has parsed it.
  settings.awsvpc_range = *ParseSubnet(parts_.settings.awsvpc_range);
  settings.secrets = SecretFolder(absl::StrCat(parts_.data_dir, "/secrets"));
  settings.rng = parts_.rng.Fork();
  if (parts_.gpu_control != nullptr && !gpus_.gpus.empty()) {
    settings.gpu_control = parts_.gpu_control;
    settings.gpus = gpus_.gpus;
    settings.gpu_access = GpuAccessOf(gpus_, parts_.cdi_devices);
    settings.mps.binary = parts_.settings.mps_binary;
    settings.mps.root = parts_.settings.mps_directory;
    settings.mps.log_root = parts_.settings.mps_log_directory;
    settings.mps.record_directory = parts_.data_dir + "/mps";
  }
  runtime_ = std::make_shared<DockerRuntime>(executor_, parts_.docker, std::move(settings));
  const std::weak_ptr<InstanceAgent> weak = weak_from_this();
  runtime_->OnLost([weak](const std::string& arn, const std::string& reason) {
    const auto self = weak.lock();
    if (self == nullptr) return;
    const auto found = self->tasks_.find(TaskIdOf(arn));
    if (found != self->tasks_.end()) found->second.flow->Fail(reason);
  });
}

void InstanceAgent::MakeReporter() {
  Reporter::Settings settings;
  settings.cluster = identity_.cluster;
  settings.batch_window = parts_.timing.report_batch_window;
  settings.retry = parts_.timing.report_retry;
  settings.rng = parts_.rng.Fork();
  const std::weak_ptr<InstanceAgent> weak = weak_from_this();
  reporter_ = std::make_shared<Reporter>(
      executor_, parts_.server,
      [weak](std::shared_ptr<TaskFlow> flow) -> net::awaitable<void> {
        if (const auto self = weak.lock()) co_await self->SaveQuietly(std::move(flow));
      },
      std::move(settings));
}

net::awaitable<std::optional<AgentExit>> InstanceAgent::LoadTasks() {
  std::vector<TaskRecord> records;
  for (const std::string& name : files_.TaskFiles()) {
    const absl::StatusOr<std::string> text = files_.Read(name);
    absl::StatusOr<TaskRecord> record = text.ok() ? DecodeRecord(*text) : text.status();
    if (record.ok()) {
      records.push_back(*std::move(record));
    } else {
      files_.SetAside(name, std::string(record.status().message()));
    }
  }
  if (auto* simulated = dynamic_cast<SimulatedRuntime*>(runtime_.get())) {
    for (const TaskRecord& record : records) simulated->AdoptRunning(record);
  }
  absl::StatusOr<std::vector<FoundContainer>> found = co_await runtime_->Find();
  if (!found.ok()) {
    co_return Restartable(absl::StrCat("cannot find the containers of an earlier run: ",
                                       std::string(found.status().message())));
  }
  std::set<std::string> strangers;
  std::set<std::string> has_network;
  for (const FoundContainer& container : *found) {
    strangers.insert(container.task_arn);
    if (container.container_name.empty()) has_network.insert(container.task_arn);
  }
  std::vector<TaskPtr> under_way;
  for (TaskRecord& record : records) {
    strangers.erase(record.task->arn);
    const bool stopped = record.state.status == model::TaskStatus::kStopped;
    if (!stopped) AdoptContainers(*record.task, *found, absl::Now(), record.state);
    const bool has_begun =
        std::any_of(record.state.containers.begin(), record.state.containers.end(),
                    [](const ContainerState& container) { return !container.runtime_id.empty(); });
    if (!stopped && has_begun) under_way.push_back(record.task);
    if (stopped && has_network.contains(record.task->arn)) {
      Spawn(executor_, "tear-down", TearDownAgain(record.task->arn));
    }
    Add(std::move(record));
  }
  co_await runtime_->Recover(std::move(under_way));
  for (const std::string& arn : strangers) {
    spdlog::warn("task {} has left containers and no record: they are removed", arn);
    Spawn(executor_, "removal", RemoveStranger(arn));
    const std::string id = TaskIdOf(arn);
    if (!id.empty()) AddStopped(arn, id, kLostRecord);
  }
  if (!records.empty()) spdlog::info("{} tasks known from before", records.size());
  co_return std::nullopt;
}

net::awaitable<void> InstanceAgent::RemoveStranger(std::string arn) {
  const auto runtime = runtime_;
  while (true) {
    const absl::Status removed = co_await runtime->Remove(arn);
    if (removed.ok()) co_return;
    LogLeft(arn, removed);
    co_await Sleep(kSweepEvery);
  }
}

net::awaitable<void> InstanceAgent::TearDownAgain(std::string arn) {
  const auto runtime = runtime_;
  const absl::Status done = co_await runtime->TearDown(arn);
  if (!done.ok()) LogLeft(arn, done);  // The sweep removes all of it later.
}

std::shared_ptr<TaskFlow> InstanceAgent::Add(TaskRecord record) {
  const std::string id = record.task->id;
  TaskFlow::Settings settings;
  settings.stop_timeout = parts_.settings.stop_timeout;
  settings.quiet = parts_.docker == nullptr;
  const std::weak_ptr<InstanceAgent> weak = weak_from_this();
  auto flow = std::make_shared<TaskFlow>(executor_, record.task, std::move(record.state), runtime_,
                                         settings, [weak, id] {
                                           if (const auto self = weak.lock()) self->OnChanged(id);
                                         });
  tasks_[id] = {.flow = flow, .payload = std::move(record.payload), .saved = 0};
  return flow;
}

void InstanceAgent::AddStopped(const std::string& arn, const std::string& id, std::string reason) {
  spdlog::warn("task {}: STOPPED, {}", id, reason);
  Add(StoppedRecord(arn, id, std::move(reason), absl::Now()));
}

void InstanceAgent::OnChanged(const std::string& id) {
  const auto found = tasks_.find(id);
  if (found != tasks_.end()) reporter_->Notify(found->second.flow);
}

// The server asks for a task whose end it has been told: it is told again, the end alone.
void InstanceAgent::ReportAgain(TaskFlow& flow) {
  TaskState& state = flow.mutable_state();
  state.reported =
      state.reached_running ? model::TaskStatus::kRunning : model::TaskStatus::kPending;
  for (ContainerState& container : state.containers) {
    container.reported =
        container.has_run ? model::ContainerStatus::kRunning : model::ContainerStatus::kPending;
  }
}

// Writes until what is on disk is what is so, for a task can change while it is being written.
net::awaitable<absl::Status> InstanceAgent::SaveTask(std::string id) {
  const auto self = shared_from_this();
  bool healed = false;
  while (true) {
    const auto found = tasks_.find(id);
    if (found == tasks_.end()) co_return absl::OkStatus();
    const TaskFlow& flow = *found->second.flow;
    TaskRecord record;
    record.payload = found->second.payload;
    record.task = flow.task_ptr();
    record.state = flow.state();
    std::string text = EncodeRecord(record);
    const size_t hash = std::hash<std::string>()(text);
    if (hash == found->second.saved) co_return absl::OkStatus();
    std::string name = StateFiles::TaskFile(id);
    const absl::Status written = co_await files_.Write(std::move(name), std::move(text));
    if (!written.ok() && !healed && files_.AreGone()) {
      healed = true;
      const absl::Status open = files_.Open();
      spdlog::error("{} was removed, it is made again: {}", parts_.data_dir,
                    open.ok() ? "all goes on" : std::string(open.message()));
      co_await SaveIdentity();
      for (auto& [other, entry] : tasks_) {
        entry.saved = 0;
        Spawn(executor_, "saving again", SaveQuietly(entry.flow));
      }
      continue;
    }
    if (!written.ok()) co_return written;
    const auto still = tasks_.find(id);
    if (still != tasks_.end()) still->second.saved = hash;
  }
}

// A disk that fails does not keep the server from being told how things are.
net::awaitable<void> InstanceAgent::SaveQuietly(std::shared_ptr<TaskFlow> flow) {
  std::string id = flow->task().id;
  const absl::Status saved = co_await SaveTask(std::move(id));
  if (!saved.ok()) {
    spdlog::error("task {}: its state is not saved, and would be lost with the agent: {}",
                  flow->task().id, std::string(saved.message()));
  }
}

net::awaitable<void> InstanceAgent::SaveIdentity() {
  const auto self = shared_from_this();
  const absl::Status saved = co_await files_.Write(kIdentityFile, EncodeIdentity(identity_));
  if (!saved.ok()) spdlog::error("{}", std::string(saved.message()));
}

net::awaitable<void> InstanceAgent::Sweep() {
  const auto self = shared_from_this();
  const absl::Duration every =
      std::clamp(parts_.settings.cleanup_wait / 4, kSweepLeast, kSweepEvery);
  while (true) {
    co_await Sleep(every);
    const absl::Time now = absl::Now();
    std::vector<std::string> due;
    std::vector<std::pair<absl::Time, std::string>> remembered;
    for (const auto& [id, entry] : tasks_) {
      const TaskState& state = entry.flow->state();
      if (!entry.flow->is_told_stopped()) continue;
      if (state.cleaned_up) {
        remembered.emplace_back(state.stopped_at, id);
      } else if (now >= state.stopped_at + parts_.settings.cleanup_wait) {
        due.push_back(id);
      }
    }
    for (const std::string& id : due) co_await CleanUp(id);
    std::sort(remembered.begin(), remembered.end());
    const size_t excess =
        remembered.size() > kRememberedMax ? remembered.size() - kRememberedMax : 0;
    for (size_t i = 0; i < remembered.size(); ++i) {
      const absl::Time until =
          remembered[i].first + parts_.settings.cleanup_wait + parts_.timing.remember_stopped;
      if (i < excess || now >= until) co_await Forget(remembered[i].second);
    }
  }
}

net::awaitable<void> InstanceAgent::CleanUp(std::string id) {
  const auto found = tasks_.find(id);
  if (found == tasks_.end()) co_return;
  const std::shared_ptr<TaskFlow> flow = found->second.flow;
  const absl::Status removed = co_await runtime_->Remove(flow->task().arn);
  if (!removed.ok()) {
    LogLeft(flow->task().arn, removed);
    co_return;  // The next sweep tries again.
  }
  flow->mutable_state().cleaned_up = true;
  co_await SaveQuietly(flow);
}

net::awaitable<void> InstanceAgent::Forget(std::string id) {
  tasks_.erase(id);
  const absl::Status removed = co_await files_.Remove(StateFiles::TaskFile(id));
  if (!removed.ok()) spdlog::error("{}", std::string(removed.message()));
}

}  // namespace berth::agent
