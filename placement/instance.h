// A container instance as placement keeps it: what it registered, what tasks hold, and what
// follows. Inside placement/ only.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "model/container_instance.h"
#include "model/gpu.h"
#include "model/ids.h"
#include "model/task_definition.h"
#include "placement/fit_index.h"
#include "placement/inventory.h"
#include "placement/task_groups.h"

namespace berth::placement {

struct CapabilityClass;

struct Device {
  model::GpuId id = {};
  // False: the latest registration left it out, and it is kept only until its tasks end.
  bool registered = true;
  int64_t total_memory_mib = 0;  // 0: unknown, dedicated use only
  int32_t rank = 0;              // of its id within the instance, lowest first

  model::GpuUse use = model::GpuUse::kIdle;
  int64_t reserved_memory_mib = 0;  // kNvidiaMps
  int64_t containers = 0;           // kNvidiaMps; 1 when kDedicated

  int64_t remaining_memory_mib() const {
    if (use == model::GpuUse::kDedicated) return 0;
    return std::max<int64_t>(0, total_memory_mib - reserved_memory_mib);
  }
  bool IsIdle() const { return registered && use == model::GpuUse::kIdle; }
};

// What an instance's devices come to, so that a look at many instances need not go through them
// all. Those that are gone count for nothing.
struct GpuFigures {
  int64_t registered = 0;
  int64_t idle = 0;
  int64_t largest_mib = 0;      // the memory of one
  int64_t largest_gap_mib = 0;  // what is left of it on one
  int64_t gap_clients = 0;      // the MPS clients that are free there: of several such the most
  int64_t free_memory_mib = 0;  // what is left on all together

  bool operator==(const GpuFigures&) const = default;
};

// The indexes that one class of instances has; an entry stands for a GPU or for an instance.
enum class IndexKind {
  kSharedGpus,         // by remaining GPU memory: NVIDIA_MPS devices
  kSharableIdleGpus,   // by remaining GPU memory: IDLE devices whose instance offers sharing
  kIdleGpuCount,       // by IDLE devices: instances
  kAllGpusIdle,        // by IDLE devices: instances that have no other
  kMemoryWithoutGpus,  // by remaining memory: instances without a GPU
  kMemoryWithGpus,     // by remaining memory: instances with GPUs
  kNone,
};
inline constexpr int kIndexKinds = static_cast<int>(IndexKind::kNone);

// The indexes in groups, each brought up to date when a demand first asks for it.
enum class IndexGroup { kMemory, kIdleCounts, kSharing };
inline constexpr int kIndexGroups = 3;

// Where one entry of an instance stands, so that it is found again when it has to move.
struct IndexPosition {
  IndexKind kind = IndexKind::kNone;
  FitKey key = {};
  Room room = {};
};

struct Instance {
  model::InstanceId id = {};
  uint64_t id_prefix = 0;
  int32_t slot = 0;

  // As registered.
  int64_t total_cpu_units = 0;
  int64_t total_memory_mib = 0;
  std::vector<int64_t> host_tcp_ports = {};  // sorted, as all ports here
  std::vector<int64_t> host_udp_ports = {};
  int64_t mps_clients_max = 0;
  bool registers_gpu_sharing =
      false;  // the capability; without every GPU's memory it is not offered
  bool offers_gpu_sharing = false;
  bool is_external = false;
  // Names, sorted. Without the sharing capability when it is registered but not offered.
  std::vector<std::string> attributes = {};
  std::vector<Device> devices = {};  // in registered order, then those that are gone
  // What queries ask for. Of the attributes only those with a value, sorted by name: most are
  // capabilities, which have none.
  std::vector<model::Attribute> valued_attributes = {};
  std::string agent_version = {};
  std::string ec2_instance_id = {};
  absl::Time registered_at = absl::InfinitePast();

  bool active = true;  // the record's status
  bool eligible = false;
  bool connected = false;
  int64_t running_tasks = 0;

  // Held by tasks.
  int64_t reservations = 0;
  int64_t reserved_cpu_units = 0;
  int64_t reserved_memory_mib = 0;
  std::vector<int64_t> task_tcp_ports = {};
  std::vector<int64_t> task_udp_ports = {};
  // How many share a GPU, have one whole, have two whole, ...: those without a GPU are left out.
  std::vector<int32_t> tasks_by_gpus = {};
  GroupCounts groups = {};  // upkept by Inventory
  // It registered, or was restored, with less than its tasks hold. Until they end this excuses what
  // would otherwise be over-committed.
  bool shrunk = false;

  // Upkept by Inventory::Impl.
  CapabilityClass* capability_class = nullptr;
  uint64_t busy_ports = 0;
  std::array<std::vector<IndexPosition>, kIndexGroups> positions = {};  // by IndexGroup

  GpuFigures gpu_figures = {};  // of `devices`; whoever changes those calls CountGpus

  int64_t remaining_cpu_units() const {
    return std::max<int64_t>(0, total_cpu_units - reserved_cpu_units);
  }
  int64_t remaining_memory_mib() const {
    return std::max<int64_t>(0, total_memory_mib - reserved_memory_mib);
  }
};

// Has its figures follow its devices.
void CountGpus(Instance& instance);
int64_t RegisteredGpus(const Instance& instance);
int64_t IdleGpus(const Instance& instance);
int64_t FreeMpsClients(const Instance& instance, const Device& device);
bool HasAttribute(const Instance& instance, std::string_view name);
// As clients see it, so with the sharing capability also where it is not offered. A name without a
// value has the empty one; nothing when it is not there.
std::optional<std::string_view> AttributeValue(const Instance& instance, std::string_view name);
bool IsPortInUse(const Instance& instance, model::Protocol protocol, int64_t port);
const Device* FindDevice(const Instance& instance, const model::GpuId& id);
Device* FindDevice(Instance& instance, const model::GpuId& id);

// Takes over a registration; what tasks hold stays.
void Register(Instance& instance, const model::ContainerInstance& record);

// Whether all of it is free. False also when it makes no sense, such as one device twice.
bool IsFree(const Instance& instance, const Reservation& reservation);
// Whether it contradicts nothing that is held. Less strict: it need not fit.
bool IsConsistent(const Instance& instance, const Reservation& reservation);
// Requires: IsFree.
void Hold(Instance& instance, const Reservation& reservation);
// Requires: IsConsistent.
void Restore(Instance& instance, const Reservation& reservation);
// Requires: it is held.
void LetGo(Instance& instance, const Reservation& reservation);

InstanceState StateOf(const Instance& instance);
// Every broken invariant of this instance, in words.
std::vector<std::string> FindViolations(const Instance& instance);

}  // namespace berth::placement
