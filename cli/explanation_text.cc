#include "cli/explanation_text.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "absl/time/time.h"
#include "api/json_find.h"
#include "cli/server_call.h"

namespace berth::cli {
namespace {

using rapidjson::Value;

// Of an ARN, what is behind the last slash: ids and names are what commands take, too.
std::string Id(const Value& object, const char* name) {
  const std::string arn = Text(object, name);
  return arn.substr(arn.find_last_of('/') + 1);
}

std::string Time(const Value& object, const char* name) {
  const Value* value = api::FindMember(&object, name);
  if (value == nullptr || !value->IsNumber()) return "-";
  return absl::FormatTime("%Y-%m-%d %H:%M:%SZ",
                          absl::UnixEpoch() + absl::Seconds(value->GetDouble()),
                          absl::UTCTimeZone());
}

int64_t Int(const Value& object, const char* name) {
  return api::FindInt(&object, name).value_or(0);
}

template <class Write>
void ForEach(const Value& object, const char* name, Write write) {
  const Value* list = api::FindList(&object, name);
  if (list == nullptr) return;
  for (const Value& item : list->GetArray()) write(item);
}

std::string Place(const Value& planned) {
  std::string text = Id(planned, "containerInstanceArn");
  ForEach(planned, "gpuIds",
          [&](const Value& gpu) { text += fmt::format(" {}", std::string(api::TextOf(gpu))); });
  return text;
}

std::string VerdictText(const std::string& verdict) {
  if (verdict == "NOT_NOW") return "not now: it would fit if something ended";
  if (verdict == "FORBIDDEN") return "forbidden: a constraint or a drain keeps it off";
  if (verdict == "NEVER") return "never: no instance could hold it, even empty";
  return verdict;
}

std::string ExplanationText(const Value& why) {
  std::string text = fmt::format("  {}\n", Text(why, "detail"));
  if (api::FindText(&why, "verdict")) {
    text += fmt::format("  {}\n", VerdictText(Text(why, "verdict")));
  }
  text += fmt::format("\n  {:<20} {:>10}\n", "TURNED AWAY BY", "INSTANCES");
  ForEach(why, "funnel", [&](const Value& step) {
    text += fmt::format("  {:<20} {:>10}\n", Text(step, "dimension"), Int(step, "instances"));
  });
  text += fmt::format("  {:<20} {:>10}\n", "(in all)", Int(why, "instances"));
  text += "\n  CLOSEST\n";
  ForEach(why, "closest", [&](const Value& group) {
    text += fmt::format("  {:>6} x {}\n", Int(group, "instances"), Text(group, "detail"));
  });
  if (api::FindList(&why, "remedies") != nullptr) text += "\n  IT WOULD FIT IF YOU\n";
  ForEach(why, "remedies",
          [&](const Value& remedy) { text += fmt::format("  - {}\n", Text(remedy, "detail")); });
  return text;
}

std::string FailureText(const Value& answer) {
  const Value* failure = api::FindObject(&answer, "failure");
  if (failure == nullptr) return "";
  const int64_t times = Int(*failure, "times");
  std::string text =
      fmt::format("\nGroup {} was turned away {} time{}, from {} to {}, with {}:\n",
                  Text(answer, "group"), times, times == 1 ? "" : "s", Time(*failure, "firstAt"),
                  Time(*failure, "lastAt"), Id(*failure, "taskDefinitionArn"));
  if (const Value* why = api::FindObject(failure, "explanation")) text += ExplanationText(*why);
  return text;
}

}  // namespace

std::string PlanText(const Value& plan) {
  int64_t placed = 0;
  std::string rows;
  ForEach(plan, "placements", [&](const Value& planned) {
    rows += fmt::format("{:>5}  {}", ++placed, Place(planned));
    if (api::FindText(&planned, "detail")) rows += fmt::format("  ({})", Text(planned, "detail"));
    rows += '\n';
  });
  const int64_t count = Int(plan, "count");
  std::string text = fmt::format("{} of {} task{} of {} would find a place\n", placed, count,
                                 count == 1 ? "" : "s", Id(plan, "taskDefinitionArn"));
  if (placed > 0) {
    text += fmt::format("\n{:>5}  WHERE (WHY THERE, BY GPU POLICY {})\n{}", "TASK",
                        Text(plan, "gpuPolicy"), rows);
  }
  const bool fits = api::IsTrue(&plan, "fits");
  if (fits) {
    text += fmt::format("\n{}{} more of the same would fit\n",
                        api::IsTrue(&plan, "moreIsLimit") ? "at least " : "", Int(plan, "more"));
  }
  if (const Value* why = api::FindObject(&plan, "explanation")) {
    text += fmt::format("\n{} finds no place:\n", placed == 0 ? "It" : "The next one");
    text += ExplanationText(*why);
  }
  return text + FailureText(plan);
}

std::string ExplainedText(const Value& explained) {
  std::string text;
  if (api::FindText(&explained, "taskArn")) {
    text += fmt::format("Task {} of {} is {} on {}\n", Id(explained, "taskArn"),
                        Id(explained, "taskDefinitionArn"), Text(explained, "lastStatus"),
                        Place(explained));
    if (const Value* today = api::FindObject(&explained, "today")) {
      const bool same = Place(*today) == Place(explained);
      text += fmt::format("Placed today it would go {}{}: {}\n", same ? "there again" : "to ",
                          same ? "" : Place(*today), Text(*today, "detail"));
    }
  }
  const std::string failure = FailureText(explained);
  if (failure.empty() && text.empty()) {
    return fmt::format(
        "No task of group {} was turned away since one was placed, as far as is "
        "remembered\n",
        Text(explained, "group"));
  }
  return text + failure;
}

}  // namespace berth::cli
