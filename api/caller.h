// Who makes a call, once its signature has been checked.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "model/access_key.h"

namespace berth::api {

class Policy;

struct Caller {
  std::string principal_arn = {};  // arn:aws:iam::ACCOUNT:user/NAME; the root's with --auth none
  std::string access_key = {};     // its id; empty with --auth none
  std::optional<model::KeyRole> role = std::nullopt;  // nothing with --auth none: may do all
  // Narrows the role (access/policy.h). Null: the role alone counts.
  std::shared_ptr<const Policy> policy = nullptr;

  // For commands that an agent's key may give for its own instances only (scheduler/commands.h).
  std::string agent_key() const { return role == model::KeyRole::kAgent ? access_key : ""; }
};

}  // namespace berth::api
