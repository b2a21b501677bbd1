// UpdateCluster: the members given replace the cluster's own as a whole, the others stay.
#include <utility>

#include "api/call.h"
#include "api/cluster_update.h"

namespace berth::api {

net::awaitable<Answer> UpdateCluster(Call call) { return AnswerClusterUpdate(std::move(call)); }

}  // namespace berth::api
