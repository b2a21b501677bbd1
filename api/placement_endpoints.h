// Questions about placement over HTTP, beside the ECS API: POST /berth/v1/explain and
// POST /berth/v1/plan (docs/explain.md), POST /berth/v1/defrag (docs/placement.md). Signed, checked
// and throttled as all calls are, and open to whoever may read.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "api/caller.h"
#include "api/dispatch.h"
#include "api/net.h"

namespace berth::api {

inline constexpr char kExplainPath[] = "/berth/v1/explain";
inline constexpr char kPlanPath[] = "/berth/v1/plan";
inline constexpr char kDefragPath[] = "/berth/v1/defrag";

class PlacementEndpoints {
 public:
  // What the context refers to outlives it.
  explicit PlacementEndpoints(ActionContext context) : context_(context) {}

  static bool Owns(std::string_view path) {
    return path == kExplainPath || path == kPlanPath || path == kDefragPath;
  }
  // The name for policies and logs (authorize.h), or nothing when the path has no such method.
  static std::string_view ActionOf(std::string_view method, std::string_view path);
  static const char* AllowedMethods(std::string_view) { return "POST"; }

  // Requires: ActionOf gave a name.
  net::awaitable<ApiResponse> Respond(std::string_view action, std::string path, std::string body,
                                      Caller caller);

 private:
  net::awaitable<ApiResponse> Plan(std::string body, Caller caller);
  net::awaitable<ApiResponse> Explain(std::string body, Caller caller);
  net::awaitable<ApiResponse> Defrag(std::string body, Caller caller);
  ApiResponse Refused(const absl::Status& error, std::string resource) const;

  ActionContext context_;
};

}  // namespace berth::api
