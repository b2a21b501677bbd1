// One decision in the making: every change goes through here, so that it is numbered, applied to
// the state, and handed to the committer, all three or none.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "model/change.h"
#include "model/check.h"
#include "scheduler/cluster_state.h"
#include "scheduler/decide.h"
#include "scheduler/effects.h"
#include "scheduler/state_impl.h"

namespace berth::scheduler {

class Decision {
 public:
  explicit Decision(State& state) : state_(state.impl()) {}

  State::Impl& state() { return state_; }

  ClusterState& AddCluster(model::Cluster record);
  void PutCluster(ClusterState& cluster, model::Cluster record);
  // Requires: it holds nothing any more.
  void DeleteCluster(ClusterState& cluster);
  // Takes the family's next revision.
  const DefinitionEntry& AddDefinition(model::TaskDefinition record);
  const DefinitionEntry& PutDefinition(model::TaskDefinition next);
  // Requires: nothing refers to it.
  void DeleteDefinition(const DefinitionEntry& entry);
  InstanceEntry& AddInstance(ClusterState& cluster, model::ContainerInstance record);
  void PutInstance(ClusterState& cluster, InstanceEntry& entry, model::ContainerInstance next);
  void DeleteInstance(ClusterState& cluster, InstanceEntry& entry);
  TaskEntry& AddTask(ClusterState& cluster, model::Task record);
  // Also counts the task's version.
  void PutTask(ClusterState& cluster, TaskEntry& entry, model::Task next);
  // The client token goes with the last of its tasks, and so does a definition that is to go.
  void DeleteTask(ClusterState& cluster, TaskEntry& entry);
  void PutToken(ClusterState& cluster, model::ClientToken record);
  void DeleteToken(ClusterState& cluster, const std::string& token);
  void PutAccountSetting(model::AccountSetting setting);
  // Requires: it is there.
  void DeleteAccountSetting(const std::string& principal_arn, const std::string& name);
  // Takes the next sequence when the record has none. Requires: the id is new, or the record's own.
  const AccessKeyEntry& PutAccessKey(model::AccessKey record);

  void Do(Effect effect) { effects_.push_back(std::move(effect)); }

  // The reply shows what the change of this number made.
  void Saw(uint64_t change) { saw_change_ = std::max(saw_change_, change); }
  // The reply says that something is not there, which a deletion may have made so.
  void SawNothing() { Saw(state_.newest_deletion); }

  template <class Reply>
  Outcome<Reply> Answer(Reply reply) {
    return {.reply = std::move(reply),
            .changes = std::move(changes_),
            .effects = std::move(effects_),
            .saw_change = saw_change_};
  }
  // Requires: nothing was changed.
  template <class Reply>
  Outcome<Reply> Refuse(absl::Status error) {
    BERTH_CHECK(changes_.empty() && effects_.empty());
    if (absl::IsNotFound(error)) SawNothing();
    return {.reply = std::move(error), .saw_change = saw_change_};
  }

 private:
  // Numbers the change. The reply of whoever makes one waits for it.
  uint64_t Add(model::Change change);

  State::Impl& state_;
  std::vector<model::Change> changes_ = {};
  std::vector<Effect> effects_ = {};
  uint64_t saw_change_ = 0;
};

}  // namespace berth::scheduler
