#include "placement/inventory.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "model/check.h"
#include "placement/instance_query.h"
#include "placement/inventory_impl.h"
#include "placement/task_shapes.h"

namespace berth::placement {
namespace {

using model::Protocol;

constexpr int32_t kLoggedSlotsMin = 16;

uint64_t BusyPortsOf(const Instance& instance, const BusyPorts& busy_ports) {
  uint64_t bits = 0;
  for (const HostPort& port : PortsInUse(instance)) bits |= busy_ports.BitOf(port);
  return bits;
}

// The reservation's ports that the host does not have in use itself (it may, after it registered
// anew): those that come into use, or go out of use, with the reservation.
std::vector<HostPort> TaskPorts(const Instance& instance, const Reservation& reservation) {
  std::vector<HostPort> ports;
  const auto append = [&ports](Protocol protocol, const std::vector<int64_t>& numbers,
                               const std::vector<int64_t>& host_ports) {
    for (const int64_t port : numbers) {
      if (std::binary_search(host_ports.begin(), host_ports.end(), port)) continue;
      ports.push_back({protocol, port});
    }
  };
  append(Protocol::kTcp, reservation.tcp_ports, instance.host_tcp_ports);
  append(Protocol::kUdp, reservation.udp_ports, instance.host_udp_ports);
  return ports;
}

std::vector<HostPort> Without(const std::vector<HostPort>& ports,
                              const std::vector<HostPort>& others) {
  std::vector<HostPort> left;
  std::set_difference(ports.begin(), ports.end(), others.begin(), others.end(),
                      std::back_inserter(left));
  return left;
}

}  // namespace

std::vector<HostPort> PortsInUse(const Instance& instance) {
  std::vector<HostPort> ports;
  for (const auto* tcp : {&instance.host_tcp_ports, &instance.task_tcp_ports}) {
    for (const int64_t port : *tcp) ports.push_back({Protocol::kTcp, port});
  }
  for (const auto* udp : {&instance.host_udp_ports, &instance.task_udp_ports}) {
    for (const int64_t port : *udp) ports.push_back({Protocol::kUdp, port});
  }
  std::sort(ports.begin(), ports.end());
  ports.erase(std::unique(ports.begin(), ports.end()), ports.end());
  return ports;
}

Instance& Inventory::Impl::Add(const model::InstanceId& id) {
  if (free_slots.empty()) {
    free_slots.push_back(static_cast<int32_t>(instances.size()));
    instances.emplace_back();
  }
  const int32_t slot = free_slots.back();
  free_slots.pop_back();
  if (slot >= logged_slots) {
    logged_slots = std::max(kLoggedSlotsMin, 2 * logged_slots);
    changes.Reset(logged_slots);
    registrations.Reset(logged_slots);
  }
  slots_by_id.emplace(id, slot);
  instances[slot] = std::make_unique<Instance>();
  Instance& instance = *instances[slot];
  instance.id = id;
  instance.id_prefix = IdPrefix(id);
  instance.slot = slot;
  return instance;
}

const Instance* Inventory::Impl::Find(const model::InstanceId& id) const {
  const auto found = slots_by_id.find(id);
  return found == slots_by_id.end() ? nullptr : instances[found->second].get();
}

Instance* Inventory::Impl::Find(const model::InstanceId& id) {
  return const_cast<Instance*>(std::as_const(*this).Find(id));
}

Instance& Inventory::Impl::At(const model::InstanceId& id) {
  Instance* instance = Find(id);
  BERTH_CHECK(instance != nullptr);
  return *instance;
}

void Inventory::Impl::UsePorts(Instance& instance, const std::vector<HostPort>& ports) {
  std::vector<int32_t> others;
  for (const HostPort& port : ports) {
    const std::vector<int32_t> changed = busy_ports.Use(port, instance.slot);
    others.insert(others.end(), changed.begin(), changed.end());
  }
  RefreshBusyPorts(instance, others);
}

void Inventory::Impl::LeavePorts(Instance& instance, const std::vector<HostPort>& ports) {
  std::vector<int32_t> others;
  for (const HostPort& port : ports) {
    const std::vector<int32_t> changed = busy_ports.Leave(port, instance.slot);
    others.insert(others.end(), changed.begin(), changed.end());
  }
  RefreshBusyPorts(instance, others);
}

void Inventory::Impl::RefreshBusyPorts(Instance& instance, const std::vector<int32_t>& others) {
  instance.busy_ports = BusyPortsOf(instance, busy_ports);
  for (const int32_t slot : others) {
    if (slot == instance.slot) continue;
    Instance& other = *instances[slot];
    other.busy_ports = BusyPortsOf(other, busy_ports);
    changes.Add(slot);
  }
}

Inventory::Inventory() : impl_(std::make_unique<Impl>()) {}
Inventory::~Inventory() = default;
Inventory::Inventory(Inventory&&) noexcept = default;
Inventory& Inventory::operator=(Inventory&&) noexcept = default;

void Inventory::Put(const model::ContainerInstance& record) {
  Instance* known = impl_->Find(record.id);
  Instance& instance = known != nullptr ? *known : impl_->Add(record.id);
  impl_->Unindex(instance);
  if (known != nullptr) impl_->attributes.Remove(instance);
  const std::vector<HostPort> ports_before = PortsInUse(instance);

  Register(instance, record);
  impl_->attributes.Add(instance);
  impl_->registrations.Add(instance.slot);

  CapabilityClass* before = instance.capability_class;
  instance.capability_class = impl_->classes.Join(instance.attributes);
  if (before != nullptr) impl_->classes.Leave(before);
  const std::vector<HostPort> ports_now = PortsInUse(instance);
  impl_->LeavePorts(instance, Without(ports_before, ports_now));
  impl_->UsePorts(instance, Without(ports_now, ports_before));
  impl_->changes.Add(instance.slot);
}

void Inventory::SetEligible(const model::InstanceId& id, bool eligible) {
  Instance& instance = impl_->At(id);
  if (instance.eligible == eligible) return;
  instance.eligible = eligible;
  impl_->eligible += eligible ? 1 : -1;
  impl_->changes.Add(instance.slot);
}

void Inventory::SetConnected(const model::InstanceId& id, bool connected) {
  Instance& instance = impl_->At(id);
  if (instance.connected == connected) return;
  instance.connected = connected;
  impl_->changes.Add(instance.slot);
}

void Inventory::SetRunningTasks(const model::InstanceId& id, int64_t running_tasks) {
  Instance& instance = impl_->At(id);
  if (instance.running_tasks == running_tasks) return;
  instance.running_tasks = running_tasks;
  impl_->changes.Add(instance.slot);
}

void Inventory::Remove(const model::InstanceId& id) {
  Instance& instance = impl_->At(id);
  BERTH_CHECK(instance.reservations == 0);
  impl_->Unindex(instance);
  impl_->eligible -= instance.eligible ? 1 : 0;
  impl_->attributes.Remove(instance);
  impl_->registrations.Add(instance.slot);
  impl_->changes.Add(instance.slot);
  impl_->classes.Leave(instance.capability_class);
  impl_->LeavePorts(instance, PortsInUse(instance));
  const int32_t slot = instance.slot;
  impl_->slots_by_id.erase(id);
  impl_->instances[slot] = nullptr;
  impl_->free_slots.push_back(slot);
}

void Inventory::Reserve(const model::InstanceId& id, const Reservation& reservation) {
  Instance& instance = impl_->At(id);
  BERTH_CHECK(IsFree(instance, reservation));
  const std::vector<HostPort> ports = TaskPorts(instance, reservation);
  Hold(instance, reservation);
  impl_->groups.Enter(reservation.group, instance.groups);
  if (!ports.empty()) impl_->UsePorts(instance, ports);
  impl_->changes.Add(instance.slot);
}

bool Inventory::Restore(const model::InstanceId& id, const Reservation& reservation) {
  Instance& instance = impl_->At(id);
  if (!IsConsistent(instance, reservation)) return false;
  const std::vector<HostPort> ports = TaskPorts(instance, reservation);
  placement::Restore(instance, reservation);
  impl_->groups.Enter(reservation.group, instance.groups);
  if (!ports.empty()) impl_->UsePorts(instance, ports);
  impl_->changes.Add(instance.slot);
  return true;
}

void Inventory::Release(const model::InstanceId& id, const Reservation& reservation) {
  Instance& instance = impl_->At(id);
  LetGo(instance, reservation);
  impl_->groups.Leave(reservation.group, instance.groups);
  const std::vector<HostPort> ports = TaskPorts(instance, reservation);
  if (!ports.empty()) impl_->LeavePorts(instance, ports);
  impl_->changes.Add(instance.slot);
}

void Inventory::SetGpuPolicy(ClusterGpuPolicy policy) { impl_->gpu_order.Set(policy); }

ClusterGpuPolicy Inventory::gpu_policy() const { return impl_->gpu_order.policy(); }

void Inventory::NoteArrival(const Demand& demand) {
  impl_->gpu_order.NoteArrival(ShapeOf(demand), *impl_);
}

bool Inventory::Contains(const model::InstanceId& id) const { return impl_->Find(id) != nullptr; }

InstanceState Inventory::Find(const model::InstanceId& id) const {
  const Instance* instance = std::as_const(*impl_).Find(id);
  BERTH_CHECK(instance != nullptr);
  return StateOf(*instance);
}

InstanceFacts Inventory::Facts(const model::InstanceId& id) const {
  const Instance* instance = std::as_const(*impl_).Find(id);
  BERTH_CHECK(instance != nullptr);
  InstanceFacts facts{.connected = instance->connected, .running_tasks = instance->running_tasks};
  for (const GroupCount& count : instance->groups) {
    facts.tasks_by_group[impl_->groups.NameOf(count.group)] = count.tasks;
  }
  return facts;
}

bool Inventory::Matches(const model::InstanceId& id, const Query& query) const {
  const Instance* instance = std::as_const(*impl_).Find(id);
  BERTH_CHECK(instance != nullptr);
  return placement::Matches(*instance, query, impl_->groups);
}

int64_t Inventory::eligible() const { return impl_->eligible; }

int64_t Inventory::size() const { return static_cast<int64_t>(impl_->slots_by_id.size()); }

}  // namespace berth::placement
