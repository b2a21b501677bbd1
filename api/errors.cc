#include "api/errors.h"

#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/str_format.h"
#include "api/json_writer.h"
#include "model/check.h"
#include "model/errors.h"

namespace berth::api {

namespace {

constexpr char kApiErrorPayload[] = "berth.api/error";
constexpr char kClusterPayload[] = "berth.api/cluster";
// Messages quote what the caller sent, which may be a megabyte.
constexpr size_t kMessageBytesMax = 2048;
constexpr char kCutMark[] = "... (cut)";

// 400: the caller's fault; 500: ours; 503: ours, and the same call may work in a moment. Clients
// repeat calls that got a 5xx or a ThrottlingException, and no others.
struct AwsError {
  const char* type;
  unsigned status;
};

AwsError Find(model::ErrorKind kind) {
  switch (kind) {
    case model::ErrorKind::kInvalidParameter:
      return {"InvalidParameterException", 400};
    case model::ErrorKind::kClient:
      return {"ClientException", 400};
    case model::ErrorKind::kClusterNotFound:
      return {"ClusterNotFoundException", 400};
    case model::ErrorKind::kAccessDenied:
      return {"AccessDeniedException", 400};
    case model::ErrorKind::kResourceNotFound:
      return {"ResourceNotFoundException", 400};
    case model::ErrorKind::kTargetNotFound:
      return {"TargetNotFoundException", 400};
    case model::ErrorKind::kTargetNotConnected:
      return {"TargetNotConnectedException", 400};
    case model::ErrorKind::kAttributeLimitExceeded:
      return {"AttributeLimitExceededException", 400};
    case model::ErrorKind::kClusterContainsServices:
      return {"ClusterContainsServicesException", 400};
    case model::ErrorKind::kClusterContainsInstances:
      return {"ClusterContainsContainerInstancesException", 400};
    case model::ErrorKind::kClusterContainsTasks:
      return {"ClusterContainsTasksException", 400};
    case model::ErrorKind::kConflict:
      return {"ConflictException", 400};
    case model::ErrorKind::kUnsupported:
      return {"UnsupportedFeatureException", 400};
    case model::ErrorKind::kThrottled:
      return {"ThrottlingException", 400};
    case model::ErrorKind::kUnavailable:
      return {"ServerException", 503};
    case model::ErrorKind::kInternal:
      break;
  }
  return {"ServerException", 500};
}

AwsError Find(ApiError error) {
  switch (error) {
    case ApiError::kUnknownOperation:
      return {"UnknownOperationException", 400};
    case ApiError::kSerialization:
      return {"SerializationException", 400};
    case ApiError::kDaemonNotFound:
      return {"DaemonNotFoundException", 400};
    case ApiError::kGatewayNotFound:
      return {"GatewayNotFoundException", 400};
    case ApiError::kNoUpdateAvailable:
      return {"NoUpdateAvailableException", 400};
    case ApiError::kServiceNotFound:
      return {"ServiceNotFoundException", 400};
    case ApiError::kMissingAuthenticationToken:
      return {"MissingAuthenticationTokenException", 400};
    case ApiError::kIncompleteSignature:
      return {"IncompleteSignatureException", 400};
    case ApiError::kUnrecognizedClient:
      return {"UnrecognizedClientException", 400};
    case ApiError::kInvalidSignature:
      return {"InvalidSignatureException", 400};
  }
  return {"ServerException", 500};
}

AwsError Find(const absl::Status& error) {
  const absl::optional<absl::Cord> payload = error.GetPayload(kApiErrorPayload);
  if (!payload) return Find(model::KindOf(error));
  return Find(static_cast<ApiError>(std::stoi(std::string(*payload))));
}

// Whole up to the limit; beyond it cut between two characters.
std::string Shortened(std::string_view message) {
  if (message.size() <= kMessageBytesMax) return std::string(message);
  size_t end = kMessageBytesMax - (sizeof kCutMark - 1);
  while ((static_cast<unsigned char>(message[end]) & 0xC0) == 0x80) --end;
  return std::string(message.substr(0, end)) + kCutMark;
}

}  // namespace

absl::Status MakeApiError(ApiError error, std::string_view message) {
  absl::Status status = absl::InvalidArgumentError(absl::StrFormat("%s", message));
  status.SetPayload(kApiErrorPayload, absl::Cord(std::to_string(static_cast<int>(error))));
  return status;
}

absl::Status SerializationError(std::string_view message) {
  return MakeApiError(ApiError::kSerialization, message);
}

absl::Status InCluster(absl::Status error, const model::ClusterName& cluster) {
  error.SetPayload(kClusterPayload, absl::Cord(cluster.value));
  return error;
}

ApiResponse ErrorResponse(const absl::Status& error, const model::ArnScope& scope) {
  BERTH_CHECK(!error.ok());
  const AwsError aws = Find(error);
  JsonWriter writer;
  writer.BeginObject();
  writer.String("__type", aws.type);
  const absl::string_view message = error.message();
  writer.String("message", Shortened({message.data(), message.size()}));
  const std::vector<model::TaskId> tasks = model::ConflictingTasks(error);
  const absl::optional<absl::Cord> cluster = error.GetPayload(kClusterPayload);
  if (!tasks.empty() && cluster) {
    const model::ClusterName name{std::string(*cluster)};
    writer.BeginArray("resourceIds");
    for (const model::TaskId& task : tasks) writer.String(model::TaskArn(scope, name, task));
    writer.EndArray();
  }
  writer.EndObject();
  return {.status = aws.status, .error_type = aws.type, .body = writer.Take()};
}

}  // namespace berth::api
