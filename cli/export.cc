// `berth export`: a cluster's instances and tasks as a trace that `berth simulate` reads.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "absl/strings/numbers.h"
#include "api/json_find.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/server_call.h"
#include "cli/setting_sources.h"
#include "model/container_instance.h"
#include "simulator/berth_trace.h"

namespace berth::cli {
namespace {

using rapidjson::Value;
using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

constexpr int64_t kPage = 100;  // what Describe takes at once

constexpr char kFooter[] = R"(
Reads the cluster over the ECS API (List and Describe, so a viewer's key will do) and writes two CSV
files: its container instances, and its tasks, STOPPED ones too as long as the server remembers them.
docs/placement.md has the columns.

Examples:
  berth export --nodes nodes.csv --tasks tasks.csv
  berth export --server https://berth.example:8443 --profile viewer --cluster prod \
    --nodes nodes.csv --tasks tasks.csv
  berth simulate --nodes nodes.csv --tasks tasks.csv --policy best-fit,fgd,worth --seeds 42-51
)";

struct Settings : ServerCallSettings {
  std::string cluster = "default";
  std::string nodes = {};
  std::string tasks = {};
};

std::string AfterSlash(const std::string& arn) { return arn.substr(arn.find_last_of('/') + 1); }

// A JSON object of the cluster and what `more` adds.
std::string Request(const Settings& settings, const std::function<void(Writer&)>& more) {
  rapidjson::StringBuffer buffer;
  Writer json(buffer);
  json.StartObject();
  json.Key("cluster");
  json.String(settings.cluster);
  more(json);
  json.EndObject();
  return buffer.GetString();
}

void WriteAll(Writer& json, const char* member, const std::vector<std::string>& values) {
  json.Key(member);
  json.StartArray();
  for (const std::string& value : values) json.String(value);
  json.EndArray();
}

// What one kind of thing is called in the API.
struct Kind {
  const char* list;
  const char* arns;
  const char* describe;
  const char* ids;  // in the request; in the answer too
};
constexpr Kind kInstances = {"ListContainerInstances", "containerInstanceArns",
                             "DescribeContainerInstances", "containerInstances"};
constexpr Kind kTasks = {"ListTasks", "taskArns", "DescribeTasks", "tasks"};

// Calls `take` with each, page by page. `desired`: of tasks, their desiredStatus.
void ForEach(const Settings& settings, const Kind& kind, const char* desired,
             const std::function<void(const Value&)>& take) {
  std::string token;
  do {
    const auto page = CallAction(settings, kind.list, Request(settings, [&](Writer& json) {
                                   json.Key("maxResults");
                                   json.Int64(kPage);
                                   if (desired != nullptr) {
                                     json.Key("desiredStatus");
                                     json.String(desired);
                                   }
                                   if (!token.empty()) {
                                     json.Key("nextToken");
                                     json.String(token);
                                   }
                                 }));
    token = std::string(api::FindText(&page, "nextToken").value_or(""));
    std::vector<std::string> arns;
    for (const Value& arn : page[kind.arns].GetArray()) arns.emplace_back(arn.GetString());
    if (arns.empty()) continue;
    const auto described =
        CallAction(settings, kind.describe,
                   Request(settings, [&](Writer& json) { WriteAll(json, kind.ids, arns); }));
    for (const Value& one : described[kind.ids].GetArray()) take(one);
  } while (!token.empty());
}

int64_t Registered(const Value& instance, std::string_view name) {
  const Value* resources = api::FindList(&instance, "registeredResources");
  if (resources == nullptr) return 0;
  for (const Value& resource : resources->GetArray()) {
    if (api::FindText(&resource, "name") == name) {
      return api::FindInt(&resource, "integerValue").value_or(0);
    }
  }
  return 0;
}

// The value of an attribute, "" when it has none; nothing when it is not there.
std::optional<std::string> Attribute(const Value& instance, std::string_view name) {
  const Value* attributes = api::FindList(&instance, "attributes");
  if (attributes == nullptr) return std::nullopt;
  for (const Value& attribute : attributes->GetArray()) {
    if (api::FindText(&attribute, "name") == name) {
      return std::string(api::FindText(&attribute, "value").value_or(""));
    }
  }
  return std::nullopt;
}

// Fields are not quoted: what would end one is left out.
std::string Field(std::string text) {
  std::erase_if(text, [](char c) { return c == ',' || c == '\n' || c == '\r'; });
  return text.empty() ? "-" : text;
}

std::string NodeLine(const Value& instance) {
  std::string gpus;
  if (const Value* devices = api::FindList(&instance, "gpuDevices")) {
    for (const Value& device : devices->GetArray()) {
      gpus += fmt::format("{}{}", gpus.empty() ? "" : "|",
                          api::FindInt(&device, "totalMemoryInMiB").value_or(0));
    }
  }
  const std::string model = Attribute(instance, "gpu-model")
                                .value_or(Attribute(instance, "ecs.instance-type").value_or(""));
  const bool shares = Attribute(instance, model::kGpuSharingCapability).has_value();
  return fmt::format("{},{},{},{},{},{}\n", AfterSlash(Text(instance, "containerInstanceArn")),
                     Registered(instance, "CPU"), Registered(instance, "MEMORY"), gpus,
                     Field(model), shares ? "yes" : "no");
}

struct GpuUse {
  std::string kind = "none";
  std::set<std::string> gpus = {};
  int64_t shared_mib = 0;
};

GpuUse GpuUseOf(const Value& task) {
  GpuUse use;
  const Value* containers = api::FindList(&task, "containers");
  if (containers == nullptr) return use;
  for (const Value& container : containers->GetArray()) {
    if (const Value* ids = api::FindList(&container, "gpuIds")) {
      for (const Value& id : ids->GetArray()) use.gpus.emplace(api::TextOf(id));
      use.kind = "dedicated";
    }
    const Value* share =
        api::FindObject(api::FindObject(&container, "gpuSharingStrategy"), "nvidiaMps");
    use.shared_mib += api::FindInt(share, "memory").value_or(0);
  }
  if (use.shared_mib > 0) use.kind = "shared";
  return use;
}

// Whether a container of the definition asks for all GPUs of its instance.
bool AsksForAll(const Value* containers) {
  if (containers == nullptr) return false;
  for (const Value& container : containers->GetArray()) {
    const Value* requirements = api::FindList(&container, "resourceRequirements");
    if (requirements == nullptr) continue;
    for (const Value& requirement : requirements->GetArray()) {
      if (api::FindText(&requirement, "type") == "GPU" &&
          api::FindText(&requirement, "value") == "ALL") {
        return true;
      }
    }
  }
  return false;
}

// Definitions are asked for once each.
class Definitions {
 public:
  explicit Definitions(const Settings& settings) : settings_(settings) {}

  bool AsksForAll(const std::string& arn) {
    const auto [known, added] = known_.try_emplace(arn, false);
    if (added) {
      rapidjson::StringBuffer buffer;
      Writer json(buffer);
      json.StartObject();
      json.Key("taskDefinition");
      json.String(arn);
      json.EndObject();
      const auto answer = CallAction(settings_, "DescribeTaskDefinition", buffer.GetString());
      const Value* definition = api::FindObject(&answer, "taskDefinition");
      known->second = cli::AsksForAll(api::FindList(definition, "containerDefinitions"));
    }
    return known->second;
  }

 private:
  const Settings& settings_;
  std::map<std::string, bool> known_ = {};
};

std::string TimeText(const Value& task, const char* member) {
  const Value* time = api::FindMember(&task, member);
  if (time == nullptr || !time->IsNumber()) return "";
  return fmt::format("{:.3f}", time->GetDouble());
}

struct TaskLine {
  double arrived_at = 0;
  std::string text = {};

  bool operator<(const TaskLine& other) const {
    return std::tie(arrived_at, text) < std::tie(other.arrived_at, other.text);
  }
};

TaskLine LineOf(const Value& task, Definitions& definitions) {
  GpuUse use = GpuUseOf(task);
  if (use.kind == "dedicated" && definitions.AsksForAll(Text(task, "taskDefinitionArn"))) {
    use.kind = "all";
  }
  const Value* created = api::FindMember(&task, "createdAt");
  return {.arrived_at = created != nullptr && created->IsNumber() ? created->GetDouble() : 0,
          .text = fmt::format("{},{},{},{},{},{},{},{}\n", AfterSlash(Text(task, "taskArn")),
                              TimeText(task, "createdAt"), TimeText(task, "stoppedAt"),
                              Text(task, "cpu"), Text(task, "memory"), use.kind, use.gpus.size(),
                              use.shared_mib)};
}

void WriteFile(const std::string& path, const char* columns, const std::string& lines) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << columns << '\n' << lines;
  if (!file.flush()) throw std::runtime_error(fmt::format("cannot write {}", path));
}

int Export(const Settings& settings) {
  if (settings.nodes == settings.tasks) {
    throw UsageError(
        fmt::format("--nodes and --tasks: both name {}; they are two files", settings.nodes));
  }
  int64_t nodes = 0;
  std::string node_lines;
  ForEach(settings, kInstances, nullptr, [&](const Value& instance) {
    node_lines += NodeLine(instance);
    ++nodes;
  });
  Definitions definitions(settings);
  // A task may end between the two lists, and would come twice.
  std::map<std::string, TaskLine> by_arn;
  for (const char* desired : {"RUNNING", "STOPPED"}) {
    ForEach(settings, kTasks, desired,
            [&](const Value& task) { by_arn[Text(task, "taskArn")] = LineOf(task, definitions); });
  }
  std::vector<TaskLine> lines;
  for (const auto& [arn, line] : by_arn) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  std::string task_lines;
  for (const TaskLine& line : lines) task_lines += line.text;
  WriteFile(settings.nodes, simulator::kBerthNodeColumns, node_lines);
  WriteFile(settings.tasks, simulator::kBerthTaskColumns, task_lines);
  if (settings.output == "json") {
    std::cout << fmt::format("{{\"nodes\":{},\"tasks\":{}}}\n", nodes, lines.size());
  } else {
    std::cout << fmt::format("wrote {} container instances to {} and {} tasks to {}\n", nodes,
                             settings.nodes, lines.size(), settings.tasks);
  }
  return std::cout.flush() ? kOk : kFailure;
}

}  // namespace

Command AddExport(CLI::App& root) {
  CLI::App* command =
      root.add_subcommand("export", "Write a cluster's instances and tasks as a trace");
  command->footer(std::string(kCredentialsHelp) + kFooter);
  auto settings = std::make_shared<Settings>();
  settings->may_be_unsigned = true;
  AddServerCallFlags(*command, *settings);
  command->add_option("--cluster", settings->cluster, "Name or ARN of the cluster")
      ->type_name("NAME")
      ->capture_default_str();
  command->add_option("--nodes", settings->nodes, "Where to write the container instances")
      ->type_name("FILE")
      ->required();
  command->add_option("--tasks", settings->tasks, "Where to write the tasks")
      ->type_name("FILE")
      ->required();
  return {command, [settings] { return Export(*settings); }};
}

}  // namespace berth::cli
