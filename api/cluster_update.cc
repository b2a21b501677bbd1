#include "api/cluster_update.h"

#include <utility>

#include "api/arguments.h"
#include "api/cluster_loop.h"
#include "api/shapes/cluster.h"
#include "model/errors.h"
#include "scheduler/commands.h"

namespace berth::api {

namespace {

constexpr int kRacesMax = 100;

}  // namespace

struct ClusterUpdateRequest {
  std::string cluster = {};
};
template <>
inline constexpr auto kFields<ClusterUpdateRequest> = std::array{
    Field<&ClusterUpdateRequest::cluster>("cluster"),
};

net::awaitable<Answer> AnswerClusterUpdate(Call call) {
  const JsonView body = call.body.root();
  const auto request = Decode<ClusterUpdateRequest>(body);
  const absl::StatusOr<model::ClusterName> name =
      RequiredClusterArgument(call.scope(), request.cluster);
  if (!name.ok()) co_return name.status();
  absl::Status checked = CheckClusterMembers(body);
  if (!checked.ok()) co_return checked;

  for (int race = 0; race < kRacesMax; ++race) {
    scheduler::DescribeClusters read{.names = {*name}};
    const auto found = co_await call.context.loop.Submit(std::move(read));
    if (!found.ok()) co_return found.status();
    if (found->clusters.empty()) co_return model::ClusterNotFound();
    const std::string& document = found->clusters[0].record->document;

    scheduler::UpdateCluster command{.name = *name,
                                     .expected_document = document,
                                     .document = UpdateClusterDocument(document, body)};
    const auto updated = co_await call.context.loop.Submit(std::move(command));
    if (!updated.ok()) co_return updated.status();
    if (!updated->has_value()) continue;
    co_return WriteClusterAnswer(**updated, call.scope());
  }
  co_return model::Unavailable("the cluster is being changed by others all the time: try again");
}

}  // namespace berth::api
