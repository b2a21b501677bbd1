// A task: one run of a task definition on one container instance. Records are immutable once handed
// out: a change is a new record (std::shared_ptr<const Task>).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "model/gpu.h"
#include "model/ids.h"
#include "model/tag.h"
#include "model/task_definition.h"
#include "model/task_status.h"

namespace berth::model {

struct NetworkBinding {
  std::string bind_ip = {};
  int64_t container_port = 0;
  int64_t host_port = 0;
  Protocol protocol = Protocol::kTcp;

  bool operator==(const NetworkBinding&) const = default;
};

// The life of one container of a task; what it should be is in the task's spec, at the same index.
struct TaskContainer {
  std::string name = {};
  std::string uuid = {};  // last part of its ARN
  ContainerStatus last_status = ContainerStatus::kPending;
  HealthStatus health_status = HealthStatus::kUnknown;
  std::optional<int64_t> exit_code =
      std::nullopt;  // absent until it ended, and if it never started
  std::string reason = {};
  std::string runtime_id = {};
  std::string image_digest = {};
  std::vector<NetworkBinding> network_bindings = {};
  std::vector<GpuId> gpu_ids = {};
};

struct Task {
  TaskId id = {};
  int64_t sequence = 0;  // primary key in the store; unique over all tasks
  ClusterName cluster = {};
  InstanceId instance = {};
  std::shared_ptr<const TaskDefinition> definition = {};
  std::shared_ptr<const TaskOverrides> overrides = {};  // null: none given
  std::shared_ptr<const TaskSpec> spec = {};            // definition and overrides merged

  TaskStatus last_status = TaskStatus::kPending;
  DesiredStatus desired_status = DesiredStatus::kRunning;
  StopCode stop_code = StopCode::kNone;
  std::string stopped_reason = {};
  int64_t version = 1;  // +1 with each visible change

  LaunchType launch_type = LaunchType::kEc2;
  std::string group = {};
  std::string started_by = {};
  bool enable_execute_command = false;
  std::string client_token = {};
  // `networkConfiguration` as given, normalised JSON; empty when none was.
  std::string network_configuration = {};
  std::string reference_id = {};
  Tags tags = {};
  std::string availability_zone = {};
  std::string cpu_architecture = {};

  // Until then the scheduler ends it only when it must (UpdateTaskProtection). InfinitePast: never
  // protected.
  absl::Time protected_until = absl::InfinitePast();

  bool connectivity = false;  // CONNECTED: its agent has acknowledged it
  // InfinitePast: not yet.
  absl::Time created_at = absl::InfinitePast();
  absl::Time connectivity_at = absl::InfinitePast();
  absl::Time pull_started_at = absl::InfinitePast();
  absl::Time pull_stopped_at = absl::InfinitePast();
  absl::Time started_at = absl::InfinitePast();
  absl::Time stopping_at = absl::InfinitePast();
  absl::Time execution_stopped_at = absl::InfinitePast();
  absl::Time stopped_at = absl::InfinitePast();

  std::vector<TaskContainer> containers = {};
};

using TaskRecord = std::shared_ptr<const Task>;

}  // namespace berth::model
