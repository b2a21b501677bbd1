// What a machine says about itself in RegisterContainerInstance, and what Berth makes of it.
// Sources: ecs-api.md 5.2 and 6.1, gpu-sharing.md 1.5.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "api/decode.h"
#include "model/container_instance.h"

namespace berth::api {

struct ResourceArgument {
  std::string name = {};
  std::string type = {};
  std::optional<double> double_value = std::nullopt;
  std::optional<int64_t> long_value = std::nullopt;
  std::optional<int64_t> integer_value = std::nullopt;
  std::vector<std::string> string_set = {};
};
template <>
inline constexpr auto kFields<ResourceArgument> = std::array{
    Field<&ResourceArgument::name>("name"),
    Field<&ResourceArgument::type>("type"),
    Field<&ResourceArgument::double_value>("doubleValue"),
    Field<&ResourceArgument::long_value>("longValue"),
    Field<&ResourceArgument::integer_value>("integerValue"),
    Field<&ResourceArgument::string_set>("stringSetValue"),
};

struct GpuInfoArgument {
  std::optional<int64_t> memory_mib = std::nullopt;
};
template <>
inline constexpr auto kFields<GpuInfoArgument> = std::array{
    Field<&GpuInfoArgument::memory_mib>("memoryInMiB"),
};

struct DeviceArgument {
  std::string id = {};
  std::string type = {};
  GpuInfoArgument gpu = {};
};
template <>
inline constexpr auto kFields<DeviceArgument> = std::array{
    Field<&DeviceArgument::id>("id"),
    Field<&DeviceArgument::type>("type"),
    Field<&DeviceArgument::gpu>("gpuInfo"),
};

// The instance identity document of EC2, or of an agent that makes one. Its signature cannot be
// checked here.
struct IdentityDocument {
  std::string instance_id = {};
  std::string instance_type = {};
  std::string availability_zone = {};
  std::string image_id = {};
  std::string architecture = {};
};
// Empty text: nothing is known. A text that is no such document is an error.
absl::StatusOr<IdentityDocument> ParseIdentityDocument(std::string_view text);

// The totals and devices. GPUs are named by `platformDevices`, by the GPU entry of
// `totalResources`, or by both; their memory by either, or by a catalogue when the type is known
// and neither has any.
absl::StatusOr<model::RegisteredResources> ParseResources(
    const std::vector<ResourceArgument>& totals, const std::vector<DeviceArgument>& devices,
    const std::vector<model::Attribute>& attributes);

// The attributes as sent, and those that every instance has (ecs-api.md 6.1).
std::vector<model::Attribute> WithBuiltInAttributes(std::vector<model::Attribute> sent,
                                                    const IdentityDocument& identity,
                                                    std::string_view default_zone);

// What the agent that the server plays can honour: all but, where a GPU has no memory figure,
// sharing.
std::vector<model::Attribute> WithEmulatedCapabilities(std::vector<model::Attribute> attributes,
                                                       const model::RegisteredResources& resources);

}  // namespace berth::api
