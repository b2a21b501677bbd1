// Instances grouped by what they can do: those of one class carry the same capability attributes,
// so that a demand's required attributes are checked once per class and not once per instance. A
// fleet has few classes, as many as it has agent versions and kinds of machine.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "model/task_status.h"
#include "placement/fit_index.h"
#include "placement/instance.h"

namespace berth::placement {

// Attributes that agents report and definitions require. Others are an operator's own, and may
// differ on every instance.
bool IsCapability(std::string_view attribute);

// model::kGpuSharingCapability as the tables hold it.
const std::string& GpuSharingCapability();

// Capabilities as small numbers. In a demand: the numbers that its class must have.
using CapabilityNumbers = absl::InlinedVector<int32_t, 32>;

struct CapabilityClass {
  std::vector<std::string> capabilities = {};  // sorted: the class's key
  std::vector<uint64_t> bits = {};             // the same, bit n for number n
  bool is_external = false;
  int64_t instances = 0;
  std::array<FitIndex, kIndexKinds> indexes = {};

  bool Covers(const CapabilityNumbers& required) const;
  bool Serves(model::LaunchType launch_type) const;
  FitIndex& index(IndexKind kind) { return indexes[static_cast<int>(kind)]; }
  const FitIndex& index(IndexKind kind) const { return indexes[static_cast<int>(kind)]; }
};

// EXTERNAL wants machines that said so, EC2 and MANAGED_INSTANCES want the others; FARGATE none.
bool ServesLaunchType(bool is_external, model::LaunchType launch_type);

class CapabilityClasses {
 public:
  // The class of an instance with these attributes (sorted), counting it in.
  CapabilityClass* Join(const std::vector<std::string>& attributes);
  // Requires: it joined before, and is in none of the class's indexes.
  void Leave(CapabilityClass* capability_class);

  // The number of a capability that some class has, or -1.
  int32_t NumberOf(const std::string& capability) const;

  // In order of their keys.
  const std::map<std::vector<std::string>, std::unique_ptr<CapabilityClass>>& all() const {
    return classes_;
  }

 private:
  struct Name {
    int32_t number = 0;
    int64_t classes = 0;
  };

  int32_t NameFor(const std::string& capability);

  std::map<std::vector<std::string>, std::unique_ptr<CapabilityClass>> classes_;
  absl::flat_hash_map<std::string, Name> names_;
  std::vector<int32_t> free_numbers_;
};

}  // namespace berth::placement
