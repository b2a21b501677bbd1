// RegisterTaskDefinition: every call makes a new revision, also when nothing differs from the last.
// Constraints are compiled here, so that none is kept that could not be held to.
#include <memory>
#include <string>
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
  if (const auto member_of = CompileConstraints(*command.spec); !member_of.ok()) {
    return decision.Refuse<RegisterTaskDefinition::Reply>(
        model::ClientError(std::string(member_of.status().message())));
  }
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
