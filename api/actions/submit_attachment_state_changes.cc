// SubmitAttachmentStateChanges: an agent says how far network interfaces and volumes have come.
// Berth attaches none of ECS's kind, so there is nothing to keep; it is acknowledged all the same,
// since agents send what is refused again for a day.
#include "api/arguments.h"
#include "api/call.h"
#include "api/shape_checks.h"
#include "api/shapes/state_report.h"
#include "model/errors.h"

namespace berth::api {

struct SubmitAttachmentStateChangesRequest {
  std::optional<std::string> cluster = std::nullopt;
};
template <>
inline constexpr auto kFields<SubmitAttachmentStateChangesRequest> = std::array{
    Field<&SubmitAttachmentStateChangesRequest::cluster>("cluster"),
};

net::awaitable<Answer> SubmitAttachmentStateChanges(Call call) {
  const auto request = Decode<SubmitAttachmentStateChangesRequest>(call.body.root());
  const absl::StatusOr<model::ClusterName> cluster = ClusterArgument(call.scope(), request.cluster);
  if (!cluster.ok()) co_return cluster.status();
  if (const auto missing = FindMissingMember(call.body.root())) {
    co_return model::InvalidParameter(*missing);
  }
  co_return Acknowledgment();
}

}  // namespace berth::api
