#include "scheduler/new_task.h"

#include <string>
#include <vector>

#include "scheduler/reservation.h"

namespace berth::scheduler {
namespace {

using model::TaskStatus;

std::string AttributeValue(const model::ContainerInstance& instance, std::string_view name) {
  const model::Attribute* attribute = model::FindAttribute(instance, name);
  return attribute == nullptr ? "" : attribute->value.value_or("");
}

std::vector<model::TaskContainer> ContainersOf(const model::TaskSpec& spec, model::IdSource& ids) {
  std::vector<model::TaskContainer> containers;
  containers.reserve(spec.containers.size());
  for (const model::ContainerDefinition& container : spec.containers) {
    containers.push_back({.name = container.name, .uuid = ids.NewUuid()});
  }
  return containers;
}

model::TaskId NewTaskId(const ClusterState& cluster, model::IdSource& ids) {
  model::TaskId id{ids.NewHex32()};
  while (cluster.FindTask(id) != nullptr) id.value = ids.NewHex32();
  return id;
}

}  // namespace

model::Task NewTask(const RunTask& command, const RunTaskPlan& plan,
                    const placement::Placement& placement, const Context& context) {
  const model::ContainerInstance& instance =
      *plan.cluster->FindInstance(placement.instance)->record;
  const bool awsvpc = model::EffectiveNetworkMode(*plan.spec) == model::NetworkMode::kAwsvpc;
  model::Task task{.id = NewTaskId(*plan.cluster, context.ids),
                   .cluster = command.cluster,
                   .instance = placement.instance,
                   .definition = plan.definition,
                   .overrides = command.overrides,
                   .spec = plan.spec,
                   .last_status = awsvpc ? TaskStatus::kProvisioning : TaskStatus::kPending,
                   .launch_type = plan.launch_type,
                   .group = plan.group,
                   .started_by = command.started_by,
                   .enable_execute_command = command.enable_execute_command,
                   .client_token = command.client_token,
                   .network_configuration = command.network_configuration,
                   .reference_id = command.reference_id,
                   .tags = plan.tags,
                   .availability_zone = AttributeValue(instance, "ecs.availability-zone"),
                   .cpu_architecture = AttributeValue(instance, "ecs.cpu-architecture"),
                   .created_at = context.now,
                   .containers = ContainersOf(*plan.spec, context.ids)};
  AssignGpus(task, placement.reservation.gpus);
  return task;
}

}  // namespace berth::scheduler
