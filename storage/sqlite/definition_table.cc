#include <optional>
#include <string>
#include <utility>

#include "storage/sqlite/record_json.h"
#include "storage/sqlite/row.h"
#include "storage/sqlite/tables.h"

namespace berth::storage::sqlite {

using model::TaskDefinition;

const TableSql kDefinitionSql = {
    .put = R"sql(
INSERT INTO task_definition_records (
  sequence, family, revision, status, registered_at, deregistered_at, delete_requested_at,
  registered_by, tags, document)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
ON CONFLICT (sequence) DO UPDATE SET
  family = excluded.family,
  revision = excluded.revision,
  status = excluded.status,
  registered_at = excluded.registered_at,
  deregistered_at = excluded.deregistered_at,
  delete_requested_at = excluded.delete_requested_at,
  registered_by = excluded.registered_by,
  tags = excluded.tags,
  document = excluded.document
)sql",
    .remove = R"sql(
DELETE FROM task_definition_records WHERE sequence = ?1
)sql",
    .select = R"sql(
SELECT
  sequence, family, revision, status, registered_at, deregistered_at, delete_requested_at,
  registered_by, tags, document
FROM task_definition_records
ORDER BY sequence
)sql",
};

void WriteDefinition(Statement& put, const TaskDefinition& definition) {
  RowWriter write(put);
  write.Int(definition.sequence)
      .Text(definition.id.family)
      .Int(definition.id.revision)
      .Text(ToString(definition.status))
      .Time(definition.registered_at)
      .Time(definition.deregistered_at)
      .Time(definition.delete_requested_at)
      .TextOrNull(definition.registered_by)
      .Text(TagsJson(definition.tags));
  if (definition.document == nullptr) {
    write.Null();
  } else {
    write.Text(*definition.document);
  }
}

absl::StatusOr<std::shared_ptr<TaskDefinition>> ReadDefinition(const Statement& row) {
  RowReader read(row, "task_definition_records");
  auto definition = std::make_shared<TaskDefinition>();
  definition->sequence = read.Int();
  definition->id.family = read.Text();
  definition->id.revision = read.Int();
  definition->status = read.Word(model::ParseDefinitionStatus);
  definition->registered_at = read.Time();
  definition->deregistered_at = read.Time();
  definition->delete_requested_at = read.Time();
  definition->registered_by = read.Text();
  absl::StatusOr<model::Tags> tags = ParseTags(read.Text());
  read.FailIf(tags.status());
  if (std::optional<std::string> document = read.OptionalText()) {
    definition->document = std::make_shared<const std::string>(*std::move(document));
  }
  if (!read.status().ok()) return read.status();
  definition->tags = *std::move(tags);
  return definition;
}

}  // namespace berth::storage::sqlite
