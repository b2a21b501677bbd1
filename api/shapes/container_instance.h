// A container instance as answers show it.
#pragma once

#include "absl/time/time.h"
#include "api/json_writer.h"
#include "model/arn.h"
#include "scheduler/commands.h"

namespace berth::api {

struct InstanceParts {
  bool tags = true;
  bool health = false;
};

// As one value: an element of `containerInstances` or the member `containerInstance`. `now` is when
// the health shown was looked up.
void WriteContainerInstance(const scheduler::InstanceSnapshot& instance, const InstanceParts& parts,
                            const model::ArnScope& scope, absl::Time now, JsonWriter& writer);

}  // namespace berth::api
