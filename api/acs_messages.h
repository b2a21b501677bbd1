// The messages of the agents' channel as text: {"type":NAME,"message":{...}} (agent-protocol.md 2.2
// to 2.4). Member names live here and in payload.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "api/outbox.h"
#include "model/arn.h"
#include "model/ids.h"
#include "model/task.h"

namespace berth::api {

// Whom the messages are for.
struct AcsAddress {
  model::ArnScope scope = {};
  model::ClusterName cluster = {};
  model::InstanceId instance = {};
};

std::string EncodeHeartbeat(std::string_view message_id);
std::string EncodeStart(const AcsAddress& to, const Outbox::Stamp& stamp, const model::Task& task,
                        absl::Time now);
std::string EncodeStop(const AcsAddress& to, const Outbox::Stamp& stamp, const model::TaskId& task,
                       absl::Time now);
// Lists what should be running.
std::string EncodeManifest(const AcsAddress& to, const Outbox::Stamp& stamp,
                           const std::vector<model::TaskRecord>& running, absl::Time now);
std::string EncodeStopVerificationAck(const AcsAddress& to, std::string_view message_id,
                                      const std::vector<model::TaskId>& confirmed, absl::Time now);

// A refused handshake: the two forms that agents read.
std::string EncodeInactiveInstance(std::string_view text);
std::string EncodeRefusal(std::string_view type, std::string_view text);

// What an agent says. Members are read whatever their case, as the official agent reads ours; those
// that a type does not have stay empty.
struct AgentMessage {
  std::string type = {};
  std::string message_id = {};
  std::string reason = {};                        // NackRequest
  std::vector<std::string> stop_candidates = {};  // task ARNs, TaskStopVerificationMessage
};
// InvalidArgument when the text is no envelope.
absl::StatusOr<AgentMessage> DecodeAgentMessage(const std::string& text);

}  // namespace berth::api
