// The names and the sentences of remedies.
#include "placement/remedy.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/enum_table.h"
#include "placement/explanation.h"
#include "placement/query.h"

namespace berth::placement {
namespace {

using Kind = Remedy::Kind;

constexpr model::EnumEntry<Kind> kNames[] = {
    {Kind::kMoveTasks, "MOVE_TASKS"},
    {Kind::kReconnect, "RECONNECT"},
    {Kind::kActivate, "ACTIVATE"},
    {Kind::kFreePorts, "FREE_PORTS"},
    {Kind::kShrink, "SHRINK"},
    {Kind::kStopTasks, "STOP_TASKS"},
    {Kind::kRelaxConstraint, "RELAX_CONSTRAINT"},
    {Kind::kAddGpus, "ADD_GPUS"},
    {Kind::kAddInstance, "ADD_INSTANCE"},
};

std::string AmountOf(const Remedy::Shrunk& shrunk) {
  switch (shrunk.dimension) {
    case Dimension::kCpu:
      return absl::StrFormat("%d CPU units", shrunk.to);
    case Dimension::kMemory:
      return absl::StrFormat("%d MiB of memory", shrunk.to);
    case Dimension::kGpuMemory:
      return absl::StrFormat("%d MiB of GPU memory", shrunk.to);
    default:
      return absl::StrFormat("%d GPU%s", shrunk.to, shrunk.to == 1 ? "" : "s");
  }
}

std::string DescribeShrink(const Remedy& remedy) {
  return absl::StrFormat("ask for at most %s: instance %s has that",
                         absl::StrJoin(remedy.shrunk, " and ",
                                       [](std::string* out, const Remedy::Shrunk& shrunk) {
                                         out->append(AmountOf(shrunk));
                                       }),
                         remedy.instance.value);
}

std::string DescribeTasks(const Remedy& remedy) {
  std::vector<std::string> parts;
  for (const Remedy::Task& task : remedy.tasks) {
    std::string part = absl::StrFormat("task %s", task.id);
    if (!task.to.empty()) {
      part += absl::StrFormat(" to instance %s", task.to.value);
      if (!task.to_gpus.empty()) part += absl::StrFormat(" (GPU %s)", task.to_gpus.front().value);
    }
    parts.push_back(std::move(part));
  }
  const std::string tasks = absl::StrJoin(parts, " and ");
  return remedy.kind == Kind::kMoveTasks
             ? absl::StrFormat("move %s: instance %s then has room", tasks, remedy.instance.value)
             : absl::StrFormat("stop %s on instance %s", tasks, remedy.instance.value);
}

std::string DescribePorts(const Remedy& remedy) {
  std::vector<std::string> ports;
  for (const HostPort& port : remedy.ports) {
    ports.push_back(absl::StrFormat("%d/%s", port.port, std::string(ToString(port.protocol))));
  }
  return absl::StrFormat("free host port%s %s on instance %s", ports.size() == 1 ? "" : "s",
                         absl::StrJoin(ports, " and "), remedy.instance.value);
}

std::string DescribeGpus(int64_t gpus, int64_t memory_mib) {
  std::string text = absl::StrFormat("%d GPU%s", gpus, gpus == 1 ? "" : "s");
  if (memory_mib > 0) text += absl::StrFormat(" of at least %d MiB", memory_mib);
  return text;
}

std::string DescribeMachine(const Remedy::Machine& machine) {
  std::string text =
      absl::StrFormat("add an instance with at least %d CPU units and %d MiB of memory",
                      machine.cpu_units, machine.memory_mib);
  if (machine.gpus > 0) {
    absl::StrAppend(&text, " and ", DescribeGpus(machine.gpus, machine.gpu_memory_mib));
  }
  return text;
}

}  // namespace

std::string_view ToString(Remedy::Kind kind) { return NameOf(kNames, kind); }

std::string Describe(const Remedy& remedy) {
  switch (remedy.kind) {
    case Kind::kMoveTasks:
    case Kind::kStopTasks:
      return DescribeTasks(remedy);
    case Kind::kReconnect:
      return absl::StrFormat("bring back the agent of instance %s", remedy.instance.value);
    case Kind::kActivate:
      return absl::StrFormat("make instance %s ACTIVE again", remedy.instance.value);
    case Kind::kFreePorts:
      return DescribePorts(remedy);
    case Kind::kShrink:
      return DescribeShrink(remedy);
    case Kind::kRelaxConstraint:
      return remedy.distinct_instance
                 ? absl::StrFormat("leave out distinctInstance: instance %s has room",
                                   remedy.instance.value)
                 : absl::StrFormat("leave out memberOf '%s': instance %s has room",
                                   remedy.query->text(), remedy.instance.value);
    case Kind::kAddGpus:
      return absl::StrFormat("add %s to instance %s",
                             DescribeGpus(remedy.gpus, remedy.gpu_memory_mib),
                             remedy.instance.value);
    case Kind::kAddInstance:
      return DescribeMachine(remedy.machine);
  }
  return "";
}

}  // namespace berth::placement
