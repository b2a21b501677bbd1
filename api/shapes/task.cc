#include "api/shapes/task.h"

#include <string>

#include "api/shapes/common.h"
#include "api/shapes/task_override.h"
#include "model/check.h"

namespace berth::api {

namespace {

using model::ContainerDefinition;
using model::HealthStatus;
using model::Task;
using model::TaskContainer;
using model::TaskSpec;

int64_t CpuUnits(const TaskSpec& spec) {
  if (spec.cpu_units) return *spec.cpu_units;
  int64_t sum = 0;
  for (const ContainerDefinition& container : spec.containers) sum += container.cpu_units;
  return sum;
}

int64_t MemoryMib(const TaskSpec& spec) {
  if (spec.memory_mib) return *spec.memory_mib;
  int64_t sum = 0;
  for (const ContainerDefinition& container : spec.containers) {
    sum += container.memory_reservation_mib.value_or(container.memory_mib.value_or(0));
  }
  return sum;
}

// Over the essential containers that have a check: the worst counts, and no check is unknown
// (ecs-api.md 7.8).
HealthStatus TaskHealth(const Task& task) {
  HealthStatus health = HealthStatus::kHealthy;
  bool checked = false;
  for (size_t i = 0; i < task.containers.size(); ++i) {
    if (!task.spec->containers[i].essential) continue;
    const HealthStatus status = task.containers[i].health_status;
    if (status == HealthStatus::kUnhealthy) return status;
    if (status == HealthStatus::kUnknown) health = status;
    if (task.spec->containers[i].health_check) checked = true;
  }
  return checked ? health : HealthStatus::kUnknown;
}

void WriteNetworkBindings(const TaskContainer& container, JsonWriter& writer) {
  writer.BeginArray("networkBindings");
  for (const model::NetworkBinding& binding : container.network_bindings) {
    writer.BeginObject();
    writer.OptionalString("bindIP", binding.bind_ip);
    writer.Int("containerPort", binding.container_port);
    writer.Int("hostPort", binding.host_port);
    writer.String("protocol", model::ToString(binding.protocol));
    writer.EndObject();
  }
  writer.EndArray();
}

void WriteGpus(const TaskContainer& container, const ContainerDefinition& definition,
               JsonWriter& writer) {
  if (!container.gpu_ids.empty()) {
    writer.BeginArray("gpuIds");
    for (const model::GpuId& gpu : container.gpu_ids) writer.String(gpu.value);
    writer.EndArray();
  }
  const model::GpuRequirement requirement = model::GpuRequirementOf(definition);
  if (requirement.kind != model::GpuRequirement::Kind::kShared) return;
  writer.BeginObject("gpuSharingStrategy");
  writer.BeginObject("nvidiaMps");
  writer.Int("memory", requirement.share.memory_mib);
  writer.OptionalInt("maxComputePercent", requirement.share.max_compute_percent);
  writer.EndObject();
  writer.EndObject();
}

void WriteContainer(const Task& task, size_t index, const model::ArnScope& scope,
                    JsonWriter& writer) {
  const TaskContainer& container = task.containers[index];
  const ContainerDefinition& definition = task.spec->containers[index];
  writer.BeginObject();
  writer.String("containerArn", model::ContainerArn(scope, task.cluster, task.id, container.uuid));
  writer.String("taskArn", model::TaskArn(scope, task.cluster, task.id));
  writer.String("name", container.name);
  writer.String("image", definition.image);
  writer.OptionalString("imageDigest", container.image_digest);
  writer.OptionalString("runtimeId", container.runtime_id);
  writer.String("lastStatus", model::ToString(container.last_status));
  writer.OptionalInt("exitCode", container.exit_code);
  writer.OptionalString("reason", container.reason);
  WriteNetworkBindings(container, writer);
  writer.EmptyArray("networkInterfaces");
  writer.String("healthStatus", model::ToString(container.health_status));
  // Strings here, although integers in the definition.
  writer.String("cpu", std::to_string(definition.cpu_units));
  if (definition.memory_mib) writer.String("memory", std::to_string(*definition.memory_mib));
  if (definition.memory_reservation_mib) {
    writer.String("memoryReservation", std::to_string(*definition.memory_reservation_mib));
  }
  WriteGpus(container, definition, writer);
  writer.EndObject();
}

void WriteAttributes(const Task& task, JsonWriter& writer) {
  writer.BeginArray("attributes");
  if (!task.cpu_architecture.empty()) {
    writer.BeginObject();
    writer.String("name", "ecs.cpu-architecture");
    writer.String("value", task.cpu_architecture);
    writer.EndObject();
  }
  writer.EndArray();
}

}  // namespace

void WriteTask(const Task& task, bool with_tags, const model::ArnScope& scope, JsonWriter& writer) {
  BERTH_CHECK(task.spec != nullptr && task.spec->containers.size() == task.containers.size());
  writer.BeginObject();
  writer.EmptyArray("attachments");
  WriteAttributes(task, writer);
  writer.OptionalString("availabilityZone", task.availability_zone);
  writer.String("clusterArn", model::ClusterArn(scope, task.cluster));
  if (task.connectivity_at != absl::InfinitePast()) {
    writer.String("connectivity", task.connectivity ? "CONNECTED" : "DISCONNECTED");
    writer.OptionalTime("connectivityAt", task.connectivity_at);
  }
  if (!task.instance.empty()) {
    writer.String("containerInstanceArn", model::InstanceArn(scope, task.cluster, task.instance));
  }
  writer.BeginArray("containers");
  for (size_t i = 0; i < task.containers.size(); ++i) WriteContainer(task, i, scope, writer);
  writer.EndArray();
  writer.String("cpu", std::to_string(CpuUnits(*task.spec)));
  writer.OptionalTime("createdAt", task.created_at);
  writer.String("desiredStatus", model::ToString(task.desired_status));
  writer.Bool("enableExecuteCommand", task.enable_execute_command);
  writer.OptionalTime("executionStoppedAt", task.execution_stopped_at);
  writer.OptionalString("group", task.group);
  writer.String("healthStatus", model::ToString(TaskHealth(task)));
  writer.String("lastStatus", model::ToString(task.last_status));
  writer.String("launchType", model::ToString(task.launch_type));
  writer.String("memory", std::to_string(MemoryMib(*task.spec)));
  WriteOverrides(task.overrides.get(), *task.spec, writer);
  writer.OptionalTime("pullStartedAt", task.pull_started_at);
  writer.OptionalTime("pullStoppedAt", task.pull_stopped_at);
  writer.OptionalTime("startedAt", task.started_at);
  writer.OptionalString("startedBy", task.started_by);
  if (task.stop_code != model::StopCode::kNone) {
    writer.String("stopCode", model::ToString(task.stop_code));
  }
  writer.OptionalTime("stoppedAt", task.stopped_at);
  writer.OptionalString("stoppedReason", task.stopped_reason);
  writer.OptionalTime("stoppingAt", task.stopping_at);
  WriteTags(with_tags ? task.tags : model::Tags{}, writer);
  writer.String("taskArn", model::TaskArn(scope, task.cluster, task.id));
  writer.String("taskDefinitionArn", model::TaskDefinitionArn(scope, task.definition->id));
  writer.Int("version", task.version);
  writer.EndObject();
}

}  // namespace berth::api
