#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "api/shapes/registration.h"
#include "model/errors.h"

namespace berth::api {

namespace {

using model::InvalidParameter;

constexpr std::string_view kInstanceTypeAttribute = "ecs.instance-type";
constexpr std::string_view kGpuMemoryPrefix = "GPU_MEMORY:";
constexpr std::string_view kGpu = "GPU";
// What totals may be: far above any machine, far below what sums could overflow.
constexpr int64_t kTotalMax = INT32_MAX;
constexpr int64_t kMpsClientsMaxMax = 1000;

// Usable memory per GPU of EC2 instance families (gpu-sharing.md R3). Fractional ones, such as g6f,
// do not share, so they are not here.
struct CatalogueEntry {
  std::string_view family;
  int64_t gpu_memory_mib;
};
constexpr CatalogueEntry kCatalogue[] = {
    {"g4dn", 14911},  // T4
    {"g5", 22587},    // A10G
    {"g6", 22563},    // L4
};

using Totals = std::map<std::string, const ResourceArgument*>;

absl::StatusOr<Totals> ByName(const std::vector<ResourceArgument>& resources) {
  Totals totals;
  for (const ResourceArgument& resource : resources) {
    if (resource.name.empty()) return InvalidParameter("an entry of totalResources has no name");
    if (!totals.emplace(resource.name, &resource).second) {
      return InvalidParameter(
          absl::StrFormat("totalResources names %s more than once", resource.name));
    }
  }
  return totals;
}

absl::StatusOr<int64_t> IntegerOf(const ResourceArgument& resource) {
  std::optional<int64_t> value;
  if (resource.type == "INTEGER") {
    value = resource.integer_value;
  } else if (resource.type == "LONG") {
    value = resource.long_value;
  } else if (resource.type == "DOUBLE") {
    const double given = resource.double_value.value_or(-1);
    if (given >= 0 && given <= static_cast<double>(kTotalMax) && given == std::floor(given)) {
      value = static_cast<int64_t>(given);
    }
  }
  if (!value || *value < 0 || *value > kTotalMax) {
    return InvalidParameter(absl::StrFormat(
        "the resource %s has no usable value: it should be of type INTEGER, with an integerValue "
        "from 0 to %d",
        resource.name, kTotalMax));
  }
  return *value;
}

absl::StatusOr<int64_t> RequiredInteger(const Totals& totals, const std::string& name) {
  const auto found = totals.find(name);
  if (found == totals.end()) {
    return InvalidParameter(absl::StrFormat(
        "totalResources does not name %s: it should be there, of type INTEGER", name));
  }
  return IntegerOf(*found->second);
}

absl::StatusOr<std::vector<std::string>> StringSet(const Totals& totals, const std::string& name) {
  const auto found = totals.find(name);
  if (found == totals.end()) return std::vector<std::string>{};
  if (found->second->type != "STRINGSET") {
    return InvalidParameter(absl::StrFormat(
        "the resource %s is of type '%s': it should be STRINGSET", name, found->second->type));
  }
  return found->second->string_set;
}

absl::StatusOr<std::vector<int64_t>> Ports(const Totals& totals, const std::string& name) {
  const absl::StatusOr<std::vector<std::string>> texts = StringSet(totals, name);
  if (!texts.ok()) return texts.status();
  std::vector<int64_t> ports;
  for (const std::string& text : *texts) {
    int64_t port = 0;
    if (!absl::SimpleAtoi(text, &port)) {
      return InvalidParameter(absl::StrFormat("'%s' of resource %s is not a port", text, name));
    }
    ports.push_back(port);
  }
  std::ranges::sort(ports);
  ports.erase(std::ranges::unique(ports).begin(), ports.end());
  return ports;
}

absl::StatusOr<std::vector<model::Gpu>> NamedGpus(const Totals& totals,
                                                  const std::vector<DeviceArgument>& devices) {
  std::vector<model::Gpu> gpus;
  for (const DeviceArgument& device : devices) {
    if (device.type != kGpu) {
      return InvalidParameter(absl::StrFormat(
          "the platform device '%s' is of type '%s': it should be GPU", device.id, device.type));
    }
    gpus.push_back({.id = {device.id}, .memory_mib = device.gpu.memory_mib.value_or(0)});
  }
  const absl::StatusOr<std::vector<std::string>> ids = StringSet(totals, std::string(kGpu));
  if (!ids.ok()) return ids.status();
  const size_t device_count = gpus.size();
  for (const std::string& id : *ids) {
    const auto end = gpus.begin() + static_cast<std::ptrdiff_t>(device_count);
    const bool named =
        std::any_of(gpus.begin(), end, [&](const model::Gpu& gpu) { return gpu.id.value == id; });
    if (!named) gpus.push_back({.id = {id}});
  }
  return gpus;
}

// GPU_MEMORY:<gpuId> entries: the public models' way to say gpuInfo.memoryInMiB.
absl::Status AddNamedMemory(const Totals& totals, std::vector<model::Gpu>& gpus) {
  for (const auto& [name, resource] : totals) {
    if (!name.starts_with(kGpuMemoryPrefix)) continue;
    const std::string id = name.substr(kGpuMemoryPrefix.size());
    const auto gpu =
        std::ranges::find_if(gpus, [&](const model::Gpu& each) { return each.id.value == id; });
    if (gpu == gpus.end()) {
      return InvalidParameter(absl::StrFormat(
          "the resource %s is about a GPU that neither platformDevices nor the resource GPU names",
          name));
    }
    const absl::StatusOr<int64_t> memory = IntegerOf(*resource);
    if (!memory.ok()) return memory.status();
    if (gpu->memory_mib != 0 && gpu->memory_mib != *memory) {
      return InvalidParameter(
          absl::StrFormat("GPU %s has %d MiB by platformDevices and %d MiB by the resource %s", id,
                          gpu->memory_mib, *memory, name));
    }
    gpu->memory_mib = *memory;
  }
  return absl::OkStatus();
}

const std::string* FindValue(const std::vector<model::Attribute>& attributes,
                             std::string_view name) {
  for (const model::Attribute& attribute : attributes) {
    if (attribute.name == name && attribute.value) return &*attribute.value;
  }
  return nullptr;
}

// Only where no device has a figure: one that some lack is a finding, not an old agent.
void AddCatalogueMemory(const std::string& instance_type, std::vector<model::Gpu>& gpus) {
  if (std::ranges::any_of(gpus, [](const model::Gpu& gpu) { return gpu.memory_mib != 0; })) return;
  const std::string_view family =
      std::string_view(instance_type).substr(0, instance_type.find('.'));
  for (const CatalogueEntry& entry : kCatalogue) {
    if (entry.family != family) continue;
    for (model::Gpu& gpu : gpus) gpu.memory_mib = entry.gpu_memory_mib;
  }
}

absl::StatusOr<int64_t> MpsClientsMax(const std::vector<model::Attribute>& attributes) {
  const std::string* text = FindValue(attributes, model::kMpsClientsAttribute);
  if (text == nullptr) return model::kMpsClientsMaxDefault;
  int64_t clients = 0;
  if (!absl::SimpleAtoi(*text, &clients) || clients < 1 || clients > kMpsClientsMaxMax) {
    return InvalidParameter(absl::StrFormat("the attribute %s is '%s': it should be from 1 to %d",
                                            model::kMpsClientsAttribute, *text, kMpsClientsMaxMax));
  }
  return clients;
}

}  // namespace

absl::StatusOr<model::RegisteredResources> ParseResources(
    const std::vector<ResourceArgument>& resources, const std::vector<DeviceArgument>& devices,
    const std::vector<model::Attribute>& attributes) {
  const absl::StatusOr<Totals> totals = ByName(resources);
  if (!totals.ok()) return totals.status();
  const absl::StatusOr<int64_t> cpu = RequiredInteger(*totals, "CPU");
  if (!cpu.ok()) return cpu.status();
  const absl::StatusOr<int64_t> memory = RequiredInteger(*totals, "MEMORY");
  if (!memory.ok()) return memory.status();
  absl::StatusOr<std::vector<int64_t>> tcp = Ports(*totals, "PORTS");
  if (!tcp.ok()) return tcp.status();
  absl::StatusOr<std::vector<int64_t>> udp = Ports(*totals, "PORTS_UDP");
  if (!udp.ok()) return udp.status();
  absl::StatusOr<std::vector<model::Gpu>> gpus = NamedGpus(*totals, devices);
  if (!gpus.ok()) return gpus.status();
  const absl::Status added = AddNamedMemory(*totals, *gpus);
  if (!added.ok()) return added;
  if (const std::string* type = FindValue(attributes, kInstanceTypeAttribute)) {
    AddCatalogueMemory(*type, *gpus);
  }
  const absl::StatusOr<int64_t> clients = MpsClientsMax(attributes);
  if (!clients.ok()) return clients.status();
  return model::RegisteredResources{.cpu_units = *cpu,
                                    .memory_mib = *memory,
                                    .reserved_tcp_ports = *std::move(tcp),
                                    .reserved_udp_ports = *std::move(udp),
                                    .gpus = *std::move(gpus),
                                    .mps_clients_max = *clients};
}

}  // namespace berth::api
