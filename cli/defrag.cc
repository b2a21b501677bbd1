// `berth defrag --plan`: which tasks to move. Asks, and moves none.
#include "placement/defrag.h"

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
#include "cli/server_call.h"
#include "cli/setting_sources.h"

namespace berth::cli {
namespace {

using rapidjson::Value;

constexpr char kNeverMoves[] =
    "Berth never moves tasks by itself. `berth defrag --plan` says which to move: stop each with "
    "`aws ecs stop-task` and start it with `aws ecs start-task` where the plan says, in the order "
    "given";

constexpr char kFooter[] = R"(
Berth never moves tasks by itself: this prints a plan. To carry it out, stop each task and start
it with `aws ecs start-task` on the instance that the plan names, in the order given; run-task might put
it back where it was. Which GPU of the instance it gets, the cluster's GPU policy says. docs/placement.md
says how plans are found, what bounds the search, and what fragmentation is.

Exit codes: 0 there is a plan, or no move is needed; 3 there is none within the limits; 1 and 2 as for
every command.

Examples:
  berth defrag --plan --task-definition train:7        the fewest moves that make room for one
  berth defrag --plan --task-definition web --count 4 --moves 8 --cluster prod
  berth defrag --plan --moves 3 --output json          three moves that lower fragmentation most
)";

struct Settings : ServerCallSettings {
  bool plan = false;
  std::string cluster = "default";
  std::string definition = {};
  int64_t count = 1;
  int64_t moves = placement::kDefragMovesDefault;
};

std::string Request(const Settings& settings) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> json(buffer);
  json.StartObject();
  json.Key("cluster");
  json.String(settings.cluster);
  json.Key("moves");
  json.Int64(settings.moves);
  if (!settings.definition.empty()) {
    json.Key("taskDefinition");
    json.String(settings.definition);
    json.Key("count");
    json.Int64(settings.count);
  }
  json.EndObject();
  return buffer.GetString();
}

std::string AfterSlash(const std::string& arn) { return arn.substr(arn.find_last_of('/') + 1); }

// "3f2a/GPU-0,GPU-1"
std::string PlaceText(const Value& place) {
  std::string text = AfterSlash(Text(place, "containerInstanceArn"));
  char separator = '/';
  for (const Value& gpu : place["gpuIds"].GetArray()) {
    text += separator + std::string(api::TextOf(gpu));
    separator = ',';
  }
  return text;
}

std::string FiguresText(const Value& figures) {
  return fmt::format("{:.0f} of {} MiB ({:.1f} %)", figures["fragmentedMiB"].GetDouble(),
                     figures["idleMiB"].GetInt64(), 100 * figures["ratio"].GetDouble());
}

std::string CountMoves(int64_t moves) {
  return fmt::format("{} move{}", moves, moves == 1 ? "" : "s");
}

std::string VerdictForTask(const std::string& outcome, const Settings& settings, bool limited,
                           int64_t moves) {
  if (outcome == "NO_MOVE_NEEDED") return "There is room as it is: no task has to move.";
  if (outcome == "MOVES") {
    return fmt::format("{} would make room{}:", CountMoves(moves),
                       limited ? "; a limit cut the search short, fewer may do" : "");
  }
  return fmt::format("No plan of at most {} makes room{}. `berth plan` says what is in the way.",
                     CountMoves(settings.moves),
                     limited ? " that was found before a limit cut the search short" : "");
}

std::string VerdictForFragmentation(const Value& plan, const std::string& outcome,
                                    const Settings& settings, bool limited, int64_t moves) {
  if (plan["fragmentation"]["typicalTasks"].GetInt64() == 0) {
    return "No task has been placed yet: fragmentation is measured against those that were.";
  }
  if (outcome == "NO_MOVE_NEEDED") return "Nothing is fragmented: no task has to move.";
  if (outcome == "MOVES") {
    return fmt::format(
        "{} would lower fragmentation most{}:", CountMoves(moves),
        limited ? " of those that were tried before a limit cut the search short" : "");
  }
  return fmt::format("No plan of at most {} lowers fragmentation{}.", CountMoves(settings.moves),
                     limited ? " that was found before a limit cut the search short" : "");
}

void Print(const Value& plan, const Settings& settings) {
  const Value& moves = plan["moves"];
  const std::string outcome = Text(plan, "outcome");
  const bool limited = api::IsTrue(&plan, "limited");
  std::cout << (settings.definition.empty()
                    ? VerdictForFragmentation(plan, outcome, settings, limited, moves.Size())
                    : VerdictForTask(outcome, settings, limited, moves.Size()))
            << '\n';
  static constexpr char kRow[] = "{:<3}  {:<32}  {:<24}  {:<44}  {}\n";
  if (!moves.Empty()) std::cout << fmt::format(kRow, "#", "TASK", "DEFINITION", "FROM", "TO");
  int64_t number = 0;
  for (const Value& move : moves.GetArray()) {
    std::cout << fmt::format(kRow, ++number, AfterSlash(Text(move, "taskArn")),
                             AfterSlash(Text(move, "taskDefinitionArn")), PlaceText(move["from"]),
                             PlaceText(move["to"]));
  }
  const Value& places = plan["placements"];
  if (outcome == "NO_PLAN" && !settings.definition.empty()) {
    std::cout << fmt::format("Without moves {} of {} would fit.\n", places.Size(), settings.count);
  }
  for (const Value& place : places.GetArray()) {
    std::cout << fmt::format("{} would {}go to {}\n", AfterSlash(Text(plan, "taskDefinitionArn")),
                             moves.Empty() ? "" : "then ", PlaceText(place));
  }
  const Value& fragmentation = plan["fragmentation"];
  std::cout << "Fragmented GPU memory: " << FiguresText(fragmentation["before"]);
  if (!moves.Empty()) std::cout << ", then " << FiguresText(fragmentation["after"]);
  std::cout << std::endl;
}

int Defrag(const Settings& settings) {
  if (!settings.plan) throw UsageError(kNeverMoves);
  const auto plan = CallServer(settings, "POST", api::kDefragPath, Request(settings));
  if (settings.output == "json") {
    PrintJson(plan);
  } else {
    Print(plan, settings);
  }
  return Text(plan, "outcome") == "NO_PLAN" ? kDoesNotFit : kOk;
}

}  // namespace

Command AddDefrag(CLI::App& root) {
  CLI::App* command = root.add_subcommand(
      "defrag", "Say which tasks to move to make room, or to lower fragmentation");
  command->footer(std::string(kCredentialsHelp) + kFooter);
  auto settings = std::make_shared<Settings>();
  settings->may_be_unsigned = true;
  AddServerCallFlags(*command, *settings);
  command->add_flag("--plan", settings->plan,
                    "Print the plan; required, for there is no other way");
  command->add_option("--cluster", settings->cluster, "Name or ARN of the cluster")
      ->type_name("NAME")
      ->capture_default_str();
  CLI::Option* definition =
      command
          ->add_option("--task-definition", settings->definition,
                       "What is to find room: family, family:revision or ARN; when absent, "
                       "fragmentation is to fall")
          ->type_name("NAME");
  command->add_option("--count", settings->count, "How many of its tasks")
      ->check(CLI::Range(int64_t{1}, placement::kDefragCountMax))
      ->needs(definition)
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--moves", settings->moves, "So many tasks may move")
      ->check(CLI::Range(int64_t{0}, placement::kDefragMovesMax))
      ->type_name("N")
      ->capture_default_str();
  return {command, [settings] { return Defrag(*settings); }};
}

}  // namespace berth::cli
