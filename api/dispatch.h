// One API call from request to response: finds the action that X-Amz-Target names, decodes the body
// by the action's shape table, runs it, encodes the answer or the error. Knows no sockets.
#pragma once

#include <string>
#include <vector>

#include "api/caller.h"
#include "api/net.h"
#include "api/settings.h"

namespace berth::api {

class ClusterLoop;

struct ApiRequest {
  std::string target = {};  // the X-Amz-Target header; empty when absent
  std::string body = {};
  std::string request_id = {};  // ours, a UUID
  Caller caller = {};
  bool audited = false;  // the answer should say what the call was about
};

struct ApiResponse {
  unsigned status = 200;
  std::string error_type = {};  // for x-amzn-ErrorType; empty when status is 200
  std::string body = {};        // JSON, always
  // ARNs of what the call was about, where that was asked for.
  std::vector<std::string> resources = {};
};

// What actions work with. Outlives every call.
struct ActionContext {
  ClusterLoop& loop;
  const ServerSettings& settings;
};

// Never throws, and never leaves a call without a well-formed answer.
net::awaitable<ApiResponse> Dispatch(ApiRequest request, ActionContext& context);

// The action's name for logs and metrics, or "-" when the target names none.
std::string ActionName(const std::string& target);

}  // namespace berth::api
