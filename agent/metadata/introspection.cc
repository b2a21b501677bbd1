#include "agent/metadata/introspection.h"

#include <optional>

#include "agent/json.h"

namespace berth::agent {

namespace {

constexpr char kMetadataPath[] = "/v1/metadata";
constexpr char kTasksPath[] = "/v1/tasks";
constexpr size_t kShortDockerIdLength = 12;

void WriteTask(const TaskView& view, json::Builder& out) {
  out.Object().Member("Arn", view.task->arn);
  out.Key("DesiredStatus").String(model::ToString(view.state->desired));
  out.Key("KnownStatus").String(model::ToString(view.state->status));
  out.Member("Family", view.task->family).Member("Version", view.task->version);
  out.Key("Containers").Array();
  for (size_t i = 0; i < view.task->containers.size(); ++i) {
    out.Object();
    if (i < view.state->containers.size() && !view.state->containers[i].runtime_id.empty()) {
      out.Member("DockerId", view.state->containers[i].runtime_id);
    }
    out.Member("Name", view.task->containers[i].name).EndObject();
  }
  out.EndArray().EndObject();
}

std::string TaskText(const TaskView& view) {
  json::Builder out;
  WriteTask(view, out);
  return out.Text();
}

std::string AllTasksText(const InstanceView& instance) {
  json::Builder out;
  out.Object().Key("Tasks").Array();
  for (const TaskView& view : instance.tasks) WriteTask(view, out);
  out.EndArray().EndObject();
  return out.Text();
}

std::string MetadataText(const InstanceView& instance) {
  json::Builder out;
  out.Object().Member("Cluster", instance.cluster);
  out.Member("ContainerInstanceArn", instance.instance_arn);
  out.Member("Version", "Berth Agent - v" + instance.version).EndObject();
  return out.Text();
}

std::string CommandsText() {
  json::Builder out;
  out.Object().Key("AvailableCommands").Array();
  out.String(kMetadataPath).String(kTasksPath).EndArray().EndObject();
  return out.Text();
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Nothing when a percent sign is not followed by two hexadecimal digits.
std::optional<std::string> PercentDecode(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded.push_back(text[i]);
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = HexDigit(text[i + 1]);
    const int low = HexDigit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    decoded.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return decoded;
}

bool HasContainer(const TaskView& view, std::string_view docker_id) {
  for (const ContainerState& container : view.state->containers) {
    if (container.runtime_id == docker_id) return true;
    const bool is_short = docker_id.size() >= kShortDockerIdLength;
    if (is_short && container.runtime_id.starts_with(docker_id)) return true;
  }
  return false;
}

LocalAnswer BadRequest(std::string_view why) {
  json::Builder out;
  out.Object().Key("error").String(why).EndObject();
  return {.status = 400, .json = out.Text()};
}

// The one task that the query names.
LocalAnswer AnswerOneTask(std::string_view query, const InstanceView& instance) {
  const size_t equals = query.find('=');
  const std::string_view name = query.substr(0, equals);
  const bool by_arn = name == "taskarn";
  const bool is_known = by_arn || name == "dockerid";
  if (!is_known || equals == std::string_view::npos || query.find('&') != std::string_view::npos) {
    return BadRequest("the query should be one of taskarn=ARN and dockerid=ID");
  }
  const std::optional<std::string> value = PercentDecode(query.substr(equals + 1));
  if (!value || value->empty()) {
    return BadRequest("the value of " + std::string(name) + " is empty or badly escaped");
  }
  const TaskView* found = nullptr;
  for (const TaskView& view : instance.tasks) {
    if (by_arn ? view.task->arn != *value : !HasContainer(view, *value)) continue;
    if (found != nullptr) return BadRequest("more than one task has such a container");
    found = &view;
  }
  if (found == nullptr) return {.status = 404, .json = "{}"};
  return {.json = TaskText(*found)};
}

}  // namespace

LocalAnswer AnswerIntrospection(std::string_view target, const InstanceView& instance) {
  const size_t question = target.find('?');
  const std::string_view path = target.substr(0, question);
  const std::string_view query =
      question == std::string_view::npos ? std::string_view() : target.substr(question + 1);
  if (path == kMetadataPath) return {.json = MetadataText(instance)};
  if (path != kTasksPath) return {.json = CommandsText()};
  if (query.empty()) return {.json = AllTasksText(instance)};
  return AnswerOneTask(query, instance);
}

}  // namespace berth::agent
