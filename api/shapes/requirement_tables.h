// Tables of the structs that task definitions and overrides share.
#pragma once

#include "api/decode.h"
#include "model/task_definition.h"

namespace berth::api {

struct NvidiaMpsDocument {
  std::optional<int64_t> memory = std::nullopt;
  std::optional<int64_t> max_compute_percent = std::nullopt;
};
template <>
inline constexpr auto kFields<NvidiaMpsDocument> = std::array{
    Field<&NvidiaMpsDocument::memory>("memory"),
    Field<&NvidiaMpsDocument::max_compute_percent>("maxComputePercent"),
};

inline void DecodeNvidiaMps(JsonView value, model::ResourceRequirement::SharingStrategy& strategy) {
  const auto mps = Decode<NvidiaMpsDocument>(value);
  strategy = {.has_nvidia_mps = true,
              .memory_mib = mps.memory,
              .max_compute_percent = mps.max_compute_percent};
}
template <>
inline constexpr auto kFields<model::ResourceRequirement::SharingStrategy> = std::array{
    Custom<&DecodeNvidiaMps>("nvidiaMps"),
};

template <>
inline constexpr auto kFields<model::ResourceRequirement> = std::array{
    Field<&model::ResourceRequirement::type>("type"),
    Field<&model::ResourceRequirement::value>("value"),
    Field<&model::ResourceRequirement::sharing_strategy>("sharingStrategy"),
};

template <>
inline constexpr auto kFields<model::EnvironmentVariable> = std::array{
    Field<&model::EnvironmentVariable::name>("name"),
    Field<&model::EnvironmentVariable::value>("value"),
};

template <>
inline constexpr auto kFields<model::EnvironmentFile> = std::array{
    Field<&model::EnvironmentFile::type>("type"),
    Field<&model::EnvironmentFile::value>("value"),
};

}  // namespace berth::api
