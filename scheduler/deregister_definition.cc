// DeregisterTaskDefinition and DeleteTaskDefinitions: ACTIVE, INACTIVE, DELETE_IN_PROGRESS, gone.
// A revision is gone with the last remembered task that is a run of it (Decision::DeleteTask), or
// at once when there is none; the family's counter stays.
#include <utility>

#include "absl/container/btree_map.h"
#include "model/errors.h"
#include "scheduler/decision.h"

namespace berth::scheduler {
namespace {

using model::DefinitionStatus;
using Deleted = DeleteTaskDefinitions::Deleted;
using Refusal = DeleteTaskDefinitions::Refusal;

Deleted Delete(Decision& decision, const model::DefinitionId& id, absl::Time now) {
  const DefinitionEntry* entry = decision.state().definitions.Find(id);
  if (entry == nullptr) {
    decision.SawNothing();
    return {.refusal = Refusal::kUnknown};
  }
  decision.Saw(entry->change);
  if (entry->record->status == DefinitionStatus::kActive) return {.refusal = Refusal::kStillActive};

  model::TaskDefinition next = *entry->record;
  if (next.status != DefinitionStatus::kDeleteInProgress) {
    next.status = DefinitionStatus::kDeleteInProgress;
    next.delete_requested_at = now;
    entry = &decision.PutDefinition(std::move(next));
  }
  Deleted deleted{.record = entry->record};
  if (entry->references == 0) decision.DeleteDefinition(*entry);
  return deleted;
}

}  // namespace

Outcome<DeregisterTaskDefinition::Reply> Decide(State& state,
                                                const DeregisterTaskDefinition& command,
                                                Context context) {
  Decision decision(state);
  const DefinitionEntry* entry = decision.state().definitions.Find(command.definition);
  if (entry == nullptr) {
    decision.SawNothing();
    return decision.Refuse<DefinitionRecord>(model::UnableToDescribeDefinition());
  }
  decision.Saw(entry->change);
  if (entry->record->status != DefinitionStatus::kActive) return decision.Answer(entry->record);

  model::TaskDefinition next = *entry->record;
  next.status = DefinitionStatus::kInactive;
  next.deregistered_at = context.now;
  return decision.Answer(decision.PutDefinition(std::move(next)).record);
}

Outcome<DeleteTaskDefinitions::Reply> Decide(State& state, const DeleteTaskDefinitions& command,
                                             Context context) {
  Decision decision(state);
  DeleteTaskDefinitions::Reply reply;
  // One that is named twice, and gone the first time, has the same answer twice.
  absl::btree_map<model::DefinitionId, Deleted> done;
  for (const model::DefinitionId& id : command.definitions) {
    auto found = done.find(id);
    if (found == done.end()) {
      found = done.emplace(id, Delete(decision, id, context.now)).first;
    }
    reply.results.push_back(found->second);
  }
  return decision.Answer(std::move(reply));
}

}  // namespace berth::scheduler
