#include "api/acs_messages.h"

#include <rapidjson/document.h>

#include "absl/strings/match.h"
#include "api/json_writer.h"
#include "api/payload.h"

namespace berth::api {
namespace {

// Deep enough for every message, and too shallow to exhaust the stack.
constexpr unsigned kParseFlags =
    rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;

void BeginMessage(JsonWriter& json, std::string_view type) {
  json.BeginObject();
  json.String("type", type);
  json.BeginObject("message");
}

std::string EndMessage(JsonWriter& json) {
  json.EndObject();
  json.EndObject();
  return json.Take();
}

void WriteAddress(JsonWriter& json, const AcsAddress& to) {
  json.String("clusterArn", model::ClusterArn(to.scope, to.cluster));
  json.String("containerInstanceArn", model::InstanceArn(to.scope, to.cluster, to.instance));
}

void WriteTaskState(JsonWriter& json, const AcsAddress& to, const model::TaskId& task,
                    model::DesiredStatus desired) {
  json.BeginObject();
  json.String("taskArn", model::TaskArn(to.scope, to.cluster, task));
  json.String("taskClusterArn", model::ClusterArn(to.scope, to.cluster));
  json.String("desiredStatus", model::ToString(desired));
  json.EndObject();
}

void BeginPayload(JsonWriter& json, const AcsAddress& to, const Outbox::Stamp& stamp,
                  absl::Time now) {
  BeginMessage(json, "PayloadMessage");
  json.String("messageId", stamp.message_id);
  WriteAddress(json, to);
  json.Int("seqNum", stamp.number);
  json.Int("generatedAt", absl::ToUnixMillis(now));
  json.BeginArray("tasks");
}

std::string EndPayload(JsonWriter& json) {
  json.EndArray();
  return EndMessage(json);
}

const rapidjson::Value* Find(const rapidjson::Value& object, const char* name) {
  for (const auto& member : object.GetObject()) {
    if (absl::EqualsIgnoreCase(member.name.GetString(), name)) return &member.value;
  }
  return nullptr;
}

std::string FindString(const rapidjson::Value& object, const char* name) {
  const rapidjson::Value* value = Find(object, name);
  if (value == nullptr || !value->IsString()) return {};
  return {value->GetString(), value->GetStringLength()};
}

}  // namespace

std::string EncodeHeartbeat(std::string_view message_id) {
  JsonWriter json;
  BeginMessage(json, "HeartbeatMessage");
  json.String("messageId", message_id);
  json.Bool("healthy", true);
  return EndMessage(json);
}

std::string EncodeStart(const AcsAddress& to, const Outbox::Stamp& stamp, const model::Task& task,
                        absl::Time now) {
  JsonWriter json;
  BeginPayload(json, to, stamp, now);
  json.Raw(EncodeTaskPayload(task, to.scope));
  return EndPayload(json);
}

std::string EncodeStop(const AcsAddress& to, const Outbox::Stamp& stamp, const model::TaskId& task,
                       absl::Time now) {
  JsonWriter json;
  BeginPayload(json, to, stamp, now);
  json.BeginObject();
  json.String("arn", model::TaskArn(to.scope, to.cluster, task));
  json.String("desiredStatus", model::ToString(model::DesiredStatus::kStopped));
  json.EndObject();
  return EndPayload(json);
}

std::string EncodeManifest(const AcsAddress& to, const Outbox::Stamp& stamp,
                           const std::vector<model::TaskRecord>& running, absl::Time now) {
  JsonWriter json;
  BeginMessage(json, "TaskManifestMessage");
  json.String("messageId", stamp.message_id);
  WriteAddress(json, to);
  json.Int("timeline", stamp.number);
  json.Int("generatedAt", absl::ToUnixMillis(now));
  json.BeginArray("tasks");
  for (const model::TaskRecord& task : running) {
    WriteTaskState(json, to, task->id, model::DesiredStatus::kRunning);
  }
  json.EndArray();
  return EndMessage(json);
}

std::string EncodeStopVerificationAck(const AcsAddress& to, std::string_view message_id,
                                      const std::vector<model::TaskId>& confirmed, absl::Time now) {
  JsonWriter json;
  BeginMessage(json, "TaskStopVerificationAck");
  json.String("messageId", message_id);
  json.Int("generatedAt", absl::ToUnixMillis(now));
  json.BeginArray("stopTasks");
  for (const model::TaskId& task : confirmed) {
    WriteTaskState(json, to, task, model::DesiredStatus::kStopped);
  }
  json.EndArray();
  return EndMessage(json);
}

std::string EncodeInactiveInstance(std::string_view text) {
  JsonWriter json;
  json.BeginObject();
  json.String("InactiveInstanceException", text);
  json.EndObject();
  return json.Take();
}

std::string EncodeRefusal(std::string_view type, std::string_view text) {
  JsonWriter json;
  json.BeginObject();
  json.String("type", type);
  json.BeginObject("message");
  json.String("message", text);
  json.EndObject();
  json.EndObject();
  return json.Take();
}

absl::StatusOr<AgentMessage> DecodeAgentMessage(const std::string& text) {
  rapidjson::Document envelope;
  envelope.Parse<kParseFlags>(text.data(), text.size());
  if (envelope.HasParseError() || !envelope.IsObject()) {
    return absl::InvalidArgumentError("a message is not a JSON object");
  }
  AgentMessage decoded{.type = FindString(envelope, "type")};
  const rapidjson::Value* message = Find(envelope, "message");
  if (decoded.type.empty() || message == nullptr || !message->IsObject()) {
    return absl::InvalidArgumentError("a message lacks `type` or `message`");
  }
  decoded.message_id = FindString(*message, "messageId");
  decoded.reason = FindString(*message, "reason");
  const rapidjson::Value* candidates = Find(*message, "stopCandidates");
  if (candidates != nullptr && candidates->IsArray()) {
    for (const rapidjson::Value& candidate : candidates->GetArray()) {
      if (!candidate.IsObject()) continue;
      if (std::string arn = FindString(candidate, "taskArn"); !arn.empty()) {
        decoded.stop_candidates.push_back(std::move(arn));
      }
    }
  }
  return decoded;
}

}  // namespace berth::api
