#include "agent/task_flow.h"

#include <algorithm>

#include <spdlog/spdlog.h>

#include "absl/time/clock.h"
#include "agent/spawn.h"

namespace berth::agent {

namespace {

spdlog::level::level_enum Level(const TaskFlow::Settings& settings) {
  return settings.quiet ? spdlog::level::debug : spdlog::level::info;
}

std::string MessageOf(const absl::Status& status) { return std::string(status.message()); }

// Makes a container that has ended ready to be started again where its policy says so.
bool RestartIfDue(const ContainerPayload& payload, model::DesiredStatus desired,
                  ContainerState& container) {
  if (!RestartsInPlace(payload, container, desired)) return false;
  ++container.restarts;
  container.phase = Phase::kCreated;
  container.reason.clear();
  return true;
}

}  // namespace

TaskFlow::TaskFlow(net::any_io_executor executor, TaskPtr task, TaskState state,
                   std::shared_ptr<Runtime> runtime, Settings settings,
                   std::function<void()> changed)
    : executor_(std::move(executor)),
      task_(std::move(task)),
      state_(std::move(state)),
      runtime_(std::move(runtime)),
      settings_(settings),
      changed_(std::move(changed)),
      checking_health_(task_->containers.size(), false) {
  state_.containers.resize(task_->containers.size());
}

void TaskFlow::Begin() {
  begun_ = true;
  for (size_t i = 0; i < state_.containers.size(); ++i) {
    if (state_.containers[i].phase == Phase::kRunning) WatchContainer(i);
  }
  Step();
}

void TaskFlow::RequestStop(std::string_view reason) {
  if (state_.desired == model::DesiredStatus::kStopped) return;
  spdlog::log(Level(settings_), "task {}: stopping, {}", task_->id, reason);
  state_.desired = model::DesiredStatus::kStopped;
  Step();
}

void TaskFlow::Fail(const std::string& reason) {
  if (state_.desired == model::DesiredStatus::kStopped) return;
  if (state_.reason.empty()) state_.reason = reason;
  if (begun_) {
    RequestStop(reason);
  } else {
    state_.desired = model::DesiredStatus::kStopped;  // Its containers are not watched yet.
  }
}

void TaskFlow::Step() {
  // Steps do not nest: what an action changes at once is planned for in the next round.
  if (stepping_) {
    step_again_ = true;
    return;
  }
  stepping_ = true;
  bool changed = false;
  do {
    step_again_ = false;
    const absl::Time now = absl::Now();
    const Plan plan = PlanNext(*task_, state_, now);
    changed = Apply(plan) || changed;
    for (const Action& action : plan.actions) Perform(action);
    changed = changed || !plan.actions.empty();
    absl::Time wake = plan.wake_at;
    for (const size_t i : plan.watch_health) {
      if (!checking_health_[i]) {
        checking_health_[i] = true;
        Spawn(executor_, "health check", CheckHealth(i));
      }
    }
    WakeAt(wake);
  } while (step_again_);
  stepping_ = false;
  changed_();
}

bool TaskFlow::Apply(const Plan& plan) {
  bool changed = plan.desired != state_.desired;
  state_.desired = plan.desired;
  if (!plan.failure.empty()) {
    spdlog::warn("task {}: {}", task_->id, plan.failure);
    if (plan.failed_container) {
      state_.containers[*plan.failed_container].reason = plan.failure;
    } else {
      state_.reason = plan.failure;
    }
    changed = true;
  }
  if (plan.status == model::TaskStatus::kStopped && !torn_down_ && state_.status != plan.status) {
    if (!tearing_down_) {
      tearing_down_ = true;
      Spawn(executor_, "tear-down", TearDown());
    }
    return changed;
  }
  if (plan.status == state_.status) return changed;
  state_.status = plan.status;
  spdlog::log(Level(settings_), "task {}: {}", task_->id,
              std::string(model::ToString(plan.status)));
  if (plan.status == model::TaskStatus::kRunning) state_.reached_running = true;
  if (plan.status == model::TaskStatus::kStopped) state_.stopped_at = absl::Now();
  return true;
}

void TaskFlow::Perform(const Action& action) {
  const size_t i = action.container;
  switch (action.kind) {
    case ActionKind::kPrepare:
      state_.preparation = Preparation::kUnderWay;
      Spawn(executor_, "preparation", Prepare());
      return;
    case ActionKind::kPull:
      state_.containers[i].phase = Phase::kPulling;
      if (state_.pull_started_at == absl::InfinitePast()) state_.pull_started_at = absl::Now();
      Spawn(executor_, "pull", Pull(i));
      return;
    case ActionKind::kCreate:
      state_.containers[i].phase = Phase::kCreating;
      Spawn(executor_, "create", Create(i));
      return;
    case ActionKind::kStart:
      state_.containers[i].phase = Phase::kStarting;
      Spawn(executor_, "start", Start(i));
      return;
    case ActionKind::kStop:
      state_.containers[i].phase = Phase::kStopping;
      Spawn(executor_, "stop", Stop(i));
      return;
    case ActionKind::kAbandon:
      state_.containers[i].phase = Phase::kStopped;
      state_.containers[i].finished_at = absl::Now();
      step_again_ = true;
      return;
  }
}

void TaskFlow::WakeAt(absl::Time time) {
  if (time == absl::InfiniteFuture() || time >= wake_at_) return;
  wake_at_ = time;
  Spawn(executor_, "alarm", Wake(time));
}

net::awaitable<void> TaskFlow::Wake(absl::Time time) {
  const auto self = shared_from_this();
  co_await Sleep(time - absl::Now());
  if (wake_at_ != time) co_return;  // An earlier alarm has been set, and has taken over.
  wake_at_ = absl::InfiniteFuture();
  Step();
}

void TaskFlow::FailContainer(size_t i, std::string reason) {
  ContainerState& container = state_.containers[i];
  spdlog::warn("task {}: container {}: {}", task_->id, task_->containers[i].name, reason);
  container.phase = Phase::kStopped;
  container.reason = std::move(reason);
  container.finished_at = absl::Now();
}

net::awaitable<void> TaskFlow::Prepare() {
  const auto self = shared_from_this();
  const absl::Status prepared = co_await runtime_->Prepare(task_);
  state_.preparation = Preparation::kDone;
  if (!prepared.ok()) {
    spdlog::warn("task {}: {}", task_->id, MessageOf(prepared));
    if (state_.reason.empty()) state_.reason = MessageOf(prepared);
    state_.desired = model::DesiredStatus::kStopped;
  }
  Step();
}

net::awaitable<void> TaskFlow::Pull(size_t i) {
  const auto self = shared_from_this();
  const absl::StatusOr<std::string> digest = co_await runtime_->Pull(task_->containers[i].image);
  ContainerState& container = state_.containers[i];
  if (container.phase != Phase::kPulling) co_return;  // Stopped meanwhile.
  if (digest.ok()) {
    container.phase = Phase::kPulled;
    container.image_digest = *digest;
  } else {
    FailContainer(i, MessageOf(digest.status()));
  }
  if (std::none_of(state_.containers.begin(), state_.containers.end(), [](const auto& c) {
        return c.phase == Phase::kWaiting || c.phase == Phase::kPulling;
      })) {
    state_.pull_stopped_at = absl::Now();
  }
  Step();
}

net::awaitable<void> TaskFlow::Create(size_t i) {
  const auto self = shared_from_this();
  const absl::StatusOr<std::string> id = co_await runtime_->Create(task_, i);
  if (id.ok()) {
    state_.containers[i].phase = Phase::kCreated;
    state_.containers[i].runtime_id = *id;
  } else {
    FailContainer(i, MessageOf(id.status()));
  }
  Step();
}

net::awaitable<void> TaskFlow::Start(size_t i) {
  const auto self = shared_from_this();
  const absl::StatusOr<StartedContainer> started =
      co_await runtime_->Start(state_.containers[i].runtime_id);
  if (!started.ok()) {
    FailContainer(i, MessageOf(started.status()));
    Step();
    co_return;
  }
  ContainerState& container = state_.containers[i];
  container.phase = Phase::kRunning;
  container.has_run = true;
  container.started_at = started->started_at;
  container.bindings = started->bindings;
  container.exit_code.reset();  // Of the run before a restart.
  WatchContainer(i);
  Step();
}

void TaskFlow::WatchContainer(size_t i) {
  const std::weak_ptr<TaskFlow> weak = weak_from_this();
  runtime_->Watch(state_.containers[i].runtime_id, task_, i, [weak, i](ContainerExit exit) {
    if (const std::shared_ptr<TaskFlow> flow = weak.lock()) flow->OnEnded(i, std::move(exit));
  });
}

void TaskFlow::OnEnded(size_t i, ContainerExit exit) {
  ContainerState& container = state_.containers[i];
  if (container.phase == Phase::kStopped) return;
  container.phase = Phase::kStopped;
  container.exit_code = exit.exit_code;
  container.finished_at = exit.finished_at;
  if (container.reason.empty()) container.reason = std::move(exit.reason);
  spdlog::log(Level(settings_), "task {}: container {} ended with {}{}{}", task_->id,
              task_->containers[i].name,
              container.exit_code ? fmt::format("exit code {}", *container.exit_code)
                                  : std::string("no exit code"),
              container.reason.empty() ? "" : ", ", container.reason);
  if (RestartIfDue(task_->containers[i], state_.desired, container)) {
    spdlog::log(Level(settings_), "task {}: container {} starts again, for the {}. time", task_->id,
                task_->containers[i].name, container.restarts);
    Step();
    return;
  }
  if (task_->containers[i].essential && state_.execution_stopped_at == absl::InfinitePast()) {
    state_.execution_stopped_at = container.finished_at;
  }
  Step();
}

net::awaitable<void> TaskFlow::Stop(size_t i) {
  const auto self = shared_from_this();
  const absl::Duration grace = task_->containers[i].stop_timeout.value_or(settings_.stop_timeout);
  const absl::Status stopped = co_await runtime_->Stop(state_.containers[i].runtime_id, grace);
  ContainerState& container = state_.containers[i];
  if (stopped.ok() || container.phase != Phase::kStopping) co_return;  // Watch tells how it ended.
  spdlog::error("task {}: container {} cannot be stopped, will be tried again in {}: {}", task_->id,
                task_->containers[i].name, absl::FormatDuration(settings_.stop_retry),
                MessageOf(stopped));
  container.phase = Phase::kRunning;
  container.retry_stop_at = absl::Now() + settings_.stop_retry;
  Step();
}

net::awaitable<void> TaskFlow::CheckHealth(size_t i) {
  const auto self = shared_from_this();
  co_await Sleep(settings_.health_interval);
  const model::HealthStatus health = co_await runtime_->Health(state_.containers[i].runtime_id);
  checking_health_[i] = false;
  state_.containers[i].health = health;
  Step();
}

net::awaitable<void> TaskFlow::TearDown() {
  const auto self = shared_from_this();
  absl::Duration retry = settings_.stop_retry;
  while (true) {
    const absl::Status done = co_await runtime_->TearDown(task_->arn);
    if (done.ok()) break;
    spdlog::error("task {}: not all of it is taken down, will be tried again in {}: {}", task_->id,
                  absl::FormatDuration(retry), MessageOf(done));
    // Only what may use the task's resources holds up its end.
    if (!torn_down_ && !MayStillRun()) {
      torn_down_ = true;
      Step();
    }
    co_await Sleep(retry);
    retry = std::min(2 * retry, settings_.tear_down_retry_max);
  }
  if (torn_down_) co_return;
  torn_down_ = true;
  Step();
}

// A container whose start failed may run all the same, when only Docker's answer was lost.
bool TaskFlow::MayStillRun() const {
  return std::any_of(state_.containers.begin(), state_.containers.end(), [](const auto& c) {
    return !c.runtime_id.empty() && !c.has_run && !c.reason.empty();
  });
}

void AdoptContainers(const TaskPayload& task, const std::vector<FoundContainer>& found,
                     absl::Time now, TaskState& state) {
  bool all_created = true;
  for (size_t i = 0; i < task.containers.size(); ++i) {
    ContainerState& container = state.containers[i];
    if (container.phase == Phase::kStopped) continue;
    const auto match = std::find_if(found.begin(), found.end(), [&](const FoundContainer& f) {
      return f.task_arn == task.arn && f.container_name == task.containers[i].name;
    });
    if (match == found.end()) {
      if (container.has_run) {
        container.phase = Phase::kStopped;
        container.finished_at = now;
        container.reason = "the container was removed while the agent was not running";
      } else {
        container.phase = Phase::kWaiting;
        all_created = false;
      }
    } else {
      container.runtime_id = match->runtime_id;
      container.phase = Phase::kCreated;
      if (match->has_run) {
        container.has_run = true;
        container.started_at = match->started.started_at;
        container.phase = match->running ? Phase::kRunning : Phase::kStopped;
      }
      if (match->running) container.bindings = match->started.bindings;
      if (container.phase == Phase::kStopped) {
        container.exit_code = match->exit.exit_code;
        container.finished_at = match->exit.finished_at;
        container.reason = match->exit.reason;
        RestartIfDue(task.containers[i], state.desired, container);
      }
    }
    const bool ended_essential = container.phase == Phase::kStopped && task.containers[i].essential;
    if (ended_essential && container.has_run) {
      state.execution_stopped_at =
          state.execution_stopped_at == absl::InfinitePast()
              ? container.finished_at
              : std::min(state.execution_stopped_at, container.finished_at);
    }
  }
  if (all_created) state.preparation = Preparation::kDone;
}

}  // namespace berth::agent
