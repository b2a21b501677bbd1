// PutAttributes, DeleteAttributes and ListAttributes: what an operator says of container instances,
// for placement constraints and strategies to go by. Rules: ecs-api.md 6.6.
//
// One call may name several instances; it does all that it says or nothing.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/str_format.h"
#include "model/attribute_rules.h"
#include "model/errors.h"
#include "scheduler/decision.h"

namespace berth::scheduler {
namespace {

using model::Attribute;
using model::InstanceStatus;
using Attributes = std::vector<Attribute>;
using Target = PutAttributes::Target;

constexpr size_t kTargetsMax = 10;

absl::Status CheckList(const std::vector<Target>& targets) {
  if (targets.empty()) return model::InvalidParameter("attributes can not be empty");
  if (targets.size() <= kTargetsMax) return absl::OkStatus();
  return model::InvalidParameter(
      absl::StrFormat("attributes can have at most %d items.", kTargetsMax));
}

absl::Status CheckName(const Attribute& attribute) {
  if (!model::IsReservedAttribute(attribute.name)) return absl::OkStatus();
  return model::InvalidParameter(absl::StrFormat(
      "attribute %s cannot be changed: names that begin with 'ecs.', 'com.amazonaws.' or 'berth.' "
      "are reserved for what agents say of their instances",
      attribute.name));
}

absl::Status CheckToPut(const std::vector<Target>& targets) {
  for (const Target& target : targets) {
    if (absl::Status status = model::CheckAttribute(target.attribute); !status.ok()) return status;
    if (target.attribute.value && target.attribute.value->empty()) {
      return model::InvalidParameter(
          absl::StrFormat("the value of attribute %s is empty; leave it out, or give it 1 to %d "
                          "characters",
                          target.attribute.name, model::kAttributeValueMax));
    }
    if (absl::Status status = CheckName(target.attribute); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// The entry of an instance that can have attributes, or TargetNotFound.
absl::StatusOr<InstanceEntry*> FindTarget(Decision& decision, const ClusterState& cluster,
                                          const model::InstanceId& id) {
  InstanceEntry* entry = cluster.FindInstance(id);
  if (entry != nullptr) {
    decision.Saw(entry->change);
    if (entry->record->status != InstanceStatus::kInactive) return entry;
  }
  decision.SawNothing();
  return model::MakeError(model::ErrorKind::kTargetNotFound,
                          absl::StrFormat("Could not find %s", id.value));
}

Attributes::iterator Find(Attributes& attributes, const std::string& name) {
  return std::ranges::lower_bound(attributes, name, {}, &Attribute::name);
}

int64_t CustomCount(const Attributes& attributes) {
  return std::ranges::count_if(attributes, [](const Attribute& attribute) {
    return !model::IsReservedAttribute(attribute.name);
  });
}

// The instances that a call names, with the attributes that they are to have. By id, so that the
// order of the changes is fixed.
struct Next {
  InstanceEntry* entry = nullptr;
  Attributes attributes = {};
};
using NextById = absl::btree_map<model::InstanceId, Next>;

absl::StatusOr<NextById> FindTargets(Decision& decision, const ClusterState& cluster,
                                     const std::vector<Target>& targets) {
  NextById found;
  for (const Target& target : targets) {
    absl::StatusOr<InstanceEntry*> entry = FindTarget(decision, cluster, target.instance);
    if (!entry.ok()) return entry.status();
    found.emplace(target.instance,
                  Next{.entry = *entry, .attributes = (*entry)->record->attributes});
  }
  return found;
}

// Agents may bring more than the limit; it stands in the way of adding to them, and of nothing
// else.
absl::Status CheckLimits(const NextById& instances) {
  for (const auto& [id, next] : instances) {
    const int64_t count = CustomCount(next.attributes);
    if (count <= model::kCustomAttributesMax) continue;
    if (count <= CustomCount(next.entry->record->attributes)) continue;
    return model::MakeError(
        model::ErrorKind::kAttributeLimitExceeded,
        absl::StrFormat("container instance %s would have %d attributes of its own; at most %d are "
                        "allowed",
                        id.value, count, model::kCustomAttributesMax));
  }
  return absl::OkStatus();
}

void Keep(Decision& decision, ClusterState& cluster, NextById instances) {
  for (auto& [id, next] : instances) {
    if (next.attributes == next.entry->record->attributes) continue;
    model::ContainerInstance instance = *next.entry->record;
    instance.attributes = std::move(next.attributes);
    instance.version += 1;
    decision.PutInstance(cluster, *next.entry, std::move(instance));
  }
}

// Fills the page from one instance's attributes. True: one more would have come.
bool AddRows(const ListAttributes& command, const model::ContainerInstance& instance,
             ListAttributes::Reply& reply) {
  for (const Attribute& attribute : instance.attributes) {
    if (command.name && attribute.name != *command.name) continue;
    if (command.value && attribute.value != *command.value) continue;
    const bool on_page_before =
        instance.id.value == command.after_instance && attribute.name <= command.after_name;
    if (on_page_before) continue;
    if (static_cast<int64_t>(reply.rows.size()) == command.limit) return true;
    reply.rows.push_back({.instance = instance.id, .attribute = attribute});
  }
  return false;
}

}  // namespace

Outcome<PutAttributes::Reply> Decide(State& state, const PutAttributes& command, Context) {
  using Reply = PutAttributes::Reply;
  Decision decision(state);
  ClusterState* cluster = decision.state().FindCluster(command.cluster);
  if (cluster == nullptr) return decision.Refuse<Reply>(model::ClusterNotFound());
  if (absl::Status status = CheckList(command.attributes); !status.ok()) {
    return decision.Refuse<Reply>(std::move(status));
  }
  if (absl::Status status = CheckToPut(command.attributes); !status.ok()) {
    return decision.Refuse<Reply>(std::move(status));
  }
  absl::StatusOr<NextById> instances = FindTargets(decision, *cluster, command.attributes);
  if (!instances.ok()) return decision.Refuse<Reply>(instances.status());
  for (const Target& target : command.attributes) {
    Attributes& attributes = instances->at(target.instance).attributes;
    const auto place = Find(attributes, target.attribute.name);
    if (place != attributes.end() && place->name == target.attribute.name) {
      *place = target.attribute;
    } else {
      attributes.insert(place, target.attribute);
    }
  }
  if (absl::Status status = CheckLimits(*instances); !status.ok()) {
    return decision.Refuse<Reply>(std::move(status));
  }
  Keep(decision, *cluster, *std::move(instances));
  return decision.Answer(Reply{});
}

Outcome<DeleteAttributes::Reply> Decide(State& state, const DeleteAttributes& command, Context) {
  using Reply = DeleteAttributes::Reply;
  Decision decision(state);
  ClusterState* cluster = decision.state().FindCluster(command.cluster);
  if (cluster == nullptr) return decision.Refuse<Reply>(model::ClusterNotFound());
  if (absl::Status status = CheckList(command.attributes); !status.ok()) {
    return decision.Refuse<Reply>(std::move(status));
  }
  for (const Target& target : command.attributes) {
    absl::Status status = target.attribute.name.empty()
                              ? model::InvalidParameter("an attribute has no name")
                              : CheckName(target.attribute);
    if (!status.ok()) return decision.Refuse<Reply>(std::move(status));
  }
  absl::StatusOr<NextById> instances = FindTargets(decision, *cluster, command.attributes);
  if (!instances.ok()) return decision.Refuse<Reply>(instances.status());
  Reply reply;
  for (const Target& target : command.attributes) {
    Attributes& attributes = instances->at(target.instance).attributes;
    const auto place = Find(attributes, target.attribute.name);
    if (place == attributes.end() || place->name != target.attribute.name) continue;
    if (target.attribute.value && place->value != target.attribute.value) continue;
    reply.deleted.push_back({.instance = target.instance, .attribute = *place});
    attributes.erase(place);
  }
  Keep(decision, *cluster, *std::move(instances));
  return decision.Answer(std::move(reply));
}

Outcome<ListAttributes::Reply> Decide(State& state, const ListAttributes& command, Context) {
  using Reply = ListAttributes::Reply;
  BERTH_CHECK(command.limit > 0);
  Decision decision(state);
  const ClusterState* cluster = decision.state().FindCluster(command.cluster);
  if (cluster == nullptr) return decision.Refuse<Reply>(model::ClusterNotFound());
  if (command.value && !command.name) {
    return decision.Refuse<Reply>(
        model::InvalidParameter("attributeValue is given without attributeName; give both"));
  }
  decision.Saw(cluster->newest_change());
  const ClusterState::Instances& instances = cluster->instances();
  Reply reply;
  for (auto entry = instances.lower_bound(model::InstanceId{command.after_instance});
       entry != instances.end() && !reply.more; ++entry) {
    const model::ContainerInstance& instance = *entry->second->record;
    if (instance.status == InstanceStatus::kInactive) continue;
    if (command.name && model::FindAttribute(instance, *command.name) == nullptr) continue;
    reply.more = AddRows(command, instance, reply);
  }
  return decision.Answer(std::move(reply));
}

}  // namespace berth::scheduler
