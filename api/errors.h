// What AWS calls our errors, which HTTP status they get, and their body. The only place that knows
// the names; wording is made where the error is (model/errors.h).
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "api/dispatch.h"
#include "model/arn.h"
#include "model/ids.h"

namespace berth::api {

// Errors of the API alone, beside those that the core returns (model::ErrorKind).
enum class ApiError {
  kUnknownOperation,
  kSerialization,
  kDaemonNotFound,
  kGatewayNotFound,
  kNoUpdateAvailable,
  kServiceNotFound,
  // Of signatures (ecs-api.md 1.4).
  kMissingAuthenticationToken,
  kIncompleteSignature,
  kUnrecognizedClient,
  kInvalidSignature,
};

absl::Status MakeApiError(ApiError error, std::string_view message);
// The body is not JSON, or a member has the wrong JSON type.
absl::Status SerializationError(std::string_view message);

// The cluster by which the ids that the error carries become ARNs. OK stays OK.
absl::Status InCluster(absl::Status error, const model::ClusterName& cluster);

// Requires: not OK.
ApiResponse ErrorResponse(const absl::Status& error, const model::ArnScope& scope);

}  // namespace berth::api
