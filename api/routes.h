// Which function answers which of the API's 88 actions. To build one more: a file under actions/, a
// row in built_actions.inc, and its row in unbuilt.cc goes.
#pragma once

#include <string_view>

#include "api/call.h"
#include "api/schema/schema.h"

namespace berth::api {

struct Route {
  const schema::Operation* operation = nullptr;
  Handler handler = nullptr;  // null: unbuilt.h has the answer
};

// `AmazonEC2ContainerServiceV20141113.<Action>`; null for any other target.
const Route* FindRoute(std::string_view target);
// Requires: one of schema::Operations().
const Route& RouteOf(const schema::Operation& operation);

}  // namespace berth::api
