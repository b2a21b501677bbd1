#include "api/emulated_agents.h"

#include <algorithm>
#include <utility>

#include "api/command_pump.h"
#include "api/http_text.h"

namespace berth::api {
namespace {

// A process that ends on SIGTERM: 128 + 15.
constexpr int64_t kTerminatedExitCode = 143;
constexpr char kRuntimeIdPrefix[] = "emulated-";
// Linux's own range for ports that a program leaves open.
constexpr int64_t kFirstDynamicPort = 32768;
constexpr int64_t kLastDynamicPort = 60999;

}  // namespace

void EmulatedAgents::Resume(const model::ClusterName& cluster, const model::InstanceId& instance) {
  scheduler::ConnectAgent command{.cluster = cluster, .instance = instance};
  pump_.Push(std::move(command),
             [this](const absl::StatusOr<scheduler::ConnectAgent::Reply>& reply) {
               if (!reply.ok()) return;  // deregistered meanwhile
               {
                 absl::MutexLock lock(&mutex_);
                 for (const auto& task : reply->running) running_.try_emplace(task->id, task);
                 for (const auto& task : reply->to_stop) running_.try_emplace(task->id, task);
               }
               for (const auto& task : reply->to_start) Start(task);
               for (const auto& task : reply->to_stop) Stop(task->cluster, task->id);
             });
}

void EmulatedAgents::Deliver(scheduler::Effect effect) {
  if (const auto* start = std::get_if<scheduler::StartTaskOnAgent>(&effect)) {
    Start(start->task);
  } else if (const auto* stop = std::get_if<scheduler::StopTaskOnAgent>(&effect)) {
    Stop(stop->cluster, stop->task);
  } else {
    Forget(std::get<scheduler::CloseAgentChannel>(effect).instance);
  }
}

void EmulatedAgents::Start(const model::TaskRecord& task) {
  scheduler::ReportTask report{
      .cluster = task->cluster, .task = task->id, .status = model::TaskStatus::kRunning};
  for (size_t i = 0; i < task->containers.size(); ++i) {
    report.containers.push_back({.name = task->containers[i].name,
                                 .status = model::ContainerStatus::kRunning,
                                 .runtime_id = kRuntimeIdPrefix + NewRequestId(),
                                 .network_bindings = BindPorts(*task, i)});
  }
  {
    absl::MutexLock lock(&mutex_);
    running_.insert_or_assign(task->id, task);
  }
  pump_.Push(scheduler::AcceptTask{.cluster = task->cluster, .task = task->id});
  pump_.Push(std::move(report));
}

void EmulatedAgents::Stop(const model::ClusterName& cluster, const model::TaskId& task) {
  model::TaskRecord record;
  {
    absl::MutexLock lock(&mutex_);
    const auto found = running_.find(task);
    if (found != running_.end()) {
      record = std::move(found->second);
      running_.erase(found);
    }
  }
  scheduler::ReportTask report{
      .cluster = cluster, .task = task, .status = model::TaskStatus::kStopped};
  if (record != nullptr) {
    for (const model::TaskContainer& container : record->containers) {
      report.containers.push_back({.name = container.name,
                                   .status = model::ContainerStatus::kStopped,
                                   .exit_code = kTerminatedExitCode});
    }
  }
  pump_.Push(std::move(report));
}

void EmulatedAgents::Forget(const model::InstanceId& instance) {
  absl::MutexLock lock(&mutex_);
  next_port_.erase(instance);
  absl::erase_if(running_, [&](const auto& entry) { return entry.second->instance == instance; });
}

std::vector<model::NetworkBinding> EmulatedAgents::BindPorts(const model::Task& task,
                                                             size_t container) {
  std::vector<model::NetworkBinding> bindings;
  if (task.spec == nullptr || container >= task.spec->containers.size()) return bindings;
  const model::NetworkMode mode = model::EffectiveNetworkMode(*task.spec);
  if (mode == model::NetworkMode::kNone || mode == model::NetworkMode::kAwsvpc) return bindings;
  absl::MutexLock lock(&mutex_);
  for (const model::PortMapping& mapping : task.spec->containers[container].port_mappings) {
    if (!mapping.container_port) continue;  // a range
    int64_t host_port =
        mode == model::NetworkMode::kHost ? *mapping.container_port : mapping.host_port.value_or(0);
    if (host_port == 0) {
      int64_t& next = next_port_.try_emplace(task.instance, kFirstDynamicPort).first->second;
      host_port = next;
      next = next == kLastDynamicPort ? kFirstDynamicPort : next + 1;
    }
    bindings.push_back({.bind_ip = "0.0.0.0",
                        .container_port = *mapping.container_port,
                        .host_port = host_port,
                        .protocol = mapping.protocol});
  }
  return bindings;
}

size_t EmulatedAgents::running() const {
  absl::MutexLock lock(&mutex_);
  return running_.size();
}

}  // namespace berth::api
