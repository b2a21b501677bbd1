// The query of an agent's handshake: which container instance it speaks for
// (agent-protocol.md 2.1).
#pragma once

#include "absl/status/statusor.h"
#include "api/http_handler.h"
#include "model/arn.h"
#include "model/container_instance.h"
#include "model/ids.h"

namespace berth::api {

struct ChannelRequest {
  model::ClusterName cluster = {};
  model::InstanceId instance = {};
  model::VersionInfo version_info = {};
};

// Errors are InvalidParameter, naming the query's member. Browsers are refused: they tell their
// origin, which no agent does, and no rule of theirs keeps a page from opening a websocket here.
absl::StatusOr<ChannelRequest> ParseChannelRequest(const HttpRequest& request,
                                                   const model::ArnScope& scope);

}  // namespace berth::api
