#include <cstdint>
#include <optional>

#include "absl/strings/str_format.h"
#include "model/errors.h"
#include "model/validation/rules.h"

namespace berth::model::validation {
namespace {

// What a Docker daemon of today gives a container at the least.
constexpr int64_t kContainerMemoryMibMin = 6;

absl::Status CheckContainer(const TaskSpec& spec, const ContainerDefinition& container) {
  const std::optional<int64_t> limit = container.memory_mib;
  const std::optional<int64_t> reservation = container.memory_reservation_mib;
  if (absl::Status status = CheckRange(container, "cpu", container.cpu_units, 0, kIntegerMax);
      !status.ok()) {
    return status;
  }
  if (!limit.has_value() && !reservation.has_value() && !spec.memory_mib.has_value()) {
    return ClientError(
        absl::StrFormat("Invalid setting for container '%s'. At least one of 'memory' or "
                        "'memoryReservation' must be specified.",
                        container.name));
  }
  if (absl::Status status =
          CheckRange(container, "memory", limit, kContainerMemoryMibMin, kIntegerMax);
      !status.ok()) {
    return status;
  }
  if (absl::Status status = CheckRange(container, "memoryReservation", reservation,
                                       kContainerMemoryMibMin, kIntegerMax);
      !status.ok()) {
    return status;
  }
  if (limit.has_value() && reservation.has_value() && *limit < *reservation) {
    return Wrong(container, "memory", absl::StrFormat("%d", *limit),
                 absl::StrFormat("at least memoryReservation, which is %d", *reservation));
  }
  if (limit.has_value() && spec.memory_mib.has_value() && *limit > *spec.memory_mib) {
    return ClientError(absl::StrFormat(
        "The 'memory' setting for container '%s' is greater than for the task.", container.name));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckSizes(const TaskSpec& spec) {
  int64_t cpu_units = 0;
  int64_t memory_mib = 0;
  for (const ContainerDefinition& container : spec.containers) {
    if (absl::Status status = CheckContainer(spec, container); !status.ok()) return status;
    cpu_units += container.cpu_units;
    memory_mib += container.memory_reservation_mib.value_or(container.memory_mib.value_or(0));
  }
  if (spec.cpu_units.has_value() && cpu_units > *spec.cpu_units) {
    return ClientError(
        "The sum of all container 'cpu' values cannot be greater than the value of the task "
        "'cpu'.");
  }
  if (spec.memory_mib.has_value() && memory_mib > *spec.memory_mib) {
    return ClientError(
        absl::StrFormat("the containers reserve %d MiB of memory together (memoryReservation, or "
                        "memory where there "
                        "is none); the task's memory is %d MiB and must be at least that",
                        memory_mib, *spec.memory_mib));
  }
  return absl::OkStatus();
}

}  // namespace berth::model::validation
