// UpdateClusterSettings: UpdateCluster for `settings` alone, which must be there.
#include <utility>

#include "api/call.h"
#include "api/cluster_update.h"
#include "model/errors.h"

namespace berth::api {

net::awaitable<Answer> UpdateClusterSettings(Call call) {
  const JsonView settings = call.body.root().Find("settings");
  if (!settings || settings.size() == 0) {
    co_return model::InvalidParameter(
        "settings has no items: it should have one, named containerInsights");
  }
  co_return co_await AnswerClusterUpdate(std::move(call));
}

}  // namespace berth::api
