// ListTagsForResource shows the tags of a resource.
#include <utility>

#include "api/arguments.h"
#include "api/call.h"
#include "api/cluster_loop.h"
#include "api/shape_checks.h"
#include "api/shapes/common.h"
#include "api/tagged_resource.h"
#include "model/errors.h"

namespace berth::api {

struct ListTagsForResourceRequest {
  std::string arn = {};
};
template <>
inline constexpr auto kFields<ListTagsForResourceRequest> = std::array{
    Field<&ListTagsForResourceRequest::arn>("resourceArn"),
};

namespace {

// The action's model has no ResourceNotFoundException.
absl::Status AsModelled(const absl::Status& error) {
  if (model::KindOf(error) != model::ErrorKind::kResourceNotFound) return error;
  return model::InvalidParameter(std::string(error.message()));
}

}  // namespace

net::awaitable<Answer> ListTagsForResource(Call call) {
  const auto request = Decode<ListTagsForResourceRequest>(call.body.root());
  if (const auto missing = FindMissingMember(call.body.root())) {
    co_return model::InvalidParameter(*missing);
  }
  absl::StatusOr<scheduler::TaggedResource> resource =
      ParseTaggedResource(call.scope(), request.arn);
  if (!resource.ok()) co_return AsModelled(resource.status());

  scheduler::ListTagsForResource command{.resource = *std::move(resource)};
  const auto reply = co_await call.context.loop.Submit(std::move(command));
  if (!reply.ok()) co_return AsModelled(reply.status());

  JsonWriter writer;
  writer.BeginObject();
  WriteTags(reply->tags, writer);
  writer.EndObject();
  co_return writer.Take();
}

}  // namespace berth::api
