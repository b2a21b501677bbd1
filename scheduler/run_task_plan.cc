#include "scheduler/run_task_plan.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "model/errors.h"
#include "model/utf8.h"

namespace berth::scheduler {
namespace {

using model::InvalidParameter;
using model::LaunchType;

constexpr int64_t kCountMax = 10;
constexpr size_t kStartedByMax = 128;
constexpr size_t kGroupMax = 255;
constexpr size_t kClientTokenMax = 64;
constexpr size_t kReferenceIdMax = 1024;
constexpr size_t kOverridesMax = 8192;  // characters of JSON
constexpr char kServiceGroupPrefix[] = "service:";
constexpr char kManagedClusterTag[] = "aws:ecs:clusterName";

absl::Status CheckLength(const char* member, const std::string& value, size_t max) {
  const size_t length = model::CountCharacters(value);
  if (length <= max) return absl::OkStatus();
  return InvalidParameter(
      absl::StrFormat("%s has %d characters; at most %d are allowed", member, length, max));
}

absl::Status CheckArguments(const RunTask& command) {
  if (command.count < 1 || command.count > kCountMax) {
    return InvalidParameter(
        absl::StrFormat("count is %d; it must be from 1 to %d", command.count, kCountMax));
  }
  const std::string& token = command.client_token;
  if (absl::Status status = CheckLength("clientToken", token, kClientTokenMax); !status.ok()) {
    return status;
  }
  if (!std::all_of(token.begin(), token.end(), absl::ascii_isgraph)) {
    return InvalidParameter("clientToken must consist of the ASCII characters 33 to 126");
  }
  const std::string& started_by = command.started_by;
  if (absl::Status status = CheckLength("startedBy", started_by, kStartedByMax); !status.ok()) {
    return status;
  }
  const auto allowed = [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '/';
  };
  if (!std::all_of(started_by.begin(), started_by.end(), allowed)) {
    return InvalidParameter(absl::StrFormat(
        "startedBy is '%s'; letters, digits, '-', '_' and '/' are allowed", started_by));
  }
  return CheckLength("referenceId", command.reference_id, kReferenceIdMax);
}

bool Supports(const std::vector<LaunchType>& compatibilities, LaunchType launch_type) {
  return std::find(compatibilities.begin(), compatibilities.end(), launch_type) !=
         compatibilities.end();
}

absl::Status DoesNotSupport(LaunchType launch_type) {
  return InvalidParameter(absl::StrFormat("Task definition does not support launch_type %s.",
                                          std::string(model::ToString(launch_type))));
}

absl::Status CheckLaunchType(const model::TaskDefinition& definition, LaunchType launch_type,
                             const RunTask& command) {
  if (!Supports(definition.compatibilities, launch_type)) return DoesNotSupport(launch_type);
  if (!command.platform_version.empty() && launch_type != LaunchType::kFargate) {
    return InvalidParameter(
        absl::StrFormat("The platform version must be null when specifying an %s launch type.",
                        std::string(model::ToString(launch_type))));
  }
  return absl::OkStatus();
}

absl::Status CheckNetwork(const model::TaskSpec& spec, const RunTask& command) {
  if (model::EffectiveNetworkMode(spec) != model::NetworkMode::kAwsvpc) {
    if (!command.has_network_configuration) return absl::OkStatus();
    return InvalidParameter(
        "Network Configuration is not valid for the given networkMode of this task definition.");
  }
  if (!command.has_network_configuration) {
    return InvalidParameter(
        "Network Configuration must be provided when networkMode 'awsvpc' is specified.");
  }
  if (command.subnets == 0) return InvalidParameter("subnets can not be empty.");
  return absl::OkStatus();
}

absl::Status MergeIn(RunTaskPlan& plan, const model::TaskOverrides& overrides) {
  if (absl::Status status = CheckLength("overrides", overrides.document, kOverridesMax);
      !status.ok()) {
    return status;
  }
  auto merged = model::MergeOverrides(*plan.definition->spec, overrides);
  if (!merged.ok()) return merged.status();
  plan.spec = *std::move(merged);
  // An override may ask for a share of a GPU where the definition did not.
  if (!Supports(model::ComputeCompatibilities(*plan.spec), plan.launch_type)) {
    return DoesNotSupport(plan.launch_type);
  }
  return absl::OkStatus();
}

absl::Status CheckGroup(const std::string& group) {
  if (absl::StartsWith(group, kServiceGroupPrefix)) {
    return InvalidParameter(
        absl::StrFormat("group is '%s'; names that start with '%s' are reserved for services",
                        group, kServiceGroupPrefix));
  }
  return CheckLength("group", group, kGroupMax);
}

// The caller's tags, then those of the definition that they do not replace, then ECS's own.
absl::StatusOr<model::Tags> TagsFor(const RunTask& command,
                                    const model::TaskDefinition& definition) {
  model::Tags tags = command.tags;
  const auto add = [&tags](const model::Tag& tag) {
    const bool there = std::any_of(tags.begin(), tags.end(),
                                   [&](const model::Tag& had) { return had.key == tag.key; });
    if (!there) tags.push_back(tag);
  };
  if (command.propagate_definition_tags) {
    for (const model::Tag& tag : definition.tags) add(tag);
  }
  if (const size_t count = model::CountTags(tags); count > model::kTagsMax) {
    return InvalidParameter(absl::StrFormat(
        "the task would have %d tags, the propagated ones included; at most %d are allowed", count,
        model::kTagsMax));
  }
  if (command.enable_managed_tags) {
    add({.key = kManagedClusterTag, .value = command.cluster.value});
  }
  return tags;
}

// The definition's constraints, then the request's.
absl::StatusOr<placement::Rules> RulesFor(const RunTask& command, const DefinitionEntry& entry) {
  const model::DefinitionId& id = entry.record->id;
  if (!entry.member_of.ok()) {
    return InvalidParameter(absl::StrFormat("task definition %s:%d: %s", id.family, id.revision,
                                            std::string(entry.member_of.status().message())));
  }
  placement::Rules rules = command.rules;
  rules.member_of.insert(rules.member_of.begin(), entry.member_of->begin(), entry.member_of->end());
  const size_t constraints = rules.member_of.size() + (rules.distinct_instance ? 1 : 0);
  if (constraints > placement::kConstraintsMax) {
    return InvalidParameter(absl::StrFormat(
        "the task would have %d placement constraints, those of its task definition included; at "
        "most %d are allowed",
        constraints, placement::kConstraintsMax));
  }
  if (rules.strategies.size() > placement::kStrategiesMax) {
    return InvalidParameter(
        absl::StrFormat("placementStrategy has %d entries; at most %d are allowed",
                        rules.strategies.size(), placement::kStrategiesMax));
  }
  return rules;
}

}  // namespace

placement::Demand DemandFor(const model::TaskSpec& spec, const model::TaskDefinition& definition,
                            bool overridden, LaunchType launch_type) {
  return placement::DemandOf(
      spec, overridden ? model::ComputeRequiredAttributes(spec) : definition.requires_attributes,
      launch_type);
}

bool SupportsLaunchType(const RunTaskPlan& plan) {
  return Supports(plan.definition->compatibilities, plan.launch_type) &&
         Supports(model::ComputeCompatibilities(*plan.spec), plan.launch_type);
}

absl::StatusOr<RunTaskPlan> PlanRunTask(Decision& decision, const RunTask& command) {
  const State::Impl& state = decision.state();
  RunTaskPlan plan;
  plan.cluster = state.FindActiveCluster(command.cluster);
  if (plan.cluster == nullptr) return model::ClusterNotFound();
  const DefinitionEntry* entry = state.definitions.Resolve(command.definition);
  if (entry == nullptr) {
    decision.SawNothing();
    return model::TaskDefinitionNotFound();
  }
  decision.Saw(entry->change);
  plan.definition = entry->record;
  plan.spec = plan.definition->spec;
  if (plan.definition->status != model::DefinitionStatus::kActive) {
    return model::TaskDefinitionInactive();
  }
  if (absl::Status status = CheckArguments(command); !status.ok()) return status;
  if (!command.later_refusal.ok()) return command.later_refusal;

  plan.launch_type = command.launch_type.value_or(LaunchType::kEc2);
  absl::Status status = CheckLaunchType(*plan.definition, plan.launch_type, command);
  if (!status.ok()) return status;
  status = CheckNetwork(*plan.spec, command);
  if (!status.ok()) return status;
  if (command.overrides != nullptr) {
    status = MergeIn(plan, *command.overrides);
    if (!status.ok()) return status;
  }
  plan.group = command.group.empty() ? "family:" + plan.definition->id.family : command.group;
  status = CheckGroup(plan.group);
  if (!status.ok()) return status;
  absl::StatusOr<model::Tags> tags = TagsFor(command, *plan.definition);
  if (!tags.ok()) return tags.status();
  plan.tags = *std::move(tags);
  absl::StatusOr<placement::Rules> rules = RulesFor(command, *entry);
  if (!rules.ok()) return rules.status();
  plan.rules = *std::move(rules);

  plan.demand =
      DemandFor(*plan.spec, *plan.definition, command.overrides != nullptr, plan.launch_type);
  return plan;
}

}  // namespace berth::scheduler
