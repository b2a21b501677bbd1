// The resourceArn of TagResource, UntagResource and ListTagsForResource.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "model/arn.h"
#include "scheduler/commands.h"

namespace berth::api {

// What the ARN names. Errors: InvalidParameter for what is no ARN of a resource that can have tags,
// for another account's, and for ARNs of the old form; ResourceNotFound for kinds of which this
// installation has none.
absl::StatusOr<scheduler::TaggedResource> ParseTaggedResource(const model::ArnScope& scope,
                                                              std::string_view arn);

}  // namespace berth::api
