#include "agent/task_record.h"

#include <array>
#include <utility>

#include "agent/json_parts.h"

namespace berth::agent {

namespace {

constexpr int64_t kFormat = 1;

constexpr std::array<std::pair<Phase, std::string_view>, 9> kPhases = {{
    {Phase::kWaiting, "waiting"},
    {Phase::kPulling, "pulling"},
    {Phase::kPulled, "pulled"},
    {Phase::kCreating, "creating"},
    {Phase::kCreated, "created"},
    {Phase::kStarting, "starting"},
    {Phase::kRunning, "running"},
    {Phase::kStopping, "stopping"},
    {Phase::kStopped, "stopped"},
}};

std::string_view PhaseName(Phase phase) {
  for (const auto& [value, name] : kPhases) {
    if (value == phase) return name;
  }
  return "waiting";
}

std::optional<Phase> ParsePhase(std::string_view text) {
  for (const auto& [value, name] : kPhases) {
    if (name == text) return value;
  }
  return std::nullopt;
}

void WriteTime(json::Builder& out, std::string_view name, absl::Time time) {
  if (time == absl::InfinitePast() || time == absl::InfiniteFuture()) return;
  out.Member(name, absl::ToUnixMicros(time));
}

absl::Time ReadTime(const json::Value& object, const char* name) {
  const std::optional<int64_t> micros = json::FindInt(object, name);
  return micros ? absl::FromUnixMicros(*micros) : absl::InfinitePast();
}

void WriteContainer(json::Builder& out, std::string_view name, const ContainerState& container) {
  out.Object();
  out.Member("name", name);
  out.Member("phase", PhaseName(container.phase));
  out.Member("runtimeId", container.runtime_id);
  out.Member("imageDigest", container.image_digest);
  out.Member("reason", container.reason);
  out.Member("hasRun", container.has_run);
  if (container.exit_code) out.Member("exitCode", *container.exit_code);
  if (container.restarts > 0) out.Member("restarts", container.restarts);
  WriteTime(out, "startedAt", container.started_at);
  WriteTime(out, "finishedAt", container.finished_at);
  out.Key("bindings");
  WriteNetworkBindings(container.bindings, out);
  out.Member("reported", model::ToString(container.reported));
  out.EndObject();
}

std::optional<ContainerState> ReadContainer(const json::Value& value) {
  ContainerState container;
  const std::optional<Phase> phase = ParsePhase(json::StringOr(value, "phase"));
  const auto reported = model::ParseContainerStatus(json::StringOr(value, "reported"));
  if (!phase || !reported) return std::nullopt;
  container.phase = *phase;
  container.reported = *reported;
  container.runtime_id = json::StringOr(value, "runtimeId");
  container.image_digest = json::StringOr(value, "imageDigest");
  container.reason = json::StringOr(value, "reason");
  container.has_run = json::FindBool(value, "hasRun").value_or(false);
  container.exit_code = json::FindInt(value, "exitCode");
  container.restarts = json::FindInt(value, "restarts").value_or(0);
  container.started_at = ReadTime(value, "startedAt");
  container.finished_at = ReadTime(value, "finishedAt");
  if (const json::Value* bindings = json::FindArray(value, "bindings")) {
    for (const json::Value& entry : bindings->GetArray()) {
      model::NetworkBinding binding;
      binding.bind_ip = json::StringOr(entry, "bindIP");
      binding.container_port = json::FindInt(entry, "containerPort").value_or(0);
      binding.host_port = json::FindInt(entry, "hostPort").value_or(0);
      if (json::StringOr(entry, "protocol") == "udp") binding.protocol = model::Protocol::kUdp;
      container.bindings.push_back(std::move(binding));
    }
  }
  return container;
}

}  // namespace

std::string EncodeRecord(const TaskRecord& record) {
  const TaskState& state = record.state;
  json::Builder out;
  out.Object();
  out.Member("format", kFormat);
  out.Member("arn", record.task->arn);
  if (!record.payload.empty()) out.Key("payload").Raw(record.payload);
  out.Member("desired", model::ToString(state.desired));
  out.Member("status", model::ToString(state.status));
  out.Member("reported", model::ToString(state.reported));
  out.Member("reachedRunning", state.reached_running);
  out.Member("reason", state.reason);
  out.Member("cleanedUp", state.cleaned_up);
  WriteTime(out, "pullStartedAt", state.pull_started_at);
  WriteTime(out, "pullStoppedAt", state.pull_stopped_at);
  WriteTime(out, "executionStoppedAt", state.execution_stopped_at);
  WriteTime(out, "stoppedAt", state.stopped_at);
  out.Key("containers").Array();
  for (size_t i = 0; i < state.containers.size(); ++i) {
    WriteContainer(out, record.task->containers[i].name, state.containers[i]);
  }
  out.EndArray().EndObject();
  return out.Text();
}

absl::StatusOr<TaskRecord> DecodeRecord(std::string_view text) {
  json::Document document;
  const absl::Status parsed = ParseStateDocument(text, kFormat, document);
  if (!parsed.ok()) return parsed;
  TaskRecord record;
  const std::string arn = json::StringOr(document, "arn");
  const auto desired = model::ParseDesiredStatus(json::StringOr(document, "desired"));
  const auto status = model::ParseTaskStatus(json::StringOr(document, "status"));
  const auto reported = model::ParseTaskStatus(json::StringOr(document, "reported"));
  const json::Value* containers = json::FindArray(document, "containers");
  if (TaskIdOf(arn).empty() || !desired || !status || !reported || containers == nullptr) {
    return absl::DataLossError("a member is missing or has a value that is none of its words");
  }
  if (const json::Value* payload = json::Find(document, "payload")) {
    record.payload = json::ToText(*payload);
    const DecodedTask decoded = DecodeTask(record.payload);
    if (decoded.task == nullptr) {
      return absl::DataLossError(decoded.undecodable + decoded.refusal);
    }
    record.task = decoded.task;
  } else {
    auto bare = std::make_shared<TaskPayload>();
    bare->arn = arn;
    bare->id = TaskIdOf(arn);
    record.task = std::move(bare);
  }
  if (record.task->containers.size() != containers->Size() || record.task->arn != arn) {
    return absl::DataLossError("its states do not match its payload");
  }
  TaskState& state = record.state;
  state.desired = *desired;
  state.status = *status;
  state.reported = *reported;
  state.reached_running = json::FindBool(document, "reachedRunning").value_or(false);
  state.reason = json::StringOr(document, "reason");
  state.cleaned_up = json::FindBool(document, "cleanedUp").value_or(false);
  state.pull_started_at = ReadTime(document, "pullStartedAt");
  state.pull_stopped_at = ReadTime(document, "pullStoppedAt");
  state.execution_stopped_at = ReadTime(document, "executionStoppedAt");
  state.stopped_at = ReadTime(document, "stoppedAt");
  for (const json::Value& entry : containers->GetArray()) {
    std::optional<ContainerState> container = ReadContainer(entry);
    if (!container) return absl::DataLossError("a container has a value that is none of its words");
    state.containers.push_back(*std::move(container));
  }
  return record;
}

TaskRecord StoppedRecord(std::string arn, std::string id, std::string reason, absl::Time now) {
  auto task = std::make_shared<TaskPayload>();
  task->arn = std::move(arn);
  task->id = std::move(id);
  TaskRecord record;
  record.task = std::move(task);
  record.state.desired = model::DesiredStatus::kStopped;
  record.state.status = model::TaskStatus::kStopped;
  record.state.reason = std::move(reason);
  record.state.stopped_at = now;
  return record;
}

}  // namespace berth::agent
