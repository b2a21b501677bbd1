// Tables of definitions, each a change to one that is right, and of what is said about them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "spec_builder.h"

namespace berth::model {

struct RuleCase {
  std::string why;
  Change change;
  std::string refusal = {};  // empty: accepted
};

inline void CheckAll(const std::vector<RuleCase>& cases) {
  for (const RuleCase& c : cases) {
    INFO(c.why);
    const absl::Status status = ValidateTaskSpec(Changed(Spec(), c.change));
    CHECK(std::string(status.message()) == c.refusal);
    if (!status.ok()) CHECK(KindOf(status) == ErrorKind::kClient);
  }
}

// A change to the container `app`.
inline Change App(const std::function<void(ContainerDefinition&)>& change) {
  return [change](TaskSpec& s) { change(s.containers[0]); };
}

}  // namespace berth::model
