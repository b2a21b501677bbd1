#include "model/gpu.h"

#include "model/enum_table.h"

namespace berth::model {
namespace {

constexpr EnumEntry<GpuUse> kGpuUses[] = {
    {GpuUse::kIdle, "IDLE"},
    {GpuUse::kNvidiaMps, "NVIDIA_MPS"},
    {GpuUse::kDedicated, "DEDICATED"},
};

}  // namespace

std::string_view ToString(GpuUse use) { return NameOf(kGpuUses, use); }

}  // namespace berth::model
