// A container instance: a registered machine. What it has is registered; what is still free is
// remaining, and derived from the tasks on it (placement/inventory.h), never stored.
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
#include "model/task_status.h"

namespace berth::model {

struct Attribute {
  std::string name = {};
  std::optional<std::string> value = std::nullopt;

  bool operator==(const Attribute&) const = default;
};

// What the machine has: the totals, the host's own ports, the devices.
struct RegisteredResources {
  int64_t cpu_units = 0;
  int64_t memory_mib = 0;
  std::vector<int64_t> reserved_tcp_ports = {};  // in use by the host itself; sorted
  std::vector<int64_t> reserved_udp_ports = {};
  std::vector<Gpu> gpus = {};
  int64_t mps_clients_max = kMpsClientsMaxDefault;  // per device

  bool operator==(const RegisteredResources&) const = default;
};

struct VersionInfo {
  std::string agent_version = {};
  std::string agent_hash = {};
  std::string docker_version = {};

  bool operator==(const VersionInfo&) const = default;
};

struct ContainerInstance {
  InstanceId id = {};
  int64_t sequence = 0;  // primary key in the store
  ClusterName cluster = {};
  std::string ec2_instance_id = {};
  InstanceStatus status = InstanceStatus::kActive;
  std::string status_reason = {};
  int64_t version = 1;
  RegisteredResources resources = {};
  std::vector<Attribute> attributes = {};  // as sent, plus the built-in ones; sorted by name
  VersionInfo version_info = {};
  Tags tags = {};
  std::string registration_token = {};  // clientToken of the latest registration
  // The access key that registered it: a key of role agent may speak for this instance only when it
  // is this one. Empty: registered without authentication, or before there was any.
  std::string registered_by = {};
  // No agent of its own: the server stands in for it (--emulate-agents).
  bool emulated = false;
  absl::Time registered_at = absl::InfinitePast();
  absl::Time deregistered_at = absl::InfinitePast();  // InfinitePast: never
};

using InstanceRecord = std::shared_ptr<const ContainerInstance>;

inline constexpr char kGpuSharingCapability[] = "ecs.capability.gpu-sharing-mps";
inline constexpr char kExternalCapability[] = "ecs.capability.external";
// The value is the MPS client limit per GPU that the agent found (48, or 60 from CUDA 13.1 on).
inline constexpr char kMpsClientsAttribute[] = "berth.mps-clients-max";

// The attribute of that name, or null.
const Attribute* FindAttribute(const ContainerInstance& instance, std::string_view name);
// Sharing is offered when the capability is there and every GPU has a memory figure.
bool OffersGpuSharing(const ContainerInstance& instance);

}  // namespace berth::model
