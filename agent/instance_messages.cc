// What the instance does with the messages of its channel (agent-protocol.md 2.3 to 2.9).
#include <algorithm>
#include <array>

#include <spdlog/spdlog.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "agent/instance.h"
#include "agent/json.h"
#include "agent/spawn.h"

namespace berth::agent {

namespace {

constexpr char kUnknownTask[] = "TaskStateError: Agent could not progress task's state to stopped";
constexpr char kUnknownListed[] = "the agent does not know this task, and so does not run it";

// Messages of the protocol that ask nothing of this agent, or nothing it could do.
constexpr std::array<std::string_view, 11> kIgnored = {"IAMRoleCredentialsMessage",
                                                       "AttachTaskNetworkInterfacesMessage",
                                                       "AttachInstanceNetworkInterfacesMessage",
                                                       "ConfirmAttachmentMessage",
                                                       "CloseMessage",
                                                       "ErrorMessage",
                                                       "ServerException",
                                                       "BadRequestException",
                                                       "InvalidClusterException",
                                                       "InvalidInstanceException",
                                                       "InactiveInstanceException"};

std::vector<std::string> TaskArns(const json::Value& message, const char* list, bool only_running) {
  std::vector<std::string> arns;
  const json::Value* tasks = json::FindArray(message, list);
  if (tasks == nullptr) return arns;
  for (const json::Value& task : tasks->GetArray()) {
    if (only_running && json::StringOr(task, "desiredStatus") != "RUNNING") continue;
    arns.push_back(json::StringOr(task, "taskArn"));
  }
  return arns;
}

std::string Envelope(std::string_view type, std::string_view message) {
  json::Builder out;
  out.Object().Member("type", type).Key("message").Raw(message).EndObject();
  return out.Text();
}

}  // namespace

net::awaitable<bool> InstanceAgent::OnMessage(std::string text) {
  const auto self = shared_from_this();
  json::Document envelope;
  const bool parsed = json::Parse(text, envelope);
  const json::Value* body = parsed ? json::Find(envelope, "message") : nullptr;
  if (body == nullptr || !body->IsObject()) {
    spdlog::warn("a message that is no envelope of the agent protocol is ignored");
    co_return false;
  }
  const std::string type = json::StringOr(envelope, "type");
  std::string message = json::ToText(*body);
  if (type == "HeartbeatMessage") {
    Acknowledge(message, "HeartbeatAckRequest");
    co_return true;
  }
  if (type == "PayloadMessage") co_return co_await OnPayload(std::move(message));
  if (type == "TaskManifestMessage") co_return co_await OnManifest(std::move(message));
  if (type == "TaskStopVerificationAck") {
    OnStopVerified(message);
    co_return true;
  }
  if (type == "StageUpdateMessage" || type == "PerformUpdateMessage") {
    Acknowledge(message, "NackRequest", "updates are not done by this agent");
    co_return true;
  }
  const bool known = std::find(kIgnored.begin(), kIgnored.end(), type) != kIgnored.end();
  spdlog::warn("a message of the {} type {} is ignored", known ? "known" : "unknown", type);
  co_return known;
}

void InstanceAgent::Acknowledge(const std::string& message, const char* type,
                                std::string_view reason) {
  json::Document body;
  json::Parse(message, body);
  json::Builder out;
  out.Object();
  if (std::string_view(type) != "HeartbeatAckRequest") {
    // Echoed as they came.
    out.Member("cluster", json::StringOr(body, "clusterArn"));
    out.Member("containerInstance", json::StringOr(body, "containerInstanceArn"));
  }
  out.Member("messageId", json::StringOr(body, "messageId"));
  if (!reason.empty()) out.Member("reason", reason);
  out.EndObject();
  channel_->Send(Envelope(type, out.Text()));
}

net::awaitable<bool> InstanceAgent::OnPayload(std::string message) {
  json::Document body;
  json::Parse(message, body);
  if (json::StringOr(body, "messageId").empty() || json::StringOr(body, "clusterArn").empty() ||
      json::StringOr(body, "containerInstanceArn").empty()) {
    spdlog::error("a payload without messageId, clusterArn or containerInstanceArn is ignored");
    co_return true;
  }
  highest_number_ = std::max(highest_number_, json::FindInt(body, "seqNum").value_or(-1));
  std::vector<std::string> stops;
  std::vector<std::string> starts;
  if (const json::Value* tasks = json::FindArray(body, "tasks")) {
    for (const json::Value& task : tasks->GetArray()) {
      const bool stop = json::StringOr(task, "desiredStatus") == "STOPPED";
      (stop ? stops : starts).push_back(json::ToText(task));
    }
  }
  // Stops first: what they free may be what a start needs.
  bool all_accepted = true;
  stops.insert(stops.end(), starts.begin(), starts.end());
  for (const std::string& task : stops) {
    const bool accepted = co_await AcceptTask(task);
    all_accepted = all_accepted && accepted;
  }
  if (all_accepted) Acknowledge(message, "AckRequest");
  co_return true;
}

net::awaitable<bool> InstanceAgent::AcceptTask(std::string text) {
  const DecodedTask decoded = DecodeTask(text);
  if (decoded.id.empty()) {
    spdlog::error("a task is ignored: {}", decoded.undecodable);
    co_return false;
  }
  const auto found = tasks_.find(decoded.id);
  const bool known = found != tasks_.end();
  if (known && found->second.flow->is_told_stopped()) {
    ReportAgain(*found->second.flow);
  } else if (known && decoded.desired == model::DesiredStatus::kStopped) {
    found->second.flow->RequestStop("told so by the server");
  } else if (!known && !decoded.undecodable.empty()) {
    AddStopped(decoded.arn, decoded.id, decoded.undecodable);
  } else if (!known && !decoded.refusal.empty()) {
    AddStopped(decoded.arn, decoded.id, decoded.refusal);
  } else if (!known && decoded.desired == model::DesiredStatus::kStopped) {
    AddStopped(decoded.arn, decoded.id, kUnknownTask);
  } else if (!known) {
    TaskRecord record;
    record.payload = std::move(text);
    record.task = decoded.task;
    record.state.containers.resize(decoded.task->containers.size());
    Add(std::move(record));
  }
  const absl::Status saved = co_await SaveTask(decoded.id);
  if (!saved.ok() && !known) {
    // Without a record a crash would leave its containers to nobody, so it does not run.
    const std::string why =
        absl::StrCat("ResourceInitializationError: the agent cannot save the task: ",
                     std::string(saved.message()));
    AddStopped(decoded.arn, decoded.id, why);
  } else if (!saved.ok()) {
    spdlog::error("task {}: its state is not saved: {}", decoded.id, std::string(saved.message()));
  }
  const auto now = tasks_.find(decoded.id);
  if (now != tasks_.end()) {
    if (!known) now->second.flow->Begin();
    reporter_->Notify(now->second.flow);
  }
  co_return saved.ok() && decoded.undecodable.empty();
}

// The list of what should run. What we run and is not on it is offered to be stopped; what is on it
// and we do not run is reported STOPPED, after a while in which its payload may arrive.
net::awaitable<bool> InstanceAgent::OnManifest(std::string message) {
  json::Document body;
  json::Parse(message, body);
  const std::optional<int64_t> timeline = json::FindInt(body, "timeline");
  const std::string message_id = json::StringOr(body, "messageId");
  if (!timeline || message_id.empty() || *timeline <= highest_number_) co_return true;
  highest_number_ = *timeline;
  identity_.manifest_number = *timeline;
  co_await SaveIdentity();
  Acknowledge(message, "AckRequest");

  const std::vector<std::string> listed = TaskArns(body, "tasks", true);
  const std::set<std::string> running(listed.begin(), listed.end());
  manifest_id_ = message_id;
  stop_candidates_.clear();
  for (const auto& [id, entry] : tasks_) {
    const std::string& arn = entry.flow->task().arn;
    const bool listed_here = running.contains(arn);
    const bool wanted = entry.flow->state().desired == model::DesiredStatus::kRunning;
    if (!listed_here && wanted) stop_candidates_.insert(arn);
    if (listed_here && entry.flow->is_told_stopped()) {
      ReportAgain(*entry.flow);
      reporter_->Notify(entry.flow);
    }
  }
  if (!stop_candidates_.empty()) {
    json::Builder out;
    out.Object().Member("messageId", message_id).Key("stopCandidates").Array();
    for (const std::string& arn : stop_candidates_) {
      out.Object().Member("taskArn", arn);
      out.Member("taskClusterArn", json::StringOr(body, "clusterArn"));
      out.Member("desiredStatus", "STOPPED").EndObject();
    }
    out.EndArray().EndObject();
    channel_->Send(Envelope("TaskStopVerificationMessage", out.Text()));
  }
  std::vector<std::string> unknown;
  for (const std::string& arn : listed) {
    const std::string id = TaskIdOf(arn);
    if (!id.empty() && !tasks_.contains(id)) unknown.push_back(arn);
  }
  if (!unknown.empty()) Spawn(executor_, "unknown tasks", ReportUnknown(std::move(unknown)));
  co_return true;
}

net::awaitable<void> InstanceAgent::ReportUnknown(std::vector<std::string> arns) {
  const auto self = shared_from_this();
  co_await Sleep(parts_.timing.unknown_task_patience);
  for (const std::string& arn : arns) {
    const std::string id = TaskIdOf(arn);
    if (tasks_.contains(id)) continue;
    AddStopped(arn, id, kUnknownListed);
    reporter_->Notify(tasks_[id].flow);
  }
}

void InstanceAgent::OnStopVerified(const std::string& message) {
  json::Document body;
  json::Parse(message, body);
  // Each manifest can be confirmed once, and only the latest.
  if (manifest_id_.empty() || json::StringOr(body, "messageId") != manifest_id_) return;
  const std::set<std::string> candidates = std::move(stop_candidates_);
  stop_candidates_.clear();
  manifest_id_.clear();
  for (const std::string& arn : TaskArns(body, "stopTasks", false)) {
    const auto found = tasks_.find(TaskIdOf(arn));
    if (!candidates.contains(arn) || found == tasks_.end()) continue;
    found->second.flow->RequestStop("it is on no list of the server");
  }
}

}  // namespace berth::agent
