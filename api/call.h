// What every action gets and gives. An action is a function of its own file under actions/;
// dispatch.cc calls it, and built_actions.inc names it.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "api/aws_json.h"
#include "api/caller.h"
#include "api/dispatch.h"
#include "api/net.h"

namespace berth::api {

struct Call {
  JsonBody body;  // checked against the action's input shape
  ActionContext& context;
  Caller caller;

  const model::ArnScope& scope() const { return context.settings.scope; }
};

// The body of the answer, or the error.
using Answer = absl::StatusOr<std::string>;
using Handler = net::awaitable<Answer> (*)(Call call);

}  // namespace berth::api
