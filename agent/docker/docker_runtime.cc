#include "agent/docker/docker_runtime.h"

#include <algorithm>

#include <spdlog/spdlog.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "agent/docker/labels.h"
#include "agent/docker/pause_image.h"
#include "agent/docker/volumes.h"
#include "agent/spawn.h"

namespace berth::agent {

namespace {

constexpr absl::Duration kPullIdleMax = absl::Minutes(1);
constexpr absl::Duration kPullMax = absl::Hours(2);
// An image that was made on this machine is asked for in its registry for so long, and not again
// for a while when the registry does not answer.
constexpr absl::Duration kLocalImagePullMax = absl::Seconds(5);
constexpr absl::Duration kUnreachableMemory = absl::Minutes(1);
// One wait call at Docker; it is renewed for as long as the container runs.
constexpr absl::Duration kWaitPatience = absl::Minutes(10);
constexpr absl::Duration kWatchRetry = absl::Seconds(1);
constexpr int kTaskSubnetPrefix = 28;  // the gateway, the task, and room
constexpr int kSubnetAttemptsMax = 16;
// Docker notes that a container ran out of memory only if its kernel's word of that came before the
// container's end. Otherwise it says so in an event, a moment later.
constexpr absl::Duration kOutOfMemoryPatience = absl::Milliseconds(500);
constexpr absl::Duration kTerminateClientsMax = absl::Seconds(15);
constexpr int64_t kExitCodeOfSigkill = 137;
constexpr char kOutOfMemory[] = "OutOfMemoryError: Container killed due to memory usage";

// A sentence before Docker's own words, where those alone would puzzle.
std::string Explain(const absl::Status& status) {
  const std::string message(status.message());
  if (absl::StrContains(message, "port is already allocated") ||
      absl::StrContains(message, "address already in use")) {
    return "a host port that it asks for is already in use on this machine: " + message;
  }
  if (absl::StrContains(message, "no space left on device")) {
    return "the disk is full: " + message;
  }
  if (absl::IsUnavailable(status)) return "Docker cannot be reached: " + message;
  return message;
}

// Empty: it shares none. All its sharing containers are on one (gpu-sharing.md P1).
std::string SharedGpuOf(const TaskPayload& task) {
  for (const ContainerPayload& container : task.containers) {
    if (container.share && !container.gpu_ids.empty()) return container.gpu_ids.front().value;
  }
  return {};
}

// The error as ECS names it: the given name, unless Docker took too long.
absl::Status Named(std::string_view name, std::string_view doing, const absl::Status& status) {
  if (absl::IsDeadlineExceeded(status)) {
    return absl::DeadlineExceededError(
        absl::StrFormat("DockerTimeoutError: Docker took too long to %s: %s", doing,
                        std::string(status.message())));
  }
  return absl::Status(status.code(), absl::StrFormat("%s: %s", name, Explain(status)));
}

std::string DigestOf(const DockerImage& image) {
  if (image.repo_digests.empty()) return {};
  const std::string& digest = image.repo_digests.front();
  return digest.substr(digest.find('@') + 1);
}

absl::Status About(const std::string& what, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(what, ": ", std::string(status.message())));
}

std::string LabelOf(const std::map<std::string, std::string>& labels, const char* name) {
  const auto found = labels.find(name);
  return found == labels.end() ? std::string() : found->second;
}

}  // namespace

DockerRuntime::DockerRuntime(net::any_io_executor executor, std::shared_ptr<DockerClient> docker,
                             Settings settings)
    : executor_(std::move(executor)), docker_(std::move(docker)), settings_(std::move(settings)) {
  if (settings_.gpu_control == nullptr) return;
  mps_ = std::make_shared<MpsManager>(executor_, settings_.mps, settings_.gpu_control,
                                      settings_.gpus, settings_.rng.Fork(),
                                      [this](const std::string& task, const std::string& reason) {
                                        if (lost_) lost_(task, reason);
                                      });
}

void DockerRuntime::OnLost(
    std::function<void(const std::string& task_arn, const std::string& reason)> lost) {
  lost_ = std::move(lost);
}

net::awaitable<void> DockerRuntime::Recover(std::vector<TaskPtr> tasks) {
  if (mps_ == nullptr) co_return;
  std::map<std::string, std::string> in_use;
  for (const TaskPtr& task : tasks) {
    const std::string gpu = SharedGpuOf(*task);
    if (!gpu.empty()) in_use[task->arn] = gpu;
  }
  co_await mps_->Recover(std::move(in_use));
}

void DockerRuntime::Join() {
  if (mps_ != nullptr) mps_->Join();
}

std::string DockerRuntime::Suffix() { return absl::StrFormat("%012x", settings_.rng.Next() >> 16); }

ContainerContext DockerRuntime::Context(const std::string& pause) const {
  return {.cluster = settings_.cluster,
          .instance = settings_.instance,
          .region = settings_.region,
          .pause_container = pause};
}

std::vector<std::string> DockerRuntime::Labels(const std::string& task_arn) const {
  std::vector<std::string> labels = {absl::StrCat(label::kInstance, "=", settings_.instance)};
  if (!task_arn.empty()) labels.push_back(absl::StrCat(label::kTaskArn, "=", task_arn));
  return labels;
}

net::awaitable<absl::StatusOr<std::string>> DockerRuntime::Pull(std::string image) {
  const absl::StatusOr<DockerImage> local = co_await docker_->InspectImage(image);
  const bool have_local = local.ok();
  const bool cached_will_do =
      have_local && (settings_.pull_policy == PullPolicy::kPreferCached ||
                     (settings_.pull_policy == PullPolicy::kOnce && pulled_.contains(image)));
  if (cached_will_do) co_return DigestOf(*local);
  const bool made_here = have_local && local->repo_digests.empty();
  absl::StatusOr<std::string> pulled = co_await TryPull(image, have_local, made_here);
  co_return pulled;
}

net::awaitable<absl::StatusOr<std::string>> DockerRuntime::TryPull(std::string image,
                                                                   bool have_local,
                                                                   bool made_here) {
  const bool may_fall_back = have_local && settings_.pull_policy != PullPolicy::kAlways;
  const auto failed = unreachable_.find(image);
  const bool failed_lately =
      failed != unreachable_.end() && absl::Now() - failed->second < kUnreachableMemory;
  absl::Status pulled = absl::UnavailableError("its registry did not answer a moment ago");
  if (!(may_fall_back && made_here && failed_lately)) {
    const bool briefly = may_fall_back && made_here;
    pulled =
        co_await docker_->PullImage(image, kPullIdleMax, briefly ? kLocalImagePullMax : kPullMax);
    if (pulled.ok()) {
      unreachable_.erase(image);
      pulled_.insert(image);
    } else {
      unreachable_[image] = absl::Now();
    }
  }
  if (!pulled.ok() && !may_fall_back) {
    co_return Named(
        "CannotPullContainerError", absl::StrCat("pull ", image),
        absl::Status(pulled.code(), absl::StrCat(image, ": ", std::string(pulled.message()))));
  }
  if (!pulled.ok()) {
    spdlog::info("image {} cannot be pulled, the local one is used: {}", image,
                 std::string(pulled.message()));
  }
  const absl::StatusOr<DockerImage> local = co_await docker_->InspectImage(image);
  if (!local.ok()) co_return Named("CannotPullContainerError", "inspect the image", local.status());
  co_return DigestOf(*local);
}

net::awaitable<absl::Status> DockerRuntime::EnsurePauseImage() {
  const std::string name = absl::StrCat(kPauseRepository, ":", kPauseTag);
  const absl::StatusOr<DockerImage> have = co_await docker_->InspectImage(name);
  if (have.ok()) co_return absl::OkStatus();
  std::optional<std::string> tar = PauseImageTar(settings_.architecture);
  if (!tar) {
    co_return absl::UnimplementedError(absl::StrFormat(
        "ResourceInitializationError: network mode awsvpc, and pidMode and ipcMode task, "
        "are not supported on the architecture %s",
        settings_.architecture));
  }
  const absl::Status imported =
      co_await docker_->ImportImage(*std::move(tar), kPauseRepository, kPauseTag);
  if (!imported.ok()) {
    co_return Named("ResourceInitializationError", "import the pause image", imported);
  }
  co_return absl::OkStatus();
}

net::awaitable<absl::StatusOr<std::string>> DockerRuntime::TaskNetwork(TaskPtr task) {
  // A name of its own for each: after a crash Docker may still be making one that nobody waits for,
  // and two of one name would be ambiguous. Both go with the task, by their labels.
  const std::string name = absl::StrCat("berth-", task->id, "-", Suffix());
  std::vector<Subnet> refused;
  for (int attempt = 0; attempt < kSubnetAttemptsMax; ++attempt) {
    const absl::StatusOr<std::vector<DockerNetwork>> networks = co_await docker_->ListNetworks({});
    if (!networks.ok()) {
      co_return Named("ContainerNetworkingError", "list networks", networks.status());
    }
    std::vector<Subnet> taken = refused;
    taken.insert(taken.end(), choosing_.begin(), choosing_.end());
    for (const DockerNetwork& network : *networks) {
      if (LabelOf(network.labels, label::kTaskArn) == task->arn &&
          LabelOf(network.labels, label::kInstance) == settings_.instance) {
        co_return network.id;  // Made before a restart.
      }
      for (const std::string& text : network.subnets) {
        const absl::StatusOr<Subnet> subnet = ParseSubnet(text);
        if (subnet.ok()) taken.push_back(*subnet);  // Others are IPv6.
      }
    }
    const std::optional<Subnet> subnet =
        ChooseSubnet(settings_.awsvpc_range, kTaskSubnetPrefix, taken);
    if (!subnet) {
      co_return absl::ResourceExhaustedError(absl::StrFormat(
          "ContainerNetworkingError: no subnet is left for the task's network: all %d of %s are in "
          "use",
          SubnetCount(settings_.awsvpc_range, kTaskSubnetPrefix),
          ToString(settings_.awsvpc_range)));
    }
    choosing_.push_back(*subnet);
    const absl::StatusOr<std::string> id =
        co_await docker_->CreateNetwork(name, ToString(*subnet), TaskLabels(*task, Context("")));
    choosing_.erase(std::find(choosing_.begin(), choosing_.end(), *subnet));
    if (id.ok()) co_return *id;
    // Another program's network came in between, or a route that Docker knows and lists no network
    // for.
    const bool overlaps = absl::StrContains(std::string(id.status().message()), "overlap");
    if (!overlaps) {
      co_return Named("ContainerNetworkingError", "make the task's network", id.status());
    }
    refused.push_back(*subnet);
  }
  co_return absl::ResourceExhaustedError(absl::StrFormat(
      "ContainerNetworkingError: Docker refused %d subnets of %s as overlapping with others; "
      "another range may be needed for the networks of tasks",
      kSubnetAttemptsMax, ToString(settings_.awsvpc_range)));
}

net::awaitable<absl::StatusOr<std::string>> DockerRuntime::PauseContainer(TaskPtr task,
                                                                          std::string network) {
  std::vector<std::string> labels = Labels(task->arn);
  labels.push_back(absl::StrCat(label::kRole, "=", label::kPauseRole));
  const absl::StatusOr<std::vector<std::string>> found = co_await docker_->ListContainers(labels);
  if (!found.ok()) co_return Named("ContainerNetworkingError", "list containers", found.status());
  if (!found->empty()) co_return found->front();
  const std::string image = absl::StrCat(kPauseRepository, ":", kPauseTag);
  const std::string name = ContainerHostName(*task, "internal-pause", Suffix());
  const absl::StatusOr<std::string> id =
      co_await docker_->CreateContainer(name, PauseRequestBody(*task, Context(""), image, network));
  if (!id.ok()) {
    co_return Named("ContainerNetworkingError", "create the pause container", id.status());
  }
  co_return *id;
}

net::awaitable<absl::Status> DockerRuntime::PrepareSharedVolume(VolumePayload volume) {
  const absl::StatusOr<DockerVolume> have = co_await docker_->InspectVolume(volume.name);
  const std::string what = absl::StrCat("shared volume ", volume.name);
  if (absl::IsNotFound(have.status())) {
    if (!volume.autoprovision) {
      co_return absl::NotFoundError(absl::StrFormat(
          "ResourceInitializationError: %s is not on this machine, and autoprovision is off",
          what));
    }
    DockerVolume wanted = {.name = volume.name,
                           .driver = volume.driver,
                           .labels = volume.labels,
                           .options = volume.driver_options};
    const absl::Status made = co_await docker_->CreateVolume(std::move(wanted));
    if (!made.ok())
      co_return Named("ResourceInitializationError", "make the volume", About(what, made));
    co_return absl::OkStatus();
  }
  if (!have.ok()) {
    co_return Named("ResourceInitializationError", "look at the volume",
                    About(what, have.status()));
  }
  const bool same_driver = volume.driver.empty() || volume.driver == have->driver;
  if (volume.autoprovision && (!same_driver || volume.driver_options != have->options)) {
    co_return absl::FailedPreconditionError(
        absl::StrFormat("ResourceInitializationError: %s is on this machine with another driver or "
                        "other driverOpts than the task definition asks for",
                        what));
  }
  co_return absl::OkStatus();
}

net::awaitable<absl::Status> DockerRuntime::PrepareVolumes(TaskPtr task) {
  for (const VolumePayload& volume : task->volumes) {
    if (!volume.host_path.empty()) continue;
    absl::Status made = absl::OkStatus();
    if (volume.shared) {
      made = co_await PrepareSharedVolume(volume);
    } else {
      DockerVolume own = {.name = DockerVolumeName(*task, volume),
                          .driver = volume.driver,
                          .labels = volume.labels,
                          .options = volume.driver_options};
      for (const auto& [key, value] : TaskLabels(*task, Context(""))) own.labels[key] = value;
      // Docker answers the same when it was made before a restart.
      made = co_await docker_->CreateVolume(std::move(own));
      if (!made.ok()) {
        made = Named("ResourceInitializationError", "make the volume",
                     About(absl::StrCat("volume ", volume.name), made));
      }
    }
    if (!made.ok()) co_return made;
  }
  co_return absl::OkStatus();
}

net::awaitable<absl::Status> DockerRuntime::PreparePause(TaskPtr task) {
  pause_of_[task->arn] = "";  // So that TearDown looks for what a failed preparation leaves.
  const absl::Status image = co_await EnsurePauseImage();
  if (!image.ok()) co_return image;
  std::string network = "none";
  if (task->network_mode == model::NetworkMode::kAwsvpc) {
    absl::StatusOr<std::string> own = co_await TaskNetwork(task);
    if (!own.ok()) co_return own.status();
    network = *std::move(own);
  }
  const absl::StatusOr<std::string> pause = co_await PauseContainer(task, network);
  if (!pause.ok()) co_return pause.status();
  const absl::Status started = co_await docker_->StartContainer(*pause);
  if (!started.ok()) {
    co_return Named("ContainerNetworkingError", "start the pause container", started);
  }
  pause_of_[task->arn] = *pause;
  co_return absl::OkStatus();
}

// The task with the values of its secrets in their places; the same when it has none.
absl::StatusOr<TaskPtr> DockerRuntime::WithSecrets(const TaskPtr& task) const {
  const auto has_secrets = [](const ContainerPayload& c) { return !c.secrets.empty(); };
  if (std::none_of(task->containers.begin(), task->containers.end(), has_secrets)) return task;
  auto filled = std::make_shared<TaskPayload>(*task);
  for (ContainerPayload& container : filled->containers) {
    for (const SecretPayload& secret : container.secrets) {
      absl::StatusOr<std::string> value = settings_.secrets.Read(secret.value_from);
      if (!value.ok()) return value.status();
      auto& values = secret.for_log_driver ? container.log_options : container.environment;
      values[secret.name] = *std::move(value);
    }
  }
  return filled;
}

net::awaitable<absl::Status> DockerRuntime::Prepare(TaskPtr task) {
  // A secret that is not there fails the task before any of its containers starts.
  const absl::Status secrets = WithSecrets(task).status();
  if (!secrets.ok()) co_return secrets;
  const std::string shared_gpu = SharedGpuOf(*task);
  if (mps_ != nullptr && !shared_gpu.empty()) {
    const absl::Status acquired = co_await mps_->Acquire(shared_gpu, task->arn);
    if (!acquired.ok()) co_return acquired;
  }
  const absl::Status volumes = co_await PrepareVolumes(task);
  if (!volumes.ok() || !NeedsPauseContainer(*task)) co_return volumes;
  const absl::Status pause = co_await PreparePause(task);
  co_return pause;
}

net::awaitable<absl::StatusOr<std::map<std::string, std::string>>> DockerRuntime::Siblings(
    std::string task_arn) {
  const absl::StatusOr<std::vector<DockerContainer>> containers = co_await ContainersOf(task_arn);
  if (!containers.ok()) co_return containers.status();
  std::map<std::string, std::string> ids;
  for (const DockerContainer& container : *containers) {
    ids[LabelOf(container.labels, label::kContainerName)] = container.id;
  }
  co_return ids;
}

net::awaitable<absl::StatusOr<std::string>> DockerRuntime::Create(TaskPtr task, size_t container) {
  const ContainerPayload& payload = task->containers[container];
  const auto pause = pause_of_.find(task->arn);
  ContainerContext context = Context(pause == pause_of_.end() ? std::string() : pause->second);
  context.gpu_access = settings_.gpu_access;
  if (mps_ != nullptr && payload.share) {
    context.mps_directory = mps_->PipeDirectory(SharedGpuOf(*task));
  }
  if (!payload.links.empty() || !payload.volumes_from.empty()) {
    absl::StatusOr<std::map<std::string, std::string>> siblings = co_await Siblings(task->arn);
    if (!siblings.ok()) {
      co_return Named("CannotCreateContainerError", "list the task's containers",
                      siblings.status());
    }
    context.siblings = *std::move(siblings);
  }
  const absl::StatusOr<TaskPtr> filled = WithSecrets(task);
  if (!filled.ok()) co_return filled.status();
  const std::string name = ContainerHostName(*task, payload.name, Suffix());
  std::string body = ContainerRequestBody(**filled, container, context);
  absl::StatusOr<std::string> id = co_await docker_->CreateContainer(name, std::move(body));
  if (!id.ok()) {
    co_return Named("CannotCreateContainerError", "create the container", id.status());
  }
  co_return id;
}

net::awaitable<absl::StatusOr<StartedContainer>> DockerRuntime::Start(std::string id) {
  const absl::Status begun = co_await docker_->StartContainer(id);
  if (!begun.ok()) {
    // One that was given up may start after all; it must not run unwatched.
    if (absl::IsDeadlineExceeded(begun)) {
      const absl::Status killed = co_await docker_->KillContainer(id);
      if (!killed.ok()) spdlog::error("container {}: {}", id, std::string(killed.message()));
    }
    co_return Named("CannotStartContainerError", "start the container", begun);
  }
  StartedContainer started;
  started.started_at = absl::Now();
  const absl::StatusOr<DockerContainer> container = co_await docker_->InspectContainer(id);
  if (container.ok()) {
    if (container->started_at != absl::InfinitePast()) started.started_at = container->started_at;
    started.bindings = container->bindings;
  } else {
    spdlog::warn("container {} has started, its ports are not known: {}", id,
                 std::string(container.status().message()));
  }
  co_return started;
}

net::awaitable<absl::Status> DockerRuntime::Stop(std::string id, absl::Duration grace) {
  const auto self = shared_from_this();
  std::string task_arn;
  if (mps_ != nullptr) {
    const absl::StatusOr<DockerContainer> container = co_await docker_->InspectContainer(id);
    if (container.ok()) task_arn = LabelOf(container->labels, label::kTaskArn);
  }
  if (mps_ == nullptr || mps_->GpuOf(task_arn).empty()) {
    const absl::Status stopped = co_await docker_->StopContainer(id, grace);
    co_return stopped;
  }
  // Docker's own SIGKILL comes later than ours, and only if ours does not come at all.
  const auto done = std::make_shared<bool>(false);
  Spawn(executor_, "end of sharing", EndSharing(id, task_arn, grace, done));
  const absl::Status stopped = co_await docker_->StopContainer(id, grace + kTerminateClientsMax);
  *done = true;
  co_return stopped;
}

net::awaitable<void> DockerRuntime::EndSharing(std::string id, std::string task_arn,
                                               absl::Duration grace,
                                               std::shared_ptr<const bool> stopped) {
  const auto self = shared_from_this();
  co_await Sleep(grace);
  if (*stopped) co_return;
  co_await mps_->TerminateClients(task_arn, id);
  if (*stopped) co_return;
  const absl::Status killed = co_await docker_->KillContainer(id);
  if (!killed.ok()) spdlog::error("container {}: {}", id, std::string(killed.message()));
}

void DockerRuntime::Watch(std::string id, TaskPtr, size_t,
                          std::function<void(ContainerExit)> ended) {
  Spawn(executor_, "container watch", WatchUntilEnd(std::move(id), std::move(ended)));
}

net::awaitable<ContainerExit> DockerRuntime::ExitOf(DockerContainer container) {
  ContainerExit exit;
  exit.exit_code = container.exit_code;
  const bool has_end = container.finished_at != absl::InfinitePast();
  exit.finished_at = has_end ? container.finished_at : absl::Now();
  exit.reason = container.error;
  bool out_of_memory = container.oom_killed && container.exit_code != 0;
  if (!out_of_memory && container.exit_code == kExitCodeOfSigkill) {
    const absl::StatusOr<bool> saw =
        co_await docker_->SawOutOfMemory(container.id, container.started_at, kOutOfMemoryPatience);
    out_of_memory = saw.ok() && *saw;
  }
  if (out_of_memory) exit.reason = kOutOfMemory;
  co_return exit;
}

net::awaitable<void> DockerRuntime::WatchUntilEnd(std::string id,
                                                  std::function<void(ContainerExit)> ended) {
  const auto self = shared_from_this();
  while (true) {
    const absl::Status waited = co_await docker_->WaitContainer(id, kWaitPatience);
    const absl::StatusOr<DockerContainer> container = co_await docker_->InspectContainer(id);
    if (container.ok() && container->state != DockerState::kRunning) {
      ContainerExit exit = co_await ExitOf(*container);
      ended(std::move(exit));
      co_return;
    }
    if (absl::IsNotFound(container.status())) {
      ContainerExit gone;
      gone.finished_at = absl::Now();
      gone.reason = "the container was removed by someone else";
      ended(std::move(gone));
      co_return;
    }
    // Docker is away or busy: the container's fate is unknown until it is back.
    if (!waited.ok() || !container.ok()) co_await Sleep(kWatchRetry);
  }
}

net::awaitable<model::HealthStatus> DockerRuntime::Health(std::string id) {
  const absl::StatusOr<DockerContainer> container = co_await docker_->InspectContainer(id);
  if (!container.ok()) co_return model::HealthStatus::kUnknown;
  co_return container->health.value_or(model::HealthStatus::kUnknown);
}

net::awaitable<absl::StatusOr<std::vector<DockerContainer>>> DockerRuntime::ContainersOf(
    std::string task_arn) {
  const absl::StatusOr<std::vector<std::string>> ids =
      co_await docker_->ListContainers(Labels(task_arn));
  if (!ids.ok()) co_return About("its containers cannot be listed", ids.status());
  std::vector<DockerContainer> containers;
  for (const std::string& id : *ids) {
    absl::StatusOr<DockerContainer> container = co_await docker_->InspectContainer(id);
    if (absl::IsNotFound(container.status())) continue;
    if (!container.ok()) co_return About("container " + id, container.status());
    containers.push_back(*std::move(container));
  }
  co_return containers;
}

net::awaitable<absl::Status> DockerRuntime::RemoveNetworksOf(std::string task_arn) {
  const absl::StatusOr<std::vector<DockerNetwork>> networks =
      co_await docker_->ListNetworks(Labels(task_arn));
  if (!networks.ok()) co_return About("its networks cannot be listed", networks.status());
  absl::Status all = absl::OkStatus();
  for (const DockerNetwork& network : *networks) {
    const absl::Status removed = co_await docker_->RemoveNetwork(network.id);
    all.Update(About("network " + network.name + " cannot be removed", removed));
  }
  co_return all;
}

net::awaitable<absl::Status> DockerRuntime::RemoveVolumesOf(std::string task_arn) {
  const absl::StatusOr<std::vector<DockerVolume>> volumes =
      co_await docker_->ListVolumes(Labels(task_arn));
  if (!volumes.ok()) co_return About("its volumes cannot be listed", volumes.status());
  absl::Status all = absl::OkStatus();
  for (const DockerVolume& volume : *volumes) {
    const absl::Status removed = co_await docker_->RemoveVolume(volume.name);
    all.Update(About("volume " + volume.name + " cannot be removed", removed));
  }
  co_return all;
}

net::awaitable<absl::Status> DockerRuntime::TearDown(std::string task_arn) {
  const auto self = shared_from_this();
  const absl::StatusOr<std::vector<DockerContainer>> containers = co_await ContainersOf(task_arn);
  if (!containers.ok()) co_return containers.status();
  absl::Status all = absl::OkStatus();
  for (const DockerContainer& container : *containers) {
    absl::Status done = absl::OkStatus();
    if (LabelOf(container.labels, label::kRole) == label::kPauseRole) {
      // Until all is done, as the next attempt may not find the pause container any more.
      pause_of_.emplace(task_arn, container.id);
      done = co_await docker_->RemoveContainer(container.id);
    } else if (container.state == DockerState::kRunning) {
      if (mps_ != nullptr) co_await mps_->TerminateClients(task_arn, container.id);
      done = co_await docker_->KillContainer(container.id);
    }
    all.Update(About("container " + container.name, done));
  }
  if (pause_of_.contains(task_arn)) {
    const absl::Status removed = co_await RemoveNetworksOf(task_arn);
    all.Update(removed);
  }
  if (all.ok() && mps_ != nullptr) {
    const absl::Status released = co_await mps_->Release(task_arn);
    all.Update(About("its GPU", released));
  }
  if (all.ok()) pause_of_.erase(task_arn);
  co_return all;
}

net::awaitable<absl::Status> DockerRuntime::Remove(std::string task_arn) {
  const auto self = shared_from_this();
  const absl::StatusOr<std::vector<DockerContainer>> containers = co_await ContainersOf(task_arn);
  if (!containers.ok()) co_return containers.status();
  absl::Status all = absl::OkStatus();
  for (const DockerContainer& container : *containers) {
    const absl::Status removed = co_await docker_->RemoveContainer(container.id);
    all.Update(About("container " + container.name + " cannot be removed", removed));
  }
  const absl::Status networks = co_await RemoveNetworksOf(task_arn);
  all.Update(networks);
  const absl::Status volumes = co_await RemoveVolumesOf(task_arn);
  all.Update(volumes);
  if (all.ok()) pause_of_.erase(task_arn);
  co_return all;
}

net::awaitable<absl::StatusOr<std::vector<FoundContainer>>> DockerRuntime::Find() {
  std::vector<FoundContainer> all;
  const absl::StatusOr<std::vector<std::string>> ids = co_await docker_->ListContainers(Labels(""));
  if (!ids.ok()) co_return ids.status();
  for (const std::string& id : *ids) {
    const absl::StatusOr<DockerContainer> container = co_await docker_->InspectContainer(id);
    if (absl::IsNotFound(container.status())) continue;
    if (!container.ok()) co_return container.status();
    FoundContainer found;
    found.runtime_id = container->id;
    found.task_arn = LabelOf(container->labels, label::kTaskArn);
    if (LabelOf(container->labels, label::kRole) == label::kPauseRole) {
      if (container->state == DockerState::kRunning) pause_of_[found.task_arn] = container->id;
    } else {
      found.container_name = LabelOf(container->labels, label::kContainerName);
    }
    found.running = container->state == DockerState::kRunning;
    found.has_run = container->started_at != absl::InfinitePast();
    found.started = {.started_at = container->started_at, .bindings = container->bindings};
    if (!found.running && found.has_run) found.exit = co_await ExitOf(*container);
    all.push_back(std::move(found));
  }
  const absl::StatusOr<std::vector<DockerNetwork>> networks =
      co_await docker_->ListNetworks(Labels(""));
  if (!networks.ok()) co_return networks.status();
  for (const DockerNetwork& network : *networks) {
    FoundContainer found;
    found.task_arn = LabelOf(network.labels, label::kTaskArn);
    pause_of_.emplace(found.task_arn, "");  // So that TearDown looks for it.
    all.push_back(std::move(found));
  }
  const absl::StatusOr<std::vector<DockerVolume>> volumes =
      co_await docker_->ListVolumes(Labels(""));
  if (!volumes.ok()) co_return volumes.status();
  for (const DockerVolume& volume : *volumes) {
    FoundContainer found;
    found.task_arn = LabelOf(volume.labels, label::kTaskArn);
    all.push_back(std::move(found));
  }
  co_return all;
}

}  // namespace berth::agent
