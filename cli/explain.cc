// `berth explain`: where a task is and why, why tasks of a service or group found no place, and
// whether a definition would find one now.
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "api/json_find.h"
#include "api/placement_endpoints.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/explanation_text.h"
#include "cli/server_call.h"

namespace berth::cli {
namespace {

constexpr char kFooter[] = R"(
Exit codes: 0 it has or would find a place, or nothing is in its way; 3 it finds none, or its group
was turned away since; 1 and 2 as for every command. docs/explain.md has the members of the JSON.

Examples:
  berth explain task 0123456789abcdef0123456789abcdef
  berth explain service web --cluster prod
  berth explain group family:train
  berth explain definition train:7 --output json
)";

struct Settings : ServerCallSettings {
  std::string cluster = "default";
  std::string name = {};
};

std::string Question(const Settings& settings, const char* subject) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> json(buffer);
  json.StartObject();
  json.Key("cluster");
  json.String(settings.cluster);
  json.Key(subject);
  json.String(settings.name);
  json.EndObject();
  return buffer.GetString();
}

int Ask(const Settings& settings, const char* subject) {
  const auto answer = CallServer(settings, "POST", api::kExplainPath, Question(settings, subject));
  const bool plans = api::FindMember(&answer, "fits") != nullptr;
  if (settings.output == "json") {
    PrintJson(answer);
  } else {
    std::cout << (plans ? PlanText(answer) : ExplainedText(answer)) << std::flush;
  }
  if (plans) return api::IsTrue(&answer, "fits") ? kOk : kDoesNotFit;
  // A task that has its place is well, whatever became of others of its group.
  const bool placed = api::FindMember(&answer, "taskArn") != nullptr;
  return placed || api::FindMember(&answer, "failure") == nullptr ? kOk : kDoesNotFit;
}

// What can be asked about: the command's word, the request's member, and what it is.
struct Subject {
  const char* word;
  const char* member;
  const char* help;
  const char* name;
};
constexpr Subject kSubjects[] = {
    {"task", "task", "Where a task is, and why there", "Its id or ARN"},
    {"service", "service", "Why tasks of a service found no place", "Its name or ARN"},
    {"group", "group", "Why tasks of a group found no place", "As RunTask was given it"},
    {"definition", "taskDefinition", "Whether a task of it would find a place now, and where",
     "family, family:revision or ARN"},
};

}  // namespace

Command AddExplain(CLI::App& root) {
  CLI::App* command =
      root.add_subcommand("explain", "Say why a task is where it is, or found no place");
  const std::string footer = std::string(kCredentialsHelp) + kFooter;
  command->footer(footer);
  command->require_subcommand(1);
  auto settings = std::make_shared<Settings>();
  settings->may_be_unsigned = true;
  std::vector<CLI::App*> subjects;
  for (const Subject& subject : kSubjects) {
    CLI::App* one = subjects.emplace_back(command->add_subcommand(subject.word, subject.help));
    one->footer(footer);
    AddServerCallFlags(*one, *settings);
    one->add_option("--cluster", settings->cluster, "Name or ARN of the cluster")
        ->type_name("NAME")
        ->capture_default_str();
    one->add_option("name", settings->name, subject.name)->type_name("NAME")->required();
  }
  return {command, [settings, subjects] {
            size_t asked = 0;
            while (!subjects[asked]->parsed()) ++asked;
            return Ask(*settings, kSubjects[asked].member);
          }};
}

}  // namespace berth::cli
