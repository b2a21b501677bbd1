// RegisterTaskDefinition: every call makes a new revision, also when nothing differs from the last.
#include <memory>
#include <utility>

#include "model/check.h"
#include "model/errors.h"
#include "model/task_definition.h"
#include "scheduler/decision.h"

namespace berth::scheduler {

Outcome<RegisterTaskDefinition::Reply> Decide(State& state, const RegisterTaskDefinition& command,
                                              Context context) {
  Decision decision(state);
  BERTH_CHECK(command.spec != nullptr && command.document != nullptr);
  model::TaskDefinition definition{
      .id = {.family = command.family},
      .registered_at = context.now,
      .registered_by = command.registered_by,
      .tags = command.tags,
      .document = command.document,
      .spec = command.spec,
      .compatibilities = model::ComputeCompatibilities(*command.spec),
      .requires_attributes = model::ComputeRequiredAttributes(*command.spec),
  };
  return decision.Answer(decision.AddDefinition(std::move(definition)).record);
}

}  // namespace berth::scheduler
