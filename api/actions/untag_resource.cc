// UntagResource takes tags off a resource; keys that it does not have are no error.
#include <utility>

#include "api/arguments.h"
#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/shape_checks.h"
#include "api/tagged_resource.h"
#include "model/errors.h"

namespace berth::api {

struct UntagResourceRequest {
  std::string arn = {};
  std::vector<std::string> keys = {};
};
template <>
inline constexpr auto kFields<UntagResourceRequest> = std::array{
    Field<&UntagResourceRequest::arn>("resourceArn"),
    Field<&UntagResourceRequest::keys>("tagKeys"),
};

net::awaitable<Answer> UntagResource(Call call) {
  auto request = Decode<UntagResourceRequest>(call.body.root());
  if (const auto missing = FindMissingMember(call.body.root())) {
    co_return model::InvalidParameter(*missing);
  }
  absl::StatusOr<scheduler::TaggedResource> resource =
      ParseTaggedResource(call.scope(), request.arn);
  if (!resource.ok()) co_return resource.status();
  absl::Status checked = CheckTagKeys(request.keys);
  if (!checked.ok()) co_return checked;

  scheduler::UntagResource command{.resource = *std::move(resource),
                                   .keys = std::move(request.keys)};
  const auto reply = co_await call.context.loop.Submit(std::move(command));
  if (!reply.ok()) co_return reply.status();
  co_return "{}";
}

}  // namespace berth::api
