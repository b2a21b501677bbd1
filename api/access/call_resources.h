// What a call is about, as ARNs, before anything is looked up: made of the request's members alone,
// so that a refusal does not tell whether a thing is there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/aws_json.h"
#include "model/arn.h"

namespace berth::api {

// More than any action takes; what comes beyond one more is left out.
inline constexpr size_t kCallResourcesMax = 256;

struct CallResource {
  // "*" for a call about nothing in particular (ListClusters).
  std::string arn = {};
  // It ends with a '*' that stands for a number which the call will find: the latest revision of a
  // family.
  bool open = false;
};

// Identifiers are read as the actions read them, so that the ways to write one thing (a name, an
// id, an old ARN) give one ARN. What cannot be read stands as it was sent; the action will refuse
// it. The cluster is a resource of its own where no task, instance or service names it.
std::vector<CallResource> ResourcesOf(std::string_view action, JsonView input,
                                      const model::ArnScope& scope);

}  // namespace berth::api
