// Ids are types, not strings that can be swapped. An id is the short form; model/arn.h makes ARNs.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "model/rng.h"

namespace berth::model {

template <class Tag>
struct StringId {
  std::string value = {};

  bool empty() const { return value.empty(); }
  auto operator<=>(const StringId&) const = default;

  template <class H>
  friend H AbslHashValue(H state, const StringId& id) {
    return H::combine(std::move(state), id.value);
  }
};

using ClusterName = StringId<struct ClusterNameTag>;
using TaskId = StringId<struct TaskIdTag>;          // 32 lower-case hex digits
using InstanceId = StringId<struct InstanceIdTag>;  // 32 lower-case hex digits
using GpuId = StringId<struct GpuIdTag>;            // the device's UUID, as NVML spells it

// FAMILY:REVISION. Revisions start at 1 and never restart.
struct DefinitionId {
  std::string family = {};
  int64_t revision = 0;

  auto operator<=>(const DefinitionId&) const = default;

  template <class H>
  friend H AbslHashValue(H state, const DefinitionId& id) {
    return H::combine(std::move(state), id.family, id.revision);
  }
};

// Where new ids come from: random in production, short and stable in tests.
class IdSource {
 public:
  virtual ~IdSource() = default;
  virtual std::string NewHex32() = 0;  // tasks, container instances
  virtual std::string NewUuid() = 0;   // containers; with hyphens
};

// Ids drawn from an Rng, so that a seeded run has the same ids each time.
class RandomIdSource : public IdSource {
 public:
  explicit RandomIdSource(Rng rng) : rng_(std::move(rng)) {}
  std::string NewHex32() override;
  std::string NewUuid() override;

 private:
  Rng rng_;
};

}  // namespace berth::model
