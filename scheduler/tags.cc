// TagResource, UntagResource, ListTagsForResource: the tags of clusters, task definitions,
// container instances and tasks.
//
// What has ended takes no new tags: a deleted cluster and a stopped task have lost theirs. Reading
// them goes on for as long as the thing is described.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_format.h"
#include "model/errors.h"
#include "scheduler/decision.h"
#include "scheduler/gpu_policy_tag.h"

namespace berth::scheduler {
namespace {

using model::InvalidParameter;
using model::Tags;

absl::Status Inactive(const char* what, const char* state, const char* living) {
  return InvalidParameter(absl::StrFormat("The specified %s is %s. Specify %s %s and try again.",
                                          what, state, living, what));
}

// One kind of resource each: its tags and the change that made them, whether they may be changed,
// and how.
class TaggedCluster {
 public:
  explicit TaggedCluster(ClusterState& cluster) : cluster_(cluster) {}

  const Tags& tags() const { return cluster_.record()->tags; }
  uint64_t change() const { return cluster_.newest_change(); }
  absl::Status CheckWritable() const {
    if (cluster_.active()) return absl::OkStatus();
    return Inactive("cluster", "inactive", "an active");
  }
  void Put(Decision& decision, Tags tags) const {
    model::Cluster next = *cluster_.record();
    next.tags = std::move(tags);
    decision.PutCluster(cluster_, std::move(next));
  }

 private:
  ClusterState& cluster_;
};

class TaggedDefinition {
 public:
  explicit TaggedDefinition(const DefinitionEntry& entry) : entry_(entry) {}

  const Tags& tags() const { return entry_.record->tags; }
  uint64_t change() const { return entry_.change; }
  static absl::Status CheckWritable() { return absl::OkStatus(); }
  void Put(Decision& decision, Tags tags) const {
    model::TaskDefinition next = *entry_.record;
    next.tags = std::move(tags);
    decision.PutDefinition(std::move(next));
  }

 private:
  const DefinitionEntry& entry_;
};

class TaggedInstance {
 public:
  TaggedInstance(ClusterState& cluster, InstanceEntry& entry) : cluster_(cluster), entry_(entry) {}

  const Tags& tags() const { return entry_.record->tags; }
  uint64_t change() const { return entry_.change; }
  absl::Status CheckWritable() const {
    if (entry_.record->status != model::InstanceStatus::kInactive) return absl::OkStatus();
    return Inactive("container instance", "inactive", "an active");
  }
  void Put(Decision& decision, Tags tags) const {
    model::ContainerInstance next = *entry_.record;
    next.tags = std::move(tags);
    decision.PutInstance(cluster_, entry_, std::move(next));
  }

 private:
  ClusterState& cluster_;
  InstanceEntry& entry_;
};

class TaggedTask {
 public:
  TaggedTask(ClusterState& cluster, TaskEntry& entry) : cluster_(cluster), entry_(entry) {}

  const Tags& tags() const { return entry_.record->tags; }
  uint64_t change() const { return entry_.change; }
  absl::Status CheckWritable() const {
    if (entry_.record->desired_status == model::DesiredStatus::kRunning) return absl::OkStatus();
    return Inactive("task", "stopped", "a running");
  }
  void Put(Decision& decision, Tags tags) const {
    model::Task next = *entry_.record;
    next.tags = std::move(tags);
    decision.PutTask(cluster_, entry_, std::move(next));
  }

 private:
  ClusterState& cluster_;
  TaskEntry& entry_;
};

using Tagged = std::variant<TaggedCluster, TaggedDefinition, TaggedInstance, TaggedTask>;

absl::Status NotThere(const std::string& what) {
  return model::MakeError(model::ErrorKind::kResourceNotFound,
                          "The specified resource is not there: " + what);
}

struct Finder {
  const State::Impl& state;

  absl::StatusOr<Tagged> operator()(const model::ClusterName& name) const {
    ClusterState* cluster = state.FindCluster(name);
    if (cluster == nullptr) return model::ClusterNotFound();
    return TaggedCluster(*cluster);
  }
  absl::StatusOr<Tagged> operator()(const model::DefinitionId& id) const {
    const DefinitionEntry* entry = state.definitions.Find(id);
    if (entry == nullptr) {
      return NotThere(absl::StrFormat("task definition %s:%d", id.family, id.revision));
    }
    return TaggedDefinition(*entry);
  }
  absl::StatusOr<Tagged> operator()(const InstanceKey& key) const {
    ClusterState* cluster = state.FindCluster(key.cluster);
    if (cluster == nullptr) return model::ClusterNotFound();
    InstanceEntry* entry = cluster->FindInstance(key.id);
    if (entry == nullptr) return NotThere("container instance " + key.id.value);
    return TaggedInstance(*cluster, *entry);
  }
  absl::StatusOr<Tagged> operator()(const TaskInCluster& key) const {
    ClusterState* cluster = state.FindCluster(key.cluster);
    if (cluster == nullptr) return model::ClusterNotFound();
    TaskEntry* entry = cluster->FindTask(key.id);
    if (entry == nullptr) return NotThere("task " + key.id.value);
    return TaggedTask(*cluster, *entry);
  }
};

// `edit` makes the next tags of the present ones, or refuses. Nothing is written when they are
// the same.
template <class Command, class Edit>
Outcome<typename Command::Reply> Change(State& state, const Command& command, Edit edit) {
  using Reply = typename Command::Reply;
  Decision decision(state);
  const absl::StatusOr<Tagged> found = std::visit(Finder{decision.state()}, command.resource);
  if (!found.ok()) return decision.Refuse<Reply>(found.status());
  return std::visit(
      [&](const auto& resource) {
        decision.Saw(resource.change());
        if (absl::Status writable = resource.CheckWritable(); !writable.ok()) {
          return decision.Refuse<Reply>(std::move(writable));
        }
        absl::StatusOr<Tags> next = edit(resource.tags());
        if (!next.ok()) return decision.Refuse<Reply>(next.status());
        if (*next != resource.tags()) resource.Put(decision, *std::move(next));
        return decision.Answer(Reply{});
      },
      *found);
}

auto WithKey(Tags& tags, const std::string& key) {
  return std::find_if(tags.begin(), tags.end(),
                      [&key](const model::Tag& tag) { return tag.key == key; });
}

}  // namespace

Outcome<TagResource::Reply> Decide(State& state, const TagResource& command, Context) {
  return Change(state, command, [&command](Tags tags) -> absl::StatusOr<Tags> {
    if (std::holds_alternative<model::ClusterName>(command.resource)) {
      absl::Status status = CheckGpuPolicyTag(command.tags);
      if (!status.ok()) return status;
    }
    for (const model::Tag& tag : command.tags) {
      if (const auto there = WithKey(tags, tag.key); there != tags.end()) {
        there->value = tag.value;
      } else {
        tags.push_back(tag);
      }
    }
    if (const size_t count = model::CountTags(tags); count > model::kTagsMax) {
      return InvalidParameter(absl::StrFormat(
          "the resource would have %d tags; at most %d are allowed", count, model::kTagsMax));
    }
    return tags;
  });
}

Outcome<UntagResource::Reply> Decide(State& state, const UntagResource& command, Context) {
  return Change(state, command, [&command](Tags tags) -> absl::StatusOr<Tags> {
    for (const std::string& key : command.keys) {
      if (const auto there = WithKey(tags, key); there != tags.end()) tags.erase(there);
    }
    return tags;
  });
}

Outcome<ListTagsForResource::Reply> Decide(State& state, const ListTagsForResource& command,
                                           Context) {
  using Reply = ListTagsForResource::Reply;
  Decision decision(state);
  const absl::StatusOr<Tagged> found = std::visit(Finder{decision.state()}, command.resource);
  if (!found.ok()) return decision.Refuse<Reply>(found.status());
  return std::visit(
      [&](const auto& resource) {
        decision.Saw(resource.change());
        return decision.Answer(Reply{.tags = resource.tags()});
      },
      *found);
}

}  // namespace berth::scheduler
