// The sentences of an explanation: what was asked, what there is, and where.
#include <string>

#include "absl/strings/str_format.h"
#include "placement/explanation.h"
#include "placement/query.h"

namespace berth::placement {
namespace {

using Kind = GpuDemand::Kind;

std::string Count(int64_t number, std::string_view one) {
  return absl::StrFormat("%d %s%s", number, one, number == 1 ? "" : "s");
}

std::string_view IsOrAre(int64_t number) { return number == 1 ? "is" : "are"; }

// "needs 2048 CPU units; 100 of 8192 are left on instance a"
std::string LeftOf(const Shortfall& shortfall, const std::string& asked, const std::string& where) {
  if (shortfall.asked > shortfall.total) {
    return absl::StrFormat("needs %s; instance %s has only %d in all", asked, where,
                           shortfall.total);
  }
  return absl::StrFormat("needs %s; %d of %d %s left on instance %s", asked, shortfall.had,
                         shortfall.total, IsOrAre(shortfall.had), where);
}

std::string LaunchTypeDetail(const Demand& demand, const std::string& where) {
  switch (demand.launch_type) {
    case model::LaunchType::kExternal:
      return absl::StrFormat(
          "needs an instance with attribute %s for launch type EXTERNAL; instance %s does not have "
          "it",
          model::kExternalCapability, where);
    case model::LaunchType::kFargate:
      return "needs Fargate capacity; there are only container instances";
    case model::LaunchType::kEc2:
    case model::LaunchType::kManagedInstances:
      break;
  }
  return absl::StrFormat(
      "needs an instance without attribute %s for launch type %s; instance %s has it",
      model::kExternalCapability, std::string(model::ToString(demand.launch_type)), where);
}

std::string AttributeDetail(const Shortfall& shortfall, const std::string& where) {
  if (shortfall.gpu.empty()) {
    return absl::StrFormat("needs attribute %s; instance %s does not have it", shortfall.attribute,
                           where);
  }
  return absl::StrFormat(
      "needs attribute %s; instance %s does not offer it, since the memory of GPU %s is not known",
      shortfall.attribute, where, shortfall.gpu.value);
}

std::string PortsDetail(const Shortfall& shortfall, const std::string& where) {
  const std::string protocol(model::ToString(shortfall.protocol));
  const std::string by = shortfall.total == 0 ? " by the host itself" : "";
  return absl::StrFormat("needs host port %d/%s; it is in use on instance %s%s", shortfall.asked,
                         protocol, where, by);
}

std::string GpuCountDetail(const Explanation& why, const Shortfall& shortfall,
                           const std::string& where) {
  if (why.most_gpus == 0) return "needs a GPU; no instance of the cluster has one";
  if (shortfall.total == 0) return absl::StrFormat("needs a GPU; instance %s has none", where);
  if (why.demand.gpu.kind == Kind::kAll) {
    return absl::StrFormat("needs all %s of an instance idle; %d of %d %s idle on instance %s",
                           "GPUs", shortfall.had, shortfall.total, IsOrAre(shortfall.had), where);
  }
  if (shortfall.asked > why.most_gpus) {
    return absl::StrFormat(
        "needs %s; no instance of the cluster could ever hold it: the most is %s",
        Count(shortfall.asked, "idle GPU"), Count(why.most_gpus, "GPU"));
  }
  return absl::StrFormat("needs %s; %d of %d %s idle on instance %s",
                         Count(shortfall.asked, "idle GPU"), shortfall.had, shortfall.total,
                         IsOrAre(shortfall.had), where);
}

std::string GpuMemoryDetail(const Explanation& why, const Shortfall& shortfall) {
  const std::string needs = absl::StrFormat("needs %d MiB on one GPU", shortfall.asked);
  if (why.largest_gpu_mib == 0) return needs + "; no instance of the cluster has a GPU to share";
  if (shortfall.asked > why.largest_gpu_mib) {
    return absl::StrFormat("%s; no GPU of the cluster could ever hold it: the largest has %d MiB",
                           needs, why.largest_gpu_mib);
  }
  if (why.largest_gap_mib == 0) return needs + "; none is free on any";
  return absl::StrFormat("%s; the largest gap is %d MiB on instance %s; %d MiB are free in total",
                         needs, why.largest_gap_mib, why.largest_gap_instance.value,
                         why.free_gpu_memory_mib);
}

std::string MpsClientsDetail(const Shortfall& shortfall, const std::string& where) {
  const std::string needs =
      absl::StrFormat("needs %s on one GPU", Count(shortfall.asked, "MPS client"));
  if (shortfall.asked > shortfall.total) {
    return absl::StrFormat("%s; a GPU of instance %s takes at most %d", needs, where,
                           shortfall.total);
  }
  return absl::StrFormat(
      "%s; GPU %s on instance %s has the memory, but %d of %d clients are in use", needs,
      shortfall.gpu.value, where, shortfall.total - shortfall.had, shortfall.total);
}

std::string DistinctInstanceDetail(const Explanation& why, const Shortfall& shortfall,
                                   const std::string& where) {
  return absl::StrFormat("needs an instance without a task of group %s; instance %s has %s",
                         why.group, where, Count(shortfall.had, "task") + " of it");
}

std::string Sentence(const Explanation& why, const TurnedAway& entry) {
  const Shortfall& shortfall = entry.shortfall;
  const std::string& where = entry.instance.value;
  switch (shortfall.dimension) {
    case Dimension::kLaunchType:
      return LaunchTypeDetail(why.demand, where);
    case Dimension::kStatus:
      return absl::StrFormat("instance %s takes no tasks: it is not ACTIVE", where);
    case Dimension::kAgent:
      return absl::StrFormat("instance %s takes no tasks now: its agent is not connected", where);
    case Dimension::kHealth:
      return absl::StrFormat("instance %s takes no tasks now: its agent is not healthy", where);
    case Dimension::kAttribute:
      return AttributeDetail(shortfall, where);
    case Dimension::kCpu:
      return LeftOf(shortfall, Count(shortfall.asked, "CPU unit"), where);
    case Dimension::kMemory:
      return LeftOf(shortfall, absl::StrFormat("%d MiB of memory", shortfall.asked), where);
    case Dimension::kPorts:
      return PortsDetail(shortfall, where);
    case Dimension::kGpuCount:
      return GpuCountDetail(why, shortfall, where);
    case Dimension::kGpuMemory:
      return GpuMemoryDetail(why, shortfall);
    case Dimension::kMpsClients:
      return MpsClientsDetail(shortfall, where);
    case Dimension::kDistinctInstance:
      return DistinctInstanceDetail(why, shortfall, where);
    case Dimension::kMemberOf:
      return absl::StrFormat("needs an instance for which '%s' holds; for instance %s it does not",
                             shortfall.query->text(), where);
  }
  return "";
}

// Whether waiting for what is short would not help, since something else is short for good.
bool NeverForAnotherReason(const Shortfall& shortfall) {
  switch (shortfall.dimension) {
    case Dimension::kLaunchType:
    case Dimension::kAttribute:
    case Dimension::kDistinctInstance:
    case Dimension::kMemberOf:
      return false;
    case Dimension::kStatus:
    case Dimension::kAgent:
    case Dimension::kHealth:
    case Dimension::kCpu:
    case Dimension::kMemory:
    case Dimension::kPorts:
    case Dimension::kGpuCount:
    case Dimension::kGpuMemory:
    case Dimension::kMpsClients:
      return shortfall.verdict == Verdict::kNever && shortfall.asked <= shortfall.total;
  }
  return false;
}

}  // namespace

std::string Explanation::Detail(const TurnedAway& entry) const {
  std::string detail = Sentence(*this, entry);
  if (NeverForAnotherReason(entry.shortfall))
    detail += "; it could not hold the task even when empty";
  return detail;
}

std::string Explanation::Summary() const {
  if (fitting > 0) return absl::StrFormat("it fits on %d of %d instances", fitting, instances);
  if (closest.empty()) return "the cluster has no container instance";
  return Detail(
      {.instance = closest.front().examples.front(), .shortfall = closest.front().shortfall});
}

}  // namespace berth::placement
