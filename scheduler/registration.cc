// RegisterContainerInstance: a machine joins the cluster, or says anew what it has.
//
// Agents send a registration again when its answer is lost, at every start with the ARN that they
// were given, and without it when their state was wiped. None of these may leave two instances for
// one machine. Rules: ecs-api.md 6.1.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/strings/str_format.h"
#include "model/attribute_rules.h"
#include "model/errors.h"
#include "scheduler/agent_key.h"
#include "scheduler/decision.h"
#include "scheduler/reservation.h"
#include "scheduler/task_end.h"

namespace berth::scheduler {
namespace {

using model::Attribute;
using model::ContainerInstance;
using model::InstanceStatus;

constexpr int64_t kPortMax = 65535;
// Published limit of ECS: reserved host ports of an instance, TCP and UDP together.
constexpr size_t kReservedPortsMax = 100;
// The official agent sends about sixty.
constexpr size_t kAttributesMax = 500;
constexpr size_t kGpusMax = 1024;
constexpr size_t kGpuIdLengthMax = 256;
constexpr char kReplacedReason[] =
    "Container instance replaced by a new registration of the same machine.";

absl::Status CheckPorts(const char* resource, const std::vector<int64_t>& ports) {
  for (const int64_t port : ports) {
    if (port >= 1 && port <= kPortMax) continue;
    return model::InvalidParameter(absl::StrFormat(
        "totalResources %s names port %d; a port is 1 to %d", resource, port, kPortMax));
  }
  return absl::OkStatus();
}

absl::Status CheckGpus(const std::vector<model::Gpu>& gpus) {
  if (gpus.size() > kGpusMax) {
    return model::InvalidParameter(absl::StrFormat(
        "the registration names %d GPUs; an instance has at most %d", gpus.size(), kGpusMax));
  }
  absl::btree_set<std::string> ids;
  for (const model::Gpu& gpu : gpus) {
    if (gpu.id.empty()) return model::InvalidParameter("a GPU in platformDevices has no id");
    if (gpu.id.value.size() > kGpuIdLengthMax) {
      return model::InvalidParameter(
          absl::StrFormat("the id of a GPU has %d characters; at most %d are allowed",
                          gpu.id.value.size(), kGpuIdLengthMax));
    }
    if (!ids.insert(gpu.id.value).second) {
      return model::InvalidParameter(absl::StrFormat("GPU %s is registered twice", gpu.id.value));
    }
    if (gpu.memory_mib < 0) {
      return model::InvalidParameter(absl::StrFormat(
          "GPU %s has memoryInMiB %d; it must not be negative", gpu.id.value, gpu.memory_mib));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckResources(const model::RegisteredResources& resources) {
  if (resources.cpu_units < 0) {
    return model::InvalidParameter(
        absl::StrFormat("totalResources CPU is %d; it must not be negative", resources.cpu_units));
  }
  if (resources.memory_mib < 0) {
    return model::InvalidParameter(absl::StrFormat(
        "totalResources MEMORY is %d; it must not be negative", resources.memory_mib));
  }
  const size_t ports = resources.reserved_tcp_ports.size() + resources.reserved_udp_ports.size();
  if (ports > kReservedPortsMax) {
    return model::InvalidParameter(
        absl::StrFormat("totalResources PORTS and PORTS_UDP name %d ports; at most %d are allowed",
                        ports, kReservedPortsMax));
  }
  if (absl::Status status = CheckPorts("PORTS", resources.reserved_tcp_ports); !status.ok()) {
    return status;
  }
  if (absl::Status status = CheckPorts("PORTS_UDP", resources.reserved_udp_ports); !status.ok()) {
    return status;
  }
  if (resources.mps_clients_max < 1) {
    return model::InvalidParameter(absl::StrFormat("attribute %s is %d; it must be at least 1",
                                                   model::kMpsClientsAttribute,
                                                   resources.mps_clients_max));
  }
  return CheckGpus(resources.gpus);
}

bool ByName(const Attribute& a, const Attribute& b) { return a.name < b.name; }

// Sorted, each name once. The agent ends for good when the answer lacks one that it sent, so two
// values for one name are refused instead of dropping one.
absl::StatusOr<std::vector<Attribute>> CheckAttributes(std::vector<Attribute> attributes) {
  if (attributes.size() > kAttributesMax) {
    return model::InvalidParameter(
        absl::StrFormat("the registration names %d attributes; at most %d are allowed",
                        attributes.size(), kAttributesMax));
  }
  std::stable_sort(attributes.begin(), attributes.end(), ByName);
  attributes.erase(std::unique(attributes.begin(), attributes.end()), attributes.end());
  const auto twice =
      std::adjacent_find(attributes.begin(), attributes.end(),
                         [](const Attribute& a, const Attribute& b) { return a.name == b.name; });
  if (twice != attributes.end()) {
    return model::InvalidParameter(
        absl::StrFormat("attribute %s is given twice with different values", twice->name));
  }
  for (const Attribute& attribute : attributes) {
    // What the official agents say of themselves is theirs to spell.
    if (model::IsReservedAttribute(attribute.name)) continue;
    if (absl::Status status = model::CheckAttribute(attribute); !status.ok()) return status;
  }
  return attributes;
}

// What is sent, and the operator's attributes that are not sent any more: agents send those the
// first time only, so they must outlive later registrations. The reserved ones come every time.
std::vector<Attribute> MergeAttributes(const std::vector<Attribute>& kept,
                                       std::vector<Attribute> sent) {
  const size_t sent_count = sent.size();
  for (const Attribute& attribute : kept) {
    const auto end = sent.begin() + static_cast<std::ptrdiff_t>(sent_count);
    if (!model::IsReservedAttribute(attribute.name) &&
        !std::binary_search(sent.begin(), end, attribute, ByName)) {
      sent.push_back(attribute);
    }
  }
  std::sort(sent.begin(), sent.end(), ByName);
  return sent;
}

// Why the machine cannot take the place of its former self, if so.
absl::Status CheckReturn(const Account& account, const ClusterState& cluster,
                         const InstanceEntry* entry, const RegisterContainerInstance& command) {
  const std::string& id = command.existing->value;
  if (entry == nullptr) {
    return model::ClientError(
        absl::StrFormat("container instance %s is not known in cluster %s; remove the agent's "
                        "state and register as new",
                        id, cluster.record()->name.value));
  }
  if (absl::Status status = CheckMayOwn(account, command.agent_key, *entry); !status.ok()) {
    return status;
  }
  if (entry->record->status == InstanceStatus::kInactive) {
    return model::ClientError(absl::StrFormat(
        "container instance %s is INACTIVE; remove the agent's state and register as new", id));
  }
  const InstanceEntry* other = command.ec2_instance_id.empty()
                                   ? nullptr
                                   : cluster.FindInstanceByMachine(command.ec2_instance_id);
  if (other != nullptr && other != entry) {
    return model::ClientError(absl::StrFormat(
        "machine %s is registered as container instance %s, not %s; remove the agent's state and "
        "register as new",
        command.ec2_instance_id, other->record->id.value, id));
  }
  InstanceUse use;
  for (const TaskEntry* task : entry->live) {
    const auto taken = use.Add(ReservationOf(*task->record));
    BERTH_CHECK(!taken.has_value());
  }
  if (const auto excess = FindExcess(use, command.resources)) {
    return model::ClientError(absl::StrFormat(
        "Container instance type changes are not supported. Tasks on container instance %s hold %s",
        id, *excess));
  }
  return absl::OkStatus();
}

void Refresh(ContainerInstance& instance, const RegisterContainerInstance& command,
             std::vector<Attribute> attributes) {
  instance.resources = command.resources;
  std::sort(instance.resources.reserved_tcp_ports.begin(),
            instance.resources.reserved_tcp_ports.end());
  std::sort(instance.resources.reserved_udp_ports.begin(),
            instance.resources.reserved_udp_ports.end());
  instance.attributes = MergeAttributes(instance.attributes, std::move(attributes));
  instance.version_info = command.version_info;
  instance.registration_token = command.client_token;
  instance.emulated = command.emulated;
  if (!command.ec2_instance_id.empty()) instance.ec2_instance_id = command.ec2_instance_id;
  if (!command.tags.empty()) instance.tags = command.tags;
  // An operator who registers it anew does not take it from its agent.
  if (instance.registered_by.empty() || !command.agent_key.empty()) {
    instance.registered_by = command.registered_by;
  }
}

model::InstanceId NewInstanceId(const ClusterState& cluster, model::IdSource& ids) {
  model::InstanceId id{ids.NewHex32()};
  while (cluster.FindInstance(id) != nullptr) id.value = ids.NewHex32();
  return id;
}

InstanceEntry& RegisterNew(Decision& decision, ClusterState& cluster,
                           const RegisterContainerInstance& command,
                           std::vector<Attribute> attributes, Context context) {
  if (InstanceEntry* former = cluster.FindInstanceByMachine(command.ec2_instance_id)) {
    ForceOut(decision, cluster, *former,
             {.code = model::StopCode::kTerminationNotice, .reason = kReplacedReason}, context.now);
  }
  ContainerInstance instance{.id = NewInstanceId(cluster, context.ids),
                             .cluster = command.cluster,
                             .registered_at = context.now};
  Refresh(instance, command, std::move(attributes));
  return decision.AddInstance(cluster, std::move(instance));
}

// The agent of a registration is taken to be there: it is the one who asks.
Outcome<InstanceSnapshot> Registered(Decision& decision, const ClusterState& cluster,
                                     InstanceEntry& entry) {
  InstanceSnapshot snapshot = cluster.Snapshot(entry);
  snapshot.agent_connected = true;
  decision.Saw(entry.change);
  return decision.Answer(std::move(snapshot));
}

}  // namespace

Outcome<RegisterContainerInstance::Reply> Decide(State& state,
                                                 const RegisterContainerInstance& command,
                                                 Context context) {
  Decision decision(state);
  ClusterState* cluster = decision.state().FindActiveCluster(command.cluster);
  if (cluster == nullptr) return decision.Refuse<InstanceSnapshot>(model::ClusterNotFound());

  if (!command.client_token.empty()) {
    if (InstanceEntry* same = cluster->FindInstanceByToken(command.client_token)) {
      if (absl::Status status = CheckMayOwn(decision.state().account, command.agent_key, *same);
          !status.ok()) {
        return decision.Refuse<InstanceSnapshot>(std::move(status));
      }
      if (same->record->status != InstanceStatus::kInactive) {
        return Registered(decision, *cluster, *same);
      }
      // A repeat that comes late must not bring back a machine that was taken out since.
      decision.Saw(same->change);
      return decision.Refuse<InstanceSnapshot>(model::ClientError(absl::StrFormat(
          "the registration with this clientToken made container instance %s, which is INACTIVE; "
          "register as new with another clientToken",
          same->record->id.value)));
    }
  }

  if (absl::Status status = CheckResources(command.resources); !status.ok()) {
    return decision.Refuse<InstanceSnapshot>(std::move(status));
  }
  absl::StatusOr<std::vector<Attribute>> attributes = CheckAttributes(command.attributes);
  if (!attributes.ok()) return decision.Refuse<InstanceSnapshot>(attributes.status());

  InstanceEntry* entry = nullptr;
  if (command.existing) {
    entry = cluster->FindInstance(*command.existing);
    if (absl::Status status = CheckReturn(decision.state().account, *cluster, entry, command);
        !status.ok()) {
      return decision.Refuse<InstanceSnapshot>(std::move(status));
    }
    ContainerInstance next = *entry->record;
    Refresh(next, command, *std::move(attributes));
    next.version += 1;
    const bool other_agent = next.emulated != entry->record->emulated;
    decision.PutInstance(*cluster, *entry, std::move(next));
    if (other_agent) cluster->SetConnected(*entry, command.emulated, context.now);
  } else {
    const InstanceEntry* former = cluster->FindInstanceByMachine(command.ec2_instance_id);
    if (former != nullptr) {
      absl::Status status = CheckMayOwn(decision.state().account, command.agent_key, *former);
      if (!status.ok()) return decision.Refuse<InstanceSnapshot>(std::move(status));
    }
    entry = &RegisterNew(decision, *cluster, command, *std::move(attributes), context);
    if (command.emulated) cluster->SetConnected(*entry, true, context.now);
  }
  return Registered(decision, *cluster, *entry);
}

}  // namespace berth::scheduler
