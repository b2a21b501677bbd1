#include "api/dispatch.h"

#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "absl/strings/str_format.h"
#include "api/access/authorize.h"
#include "api/access/call_resources.h"
#include "api/call.h"
#include "api/errors.h"
#include "api/routes.h"
#include "api/unbuilt.h"
#include "model/errors.h"

namespace berth::api {

namespace {

net::awaitable<Answer> RunHandler(const Route& route, Call call) {
  if (route.handler == nullptr) co_return AnswerUnbuilt(*route.operation, call);
  co_return co_await route.handler(std::move(call));
}

// The one catch-all of the API: whatever a library threw, the caller gets an answer.
net::awaitable<Answer> RunGuarded(const Route& route, Call call, std::string request_id) {
  std::optional<std::string> thrown;
  try {
    co_return co_await RunHandler(route, std::move(call));
  } catch (const std::exception& error) {
    thrown = error.what();
  } catch (...) {
    thrown = "something that is no std::exception";
  }
  spdlog::error("{} request {} threw: {}", route.operation->name, request_id, *thrown);
  co_return model::MakeError(
      model::ErrorKind::kInternal,
      "internal failure; the server's log has it under request " + request_id);
}

absl::Status CheckRights(const Caller& caller, const schema::Operation& operation,
                         const std::vector<CallResource>& resources, const model::ArnScope& scope) {
  if (caller.policy != nullptr && resources.size() > kCallResourcesMax) {
    return model::InvalidParameter(absl::StrFormat(
        "the call is about more than %d resources, which no action takes", kCallResourcesMax));
  }
  return Authorize(caller, std::string("ecs:") + operation.name, resources, scope);
}

}  // namespace

net::awaitable<ApiResponse> Dispatch(ApiRequest request, ActionContext& context) {
  const model::ArnScope& scope = context.settings.scope;
  const Route* route = FindRoute(request.target);
  if (route == nullptr) {
    const char* text = request.target.empty()
                           ? "the X-Amz-Target header is missing"
                           : "the X-Amz-Target header names no action of the ECS API";
    co_return ErrorResponse(MakeApiError(ApiError::kUnknownOperation, text), scope);
  }
  absl::StatusOr<JsonBody> body =
      JsonBody::Parse(std::move(request.body), schema::InputOf(*route->operation));
  if (!body.ok()) co_return ErrorResponse(body.status(), scope);

  std::vector<CallResource> resources;
  absl::Status refusal;
  if (request.audited || request.caller.role) {
    resources = ResourcesOf(route->operation->name, body->root(), scope);
    // Before anything is looked up, so that names do not leak.
    refusal = CheckRights(request.caller, *route->operation, resources, scope);
  }
  Answer answer = std::string();
  if (!refusal.ok()) {
    answer = refusal;
  } else {
    Call call{.body = *std::move(body), .context = context, .caller = std::move(request.caller)};
    answer = co_await RunGuarded(*route, std::move(call), std::move(request.request_id));
  }
  ApiResponse response =
      answer.ok() ? ApiResponse{.body = *std::move(answer)} : ErrorResponse(answer.status(), scope);
  for (CallResource& resource : resources) response.resources.push_back(std::move(resource.arn));
  co_return response;
}

std::string ActionName(const std::string& target) {
  const Route* route = FindRoute(target);
  return route == nullptr ? "-" : route->operation->name;
}

}  // namespace berth::api
