// TagResource adds tags to a resource, in place of those with the same keys: all of them or none.
#include <utility>

#include "api/arguments.h"
#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/shape_checks.h"
#include "api/tagged_resource.h"
#include "model/errors.h"

namespace berth::api {

struct TagResourceRequest {
  std::string arn = {};
  std::vector<TagArgument> tags = {};
};
template <>
inline constexpr auto kFields<TagResourceRequest> = std::array{
    Field<&TagResourceRequest::arn>("resourceArn"),
    Field<&TagResourceRequest::tags>("tags"),
};

net::awaitable<Answer> TagResource(Call call) {
  const auto request = Decode<TagResourceRequest>(call.body.root());
  if (const auto missing = FindMissingMember(call.body.root())) {
    co_return model::InvalidParameter(*missing);
  }
  absl::StatusOr<scheduler::TaggedResource> resource =
      ParseTaggedResource(call.scope(), request.arn);
  if (!resource.ok()) co_return resource.status();
  absl::StatusOr<model::Tags> tags = ParseTags(request.tags);
  if (!tags.ok()) co_return tags.status();

  scheduler::TagResource command{.resource = *std::move(resource), .tags = *std::move(tags)};
  const auto reply = co_await call.context.loop.Submit(std::move(command));
  if (!reply.ok()) co_return reply.status();
  co_return "{}";
}

}  // namespace berth::api
