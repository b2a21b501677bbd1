// StopTask: a client asks for a task to end. The answer shows it still as it is; STOPPED it is when
// its agent says so. Sent twice it does the same once.
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/errors.h"
#include "model/utf8.h"
#include "scheduler/decision.h"
#include "scheduler/task_end.h"

namespace berth::scheduler {
namespace {

constexpr char kDefaultReason[] = "Task stopped by user";
constexpr size_t kReasonMax = 1024;

}  // namespace

Outcome<StopTask::Reply> Decide(State& state, const StopTask& command, Context context) {
  Decision decision(state);
  ClusterState* cluster = decision.state().FindCluster(command.cluster);
  if (cluster == nullptr) return decision.Refuse<model::TaskRecord>(model::ClusterNotFound());
  const size_t reason_length = model::CountCharacters(command.reason.value_or(""));
  if (reason_length > kReasonMax) {
    return decision.Refuse<model::TaskRecord>(model::InvalidParameter(absl::StrFormat(
        "reason has %d characters; at most %d are allowed", reason_length, kReasonMax)));
  }
  TaskEntry* entry = cluster->FindTask(command.task);
  if (entry == nullptr) {
    decision.SawNothing();
    return decision.Refuse<model::TaskRecord>(model::TaskNotFound());
  }
  decision.Saw(entry->change);
  if (entry->record->desired_status == model::DesiredStatus::kStopped) {
    return decision.Answer(entry->record);
  }

  model::Task next = *entry->record;
  const std::string given = command.reason.value_or("");
  RequestStop(
      next,
      {.code = model::StopCode::kUserInitiated, .reason = given.empty() ? kDefaultReason : given},
      context.now);
  next.tags.clear();
  decision.PutTask(*cluster, *entry, std::move(next));
  decision.Do(StopTaskOnAgent{
      .cluster = command.cluster, .instance = entry->record->instance, .task = command.task});
  return decision.Answer(entry->record);
}

}  // namespace berth::scheduler
