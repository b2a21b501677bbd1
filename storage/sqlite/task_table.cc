#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/check.h"
#include "storage/sqlite/record_json.h"
#include "storage/sqlite/row.h"
#include "storage/sqlite/tables.h"

namespace berth::storage::sqlite {

using model::StopCode;
using model::Task;
using model::TaskOverrides;

// What a task is a run of never changes, so id and definition are not updated: the index on
// definitions then stays as it is when a task's status changes.
const TableSql kTaskSql = {
    .put = R"sql(
INSERT INTO task_records (
  sequence, id, cluster, definition, instance, last_status, desired_status, stop_code,
  stopped_reason, version, launch_type, task_group, started_by, created_at, connectivity_at,
  pull_started_at, pull_stopped_at, started_at, stopping_at, execution_stopped_at, stopped_at,
  protected_until, overrides, network_configuration, details)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20,
  ?21, ?22, ?23, ?24, ?25)
ON CONFLICT (sequence) DO UPDATE SET
  cluster = excluded.cluster,
  instance = excluded.instance,
  last_status = excluded.last_status,
  desired_status = excluded.desired_status,
  stop_code = excluded.stop_code,
  stopped_reason = excluded.stopped_reason,
  version = excluded.version,
  launch_type = excluded.launch_type,
  task_group = excluded.task_group,
  started_by = excluded.started_by,
  created_at = excluded.created_at,
  connectivity_at = excluded.connectivity_at,
  pull_started_at = excluded.pull_started_at,
  pull_stopped_at = excluded.pull_stopped_at,
  started_at = excluded.started_at,
  stopping_at = excluded.stopping_at,
  execution_stopped_at = excluded.execution_stopped_at,
  stopped_at = excluded.stopped_at,
  protected_until = excluded.protected_until,
  overrides = excluded.overrides,
  network_configuration = excluded.network_configuration,
  details = excluded.details
WHERE id = excluded.id AND definition = excluded.definition
)sql",
    .remove = R"sql(
DELETE FROM task_records WHERE sequence = ?1
)sql",
    .select = R"sql(
SELECT
  sequence, id, cluster, definition, instance, last_status, desired_status, stop_code,
  stopped_reason, version, launch_type, task_group, started_by, created_at, connectivity_at,
  pull_started_at, pull_stopped_at, started_at, stopping_at, execution_stopped_at, stopped_at,
  protected_until, overrides, network_configuration, details
FROM task_records
ORDER BY sequence
)sql",
};

namespace {

// kNone is NULL, whatever the model's word for it is.
std::optional<StopCode> ParseStopCodeOrNone(std::string_view text) {
  return text.empty() ? StopCode::kNone : model::ParseStopCode(text);
}

}  // namespace

void WriteTask(Statement& put, const Task& task) {
  BERTH_CHECK(task.definition != nullptr);
  RowWriter write(put);
  write.Int(task.sequence)
      .Text(task.id.value)
      .Text(task.cluster.value)
      .Int(task.definition->sequence)
      .TextOrNull(task.instance.value)
      .Text(ToString(task.last_status))
      .Text(ToString(task.desired_status))
      .TextOrNull(task.stop_code == StopCode::kNone ? "" : ToString(task.stop_code))
      .TextOrNull(task.stopped_reason)
      .Int(task.version)
      .Text(ToString(task.launch_type))
      .TextOrNull(task.group)
      .TextOrNull(task.started_by)
      .Time(task.created_at)
      .Time(task.connectivity_at)
      .Time(task.pull_started_at)
      .Time(task.pull_stopped_at)
      .Time(task.started_at)
      .Time(task.stopping_at)
      .Time(task.execution_stopped_at)
      .Time(task.stopped_at)
      .Time(task.protected_until);
  if (task.overrides == nullptr) {
    write.Null();
  } else {
    write.Text(task.overrides->document);
  }
  write.TextOrNull(task.network_configuration).Text(TaskDetailsJson(task));
}

absl::StatusOr<std::shared_ptr<Task>> ReadTask(const Statement& row,
                                               const DefinitionsBySequence& definitions) {
  RowReader read(row, "task_records");
  Task task;
  task.sequence = read.Int();
  task.id.value = read.Text();
  task.cluster.value = read.Text();
  const int64_t definition = read.Int();
  if (const auto found = definitions.find(definition); found != definitions.end()) {
    task.definition = found->second;
  } else {
    read.Fail(absl::StrFormat("there is no row %d in task_definition_records for definition",
                              definition));
  }
  task.instance.value = read.Text();
  task.last_status = read.Word(model::ParseTaskStatus);
  task.desired_status = read.Word(model::ParseDesiredStatus);
  task.stop_code = read.Word(ParseStopCodeOrNone);
  task.stopped_reason = read.Text();
  task.version = read.Int();
  task.launch_type = read.Word(model::ParseLaunchType);
  task.group = read.Text();
  task.started_by = read.Text();
  task.created_at = read.Time();
  task.connectivity_at = read.Time();
  task.pull_started_at = read.Time();
  task.pull_stopped_at = read.Time();
  task.started_at = read.Time();
  task.stopping_at = read.Time();
  task.execution_stopped_at = read.Time();
  task.stopped_at = read.Time();
  task.protected_until = read.Time();
  if (std::optional<std::string> overrides = read.OptionalText()) {
    task.overrides =
        std::make_shared<const TaskOverrides>(TaskOverrides{.document = *std::move(overrides)});
  }
  task.network_configuration = read.Text();
  absl::StatusOr<Task> whole = WithDetails(std::move(task), read.Text());
  read.FailIf(whole.status());
  if (!read.status().ok()) return read.status();
  return std::make_shared<Task>(*std::move(whole));
}

}  // namespace berth::storage::sqlite
