#include "placement/instance.h"

#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "model/check.h"

namespace berth::placement {
namespace {

using model::GpuUse;

bool Contains(const std::vector<int64_t>& sorted, int64_t value) {
  return std::binary_search(sorted.begin(), sorted.end(), value);
}

void InsertSorted(std::vector<int64_t>& sorted, int64_t value) {
  sorted.insert(std::lower_bound(sorted.begin(), sorted.end(), value), value);
}

void EraseSorted(std::vector<int64_t>& sorted, int64_t value) {
  const auto found = std::lower_bound(sorted.begin(), sorted.end(), value);
  BERTH_CHECK(found != sorted.end() && *found == value);
  sorted.erase(found);
}

std::vector<int64_t> Sorted(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

template <class T>
bool HasTwice(const std::vector<T>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = i + 1; j < values.size(); ++j) {
      if (values[i] == values[j]) return true;
    }
  }
  return false;
}

std::vector<std::string> OfferedAttributes(const model::ContainerInstance& record,
                                           bool offers_gpu_sharing) {
  std::vector<std::string> names;
  names.reserve(record.attributes.size());
  for (const model::Attribute& attribute : record.attributes) {
    if (attribute.name == model::kGpuSharingCapability && !offers_gpu_sharing) continue;
    names.push_back(attribute.name);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::vector<model::Attribute> ValuedAttributes(const model::ContainerInstance& record) {
  std::vector<model::Attribute> valued;
  for (const model::Attribute& attribute : record.attributes) {
    if (attribute.value && !attribute.value->empty()) valued.push_back(attribute);
  }
  std::stable_sort(valued.begin(), valued.end(),
                   [](const auto& a, const auto& b) { return a.name < b.name; });
  return valued;
}

// Lowest id first, so that ties between devices go by a small integer.
void RankDevices(std::vector<Device>& devices) {
  std::vector<Device*> by_id;
  for (Device& device : devices) by_id.push_back(&device);
  std::sort(by_id.begin(), by_id.end(),
            [](const Device* a, const Device* b) { return a->id < b->id; });
  for (size_t i = 0; i < by_id.size(); ++i) by_id[i]->rank = static_cast<int32_t>(i);
}

// The devices registered now, each with what tasks hold of it, then those that are gone and held.
std::vector<Device> MergeDevices(const std::vector<model::Gpu>& registered,
                                 std::vector<Device> before) {
  std::vector<Device> devices;
  std::set<model::GpuId> seen;
  for (const model::Gpu& gpu : registered) {
    if (!seen.insert(gpu.id).second) continue;
    const auto old = std::find_if(before.begin(), before.end(),
                                  [&gpu](const Device& device) { return device.id == gpu.id; });
    Device device = old == before.end() ? Device{.id = gpu.id} : *old;
    device.registered = true;
    device.total_memory_mib = gpu.memory_mib;
    devices.push_back(std::move(device));
  }
  for (Device& device : before) {
    if (device.use == GpuUse::kIdle || seen.contains(device.id)) continue;
    device.registered = false;
    device.total_memory_mib = 0;
    devices.push_back(std::move(device));
  }
  RankDevices(devices);
  return devices;
}

bool HoldsMoreThanItHas(const Instance& instance) {
  bool holds_more = instance.reserved_cpu_units > instance.total_cpu_units ||
                    instance.reserved_memory_mib > instance.total_memory_mib;
  for (const Device& device : instance.devices) {
    holds_more |= device.reserved_memory_mib > device.total_memory_mib ||
                  device.containers > std::max<int64_t>(1, instance.mps_clients_max);
    holds_more |= !device.registered;
  }
  return holds_more;
}

GpuFigures FiguresOf(const Instance& instance) {
  GpuFigures figures;
  for (const Device& device : instance.devices) {
    if (!device.registered) continue;
    ++figures.registered;
    if (device.IsIdle()) ++figures.idle;
    figures.largest_mib = std::max(figures.largest_mib, device.total_memory_mib);
    const int64_t gap_mib = device.remaining_memory_mib();
    figures.free_memory_mib += gap_mib;
    if (gap_mib < figures.largest_gap_mib) continue;
    const int64_t clients = FreeMpsClients(instance, device);
    if (gap_mib > figures.largest_gap_mib) figures.gap_clients = 0;
    figures.largest_gap_mib = gap_mib;
    figures.gap_clients = std::max(figures.gap_clients, clients);
  }
  return figures;
}

bool ArePortsFree(const Instance& instance, const Reservation& reservation) {
  const auto any_in_use = [&instance](model::Protocol protocol, const std::vector<int64_t>& ports) {
    return std::any_of(ports.begin(), ports.end(), [&instance, protocol](int64_t port) {
      return IsPortInUse(instance, protocol, port);
    });
  };
  return !any_in_use(model::Protocol::kTcp, reservation.tcp_ports) &&
         !any_in_use(model::Protocol::kUdp, reservation.udp_ports);
}

bool AreGpusFree(const Instance& instance, const Reservation& reservation) {
  for (const model::GpuId& id : reservation.gpus) {
    const Device* device = FindDevice(instance, id);
    if (device == nullptr || !device->registered) return false;
    if (reservation.gpu_use == GpuUse::kDedicated) {
      if (device->use != GpuUse::kIdle) return false;
    } else if (!instance.offers_gpu_sharing || device->use == GpuUse::kDedicated ||
               device->remaining_memory_mib() < reservation.gpu_memory_mib ||
               FreeMpsClients(instance, *device) < reservation.gpu_containers) {
      return false;
    }
  }
  return true;
}

// How many GPUs it has whole, 0 when it shares one; nothing when it has none.
std::optional<size_t> WholeGpus(const Reservation& reservation) {
  if (reservation.gpu_use == GpuUse::kIdle) return std::nullopt;
  return reservation.gpu_use == GpuUse::kDedicated ? reservation.gpus.size() : 0;
}

// What any reservation must be, wherever it goes.
bool IsWellFormed(const Reservation& reservation) {
  if (reservation.cpu_units < 0 || reservation.memory_mib < 0) return false;
  if (HasTwice(reservation.tcp_ports) || HasTwice(reservation.udp_ports)) return false;
  switch (reservation.gpu_use) {
    case GpuUse::kIdle:
      return reservation.gpus.empty();
    case GpuUse::kDedicated:
      return !reservation.gpus.empty() && !HasTwice(reservation.gpus);
    case GpuUse::kNvidiaMps:
      return reservation.gpus.size() == 1 && reservation.gpu_memory_mib >= 1 &&
             reservation.gpu_containers >= 1;
  }
  return false;
}

}  // namespace

void CountGpus(Instance& instance) { instance.gpu_figures = FiguresOf(instance); }

int64_t RegisteredGpus(const Instance& instance) { return instance.gpu_figures.registered; }

int64_t IdleGpus(const Instance& instance) { return instance.gpu_figures.idle; }

int64_t FreeMpsClients(const Instance& instance, const Device& device) {
  if (device.use == GpuUse::kDedicated) return 0;
  return std::max<int64_t>(0, instance.mps_clients_max - device.containers);
}

bool HasAttribute(const Instance& instance, std::string_view name) {
  return std::binary_search(instance.attributes.begin(), instance.attributes.end(), name,
                            std::less<>());
}

std::optional<std::string_view> AttributeValue(const Instance& instance, std::string_view name) {
  const auto found =
      std::lower_bound(instance.valued_attributes.begin(), instance.valued_attributes.end(), name,
                       [](const model::Attribute& attribute, std::string_view other) {
                         return attribute.name < other;
                       });
  if (found != instance.valued_attributes.end() && found->name == name) return *found->value;
  const bool is_kept_back = name == model::kGpuSharingCapability && instance.registers_gpu_sharing;
  if (is_kept_back || HasAttribute(instance, name)) return "";
  return std::nullopt;
}

bool IsPortInUse(const Instance& instance, model::Protocol protocol, int64_t port) {
  if (protocol == model::Protocol::kTcp) {
    return Contains(instance.host_tcp_ports, port) || Contains(instance.task_tcp_ports, port);
  }
  return Contains(instance.host_udp_ports, port) || Contains(instance.task_udp_ports, port);
}

const Device* FindDevice(const Instance& instance, const model::GpuId& id) {
  for (const Device& device : instance.devices) {
    if (device.id == id) return &device;
  }
  return nullptr;
}

Device* FindDevice(Instance& instance, const model::GpuId& id) {
  return const_cast<Device*>(FindDevice(std::as_const(instance), id));
}

void Register(Instance& instance, const model::ContainerInstance& record) {
  const model::RegisteredResources& resources = record.resources;
  instance.total_cpu_units = resources.cpu_units;
  instance.total_memory_mib = resources.memory_mib;
  instance.host_tcp_ports = Sorted(resources.reserved_tcp_ports);
  instance.host_udp_ports = Sorted(resources.reserved_udp_ports);
  instance.mps_clients_max = resources.mps_clients_max;
  instance.registers_gpu_sharing =
      model::FindAttribute(record, model::kGpuSharingCapability) != nullptr;
  instance.offers_gpu_sharing = model::OffersGpuSharing(record);
  instance.attributes = OfferedAttributes(record, instance.offers_gpu_sharing);
  instance.is_external = HasAttribute(instance, model::kExternalCapability);
  instance.devices = MergeDevices(resources.gpus, std::move(instance.devices));
  instance.valued_attributes = ValuedAttributes(record);
  instance.agent_version = record.version_info.agent_version;
  instance.ec2_instance_id = record.ec2_instance_id;
  instance.registered_at = record.registered_at;
  instance.active = record.status == model::InstanceStatus::kActive;
  instance.shrunk = HoldsMoreThanItHas(instance);
  CountGpus(instance);
}

bool IsFree(const Instance& instance, const Reservation& reservation) {
  return IsWellFormed(reservation) && reservation.cpu_units <= instance.remaining_cpu_units() &&
         reservation.memory_mib <= instance.remaining_memory_mib() &&
         ArePortsFree(instance, reservation) && AreGpusFree(instance, reservation);
}

bool IsConsistent(const Instance& instance, const Reservation& reservation) {
  if (!IsWellFormed(reservation)) return false;
  // The host's own ports may have come to include one that a task had first.
  for (const int64_t port : reservation.tcp_ports) {
    if (Contains(instance.task_tcp_ports, port)) return false;
  }
  for (const int64_t port : reservation.udp_ports) {
    if (Contains(instance.task_udp_ports, port)) return false;
  }
  for (const model::GpuId& id : reservation.gpus) {
    const Device* device = FindDevice(instance, id);
    if (device == nullptr || device->use == GpuUse::kIdle) continue;
    if (device->use == GpuUse::kDedicated || reservation.gpu_use == GpuUse::kDedicated)
      return false;
  }
  return true;
}

void Hold(Instance& instance, const Reservation& reservation) {
  ++instance.reservations;
  if (const std::optional<size_t> gpus = WholeGpus(reservation)) {
    if (*gpus >= instance.tasks_by_gpus.size()) instance.tasks_by_gpus.resize(*gpus + 1);
    ++instance.tasks_by_gpus[*gpus];
  }
  instance.reserved_cpu_units += reservation.cpu_units;
  instance.reserved_memory_mib += reservation.memory_mib;
  for (const int64_t port : reservation.tcp_ports) InsertSorted(instance.task_tcp_ports, port);
  for (const int64_t port : reservation.udp_ports) InsertSorted(instance.task_udp_ports, port);
  for (const model::GpuId& id : reservation.gpus) {
    Device* device = FindDevice(instance, id);
    if (device == nullptr) {
      device = &instance.devices.emplace_back(Device{.id = id, .registered = false});
      RankDevices(instance.devices);
    }
    device->use = reservation.gpu_use;
    if (reservation.gpu_use == GpuUse::kDedicated) {
      device->containers = 1;
    } else {
      device->reserved_memory_mib += reservation.gpu_memory_mib;
      device->containers += reservation.gpu_containers;
    }
  }
  if (!reservation.gpus.empty()) CountGpus(instance);
}

void Restore(Instance& instance, const Reservation& reservation) {
  Hold(instance, reservation);
  instance.shrunk = HoldsMoreThanItHas(instance);
}

void LetGo(Instance& instance, const Reservation& reservation) {
  --instance.reservations;
  if (const std::optional<size_t> gpus = WholeGpus(reservation)) {
    BERTH_CHECK(--instance.tasks_by_gpus[*gpus] >= 0);
  }
  instance.reserved_cpu_units -= reservation.cpu_units;
  instance.reserved_memory_mib -= reservation.memory_mib;
  BERTH_CHECK(instance.reservations >= 0 && instance.reserved_cpu_units >= 0 &&
              instance.reserved_memory_mib >= 0);
  for (const int64_t port : reservation.tcp_ports) EraseSorted(instance.task_tcp_ports, port);
  for (const int64_t port : reservation.udp_ports) EraseSorted(instance.task_udp_ports, port);
  for (const model::GpuId& id : reservation.gpus) {
    Device* device = FindDevice(instance, id);
    BERTH_CHECK(device != nullptr && device->use == reservation.gpu_use);
    if (reservation.gpu_use == GpuUse::kDedicated) {
      device->containers = 0;
    } else {
      device->reserved_memory_mib -= reservation.gpu_memory_mib;
      device->containers -= reservation.gpu_containers;
      BERTH_CHECK(device->reserved_memory_mib >= 0 && device->containers >= 0);
    }
    if (device->containers > 0) continue;
    BERTH_CHECK(device->reserved_memory_mib == 0);
    device->use = GpuUse::kIdle;
    if (!device->registered) {
      instance.devices.erase(instance.devices.begin() + (device - instance.devices.data()));
      RankDevices(instance.devices);
    }
  }
  if (!reservation.gpus.empty()) CountGpus(instance);
  if (instance.shrunk) instance.shrunk = HoldsMoreThanItHas(instance);
}

InstanceState StateOf(const Instance& instance) {
  InstanceState state;
  state.remaining_cpu_units = instance.remaining_cpu_units();
  state.remaining_memory_mib = instance.remaining_memory_mib();
  std::set_union(instance.host_tcp_ports.begin(), instance.host_tcp_ports.end(),
                 instance.task_tcp_ports.begin(), instance.task_tcp_ports.end(),
                 std::back_inserter(state.tcp_ports_in_use));
  std::set_union(instance.host_udp_ports.begin(), instance.host_udp_ports.end(),
                 instance.task_udp_ports.begin(), instance.task_udp_ports.end(),
                 std::back_inserter(state.udp_ports_in_use));
  for (const Device& device : instance.devices) {
    state.gpus.push_back({.id = device.id,
                          .use = device.use,
                          .total_memory_mib = device.total_memory_mib,
                          .remaining_memory_mib = device.remaining_memory_mib(),
                          .containers = device.containers});
  }
  return state;
}

std::vector<std::string> FindViolations(const Instance& instance) {
  std::vector<std::string> violations;
  const auto expect = [&](bool holds, const std::string& otherwise) {
    if (!holds) violations.push_back("instance " + instance.id.value + " " + otherwise);
  };
  const bool excused = instance.shrunk;
  expect(instance.reserved_cpu_units >= 0 && instance.reserved_memory_mib >= 0,
         "holds less than nothing");
  expect(excused || instance.reserved_cpu_units <= instance.total_cpu_units,
         "has promised more CPU than it has");
  expect(excused || instance.reserved_memory_mib <= instance.total_memory_mib,
         "has promised more memory than it has");
  for (const auto* ports : {&instance.task_tcp_ports, &instance.task_udp_ports}) {
    expect(std::adjacent_find(ports->begin(), ports->end(), std::greater_equal<>()) == ports->end(),
           "has promised a port twice");
  }
  expect(instance.gpu_figures == FiguresOf(instance), "counts other GPUs than it has");
  for (const Device& device : instance.devices) {
    const std::string gpu = "GPU " + device.id.value + " ";
    switch (device.use) {
      case GpuUse::kIdle:
        expect(device.reserved_memory_mib == 0 && device.containers == 0,
               "has IDLE " + gpu + "with containers");
        expect(device.registered, "keeps " + gpu + "which is gone and not held");
        break;
      case GpuUse::kDedicated:
        expect(device.reserved_memory_mib == 0 && device.containers == 1,
               "has DEDICATED " + gpu + "with other than one container");
        break;
      case GpuUse::kNvidiaMps:
        expect(device.reserved_memory_mib > 0 && device.containers > 0,
               "has NVIDIA_MPS " + gpu + "without containers");
        expect(excused || device.reserved_memory_mib <= device.total_memory_mib,
               "has promised more memory of " + gpu + "than it has");
        expect(excused || device.containers <= instance.mps_clients_max,
               "has promised more MPS clients of " + gpu + "than it takes");
        break;
    }
  }
  return violations;
}

}  // namespace berth::placement
