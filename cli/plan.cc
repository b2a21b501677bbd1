// `berth plan`: a RunTask that starts nothing.
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "api/json_find.h"
#include "api/placement_endpoints.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/explanation_text.h"
#include "cli/server_call.h"
#include "cli/setting_sources.h"
#include "scheduler/commands.h"

namespace berth::cli {
namespace {

constexpr char kFooter[] = R"(
Says where the tasks would go and why there rather than elsewhere, how many more of them would fit,
and why the next one would not, with what would help. Starts nothing. docs/explain.md has the members
of the JSON.

Exit codes: 0 all of them fit; 3 not all do; 1 and 2 as for every command.

Examples:
  berth plan --task-definition train:7
  berth plan --task-definition web --count 20 --cluster prod --output json
  berth plan --task-definition web --placement-constraints '[{"type":"distinctInstance"}]' \
    --placement-strategy '[{"type":"spread","field":"attribute:ecs.availability-zone"}]'
)";

struct Settings : ServerCallSettings {
  std::string cluster = "default";
  std::string definition = {};
  int64_t count = 1;
  std::string group = {};
  std::string launch_type = {};
  std::string constraints = {};
  std::string strategy = {};
  std::string overrides = {};
};

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

void AddText(Writer& json, const char* member, const std::string& value) {
  if (value.empty()) return;
  json.Key(member);
  json.String(value);
}

// JSON as the AWS CLI takes it for the same flag.
void AddJson(Writer& json, const char* member, const char* flag, const std::string& text) {
  if (text.empty()) return;
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(text);
  if (document.HasParseError()) {
    throw UsageError(
        fmt::format("{}: not JSON at character {}", flag, document.GetErrorOffset() + 1));
  }
  json.Key(member);
  document.Accept(json);
}

std::string Request(const Settings& settings) {
  rapidjson::StringBuffer buffer;
  Writer json(buffer);
  json.StartObject();
  AddText(json, "cluster", settings.cluster);
  AddText(json, "taskDefinition", settings.definition);
  json.Key("count");
  json.Int64(settings.count);
  AddText(json, "group", settings.group);
  AddText(json, "launchType", settings.launch_type);
  AddJson(json, "placementConstraints", "--placement-constraints", settings.constraints);
  AddJson(json, "placementStrategy", "--placement-strategy", settings.strategy);
  AddJson(json, "overrides", "--overrides", settings.overrides);
  json.EndObject();
  return buffer.GetString();
}

int Plan(const Settings& settings) {
  const auto plan = CallServer(settings, "POST", api::kPlanPath, Request(settings));
  if (settings.output == "json") {
    PrintJson(plan);
  } else {
    std::cout << PlanText(plan) << std::flush;
  }
  return api::IsTrue(&plan, "fits") ? kOk : kDoesNotFit;
}

}  // namespace

Command AddPlan(CLI::App& root) {
  CLI::App* command = root.add_subcommand("plan", "Say where tasks would go, without starting any");
  command->footer(std::string(kCredentialsHelp) + kFooter);
  auto settings = std::make_shared<Settings>();
  settings->may_be_unsigned = true;
  AddServerCallFlags(*command, *settings);
  command->add_option("--cluster", settings->cluster, "Name or ARN of the cluster")
      ->type_name("NAME")
      ->capture_default_str();
  command->add_option("--task-definition", settings->definition, "family, family:revision or ARN")
      ->type_name("NAME")
      ->required();
  command->add_option("--count", settings->count, "How many tasks")
      ->check(CLI::Range(int64_t{1}, scheduler::kPlanCountMax))
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--group", settings->group, "Their task group; family:<family> when absent")
      ->type_name("NAME");
  command
      ->add_option("--launch-type", settings->launch_type,
                   "EC2 when absent, if the definition takes it")
      ->check(CLI::IsMember({"EC2", "EXTERNAL", "FARGATE", "MANAGED_INSTANCES"}))
      ->type_name("TYPE");
  command->add_option("--placement-constraints", settings->constraints, "As for aws ecs run-task")
      ->type_name("JSON");
  command->add_option("--placement-strategy", settings->strategy, "As for aws ecs run-task")
      ->type_name("JSON");
  command->add_option("--overrides", settings->overrides, "As for aws ecs run-task")
      ->type_name("JSON");
  return {command, [settings] { return Plan(*settings); }};
}

}  // namespace berth::cli
