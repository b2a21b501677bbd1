#include <utility>

#include "storage/sqlite/record_json.h"
#include "storage/sqlite/row.h"
#include "storage/sqlite/tables.h"

namespace berth::storage::sqlite {

using model::ClientToken;

const TableSql kClientTokenSql = {
    .put = R"sql(
INSERT INTO client_token_records (sequence, cluster, token, fingerprint, tasks, created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (sequence) DO UPDATE SET
  cluster = excluded.cluster,
  token = excluded.token,
  fingerprint = excluded.fingerprint,
  tasks = excluded.tasks,
  created_at = excluded.created_at
)sql",
    .remove = R"sql(
DELETE FROM client_token_records WHERE sequence = ?1
)sql",
    .select = R"sql(
SELECT sequence, cluster, token, fingerprint, tasks, created_at
FROM client_token_records
ORDER BY sequence
)sql",
};

void WriteClientToken(Statement& put, int64_t sequence, const ClientToken& token) {
  RowWriter(put)
      .Int(sequence)
      .Text(token.cluster.value)
      .Text(token.token)
      .Text(token.fingerprint)
      .Text(TaskIdsJson(token.tasks))
      .Time(token.created_at);
}

absl::StatusOr<ClientTokenRow> ReadClientToken(const Statement& row) {
  RowReader read(row, "client_token_records");
  ClientTokenRow found;
  found.sequence = read.Int();
  found.token.cluster.value = read.Text();
  found.token.token = read.Text();
  found.token.fingerprint = read.Text();
  absl::StatusOr<std::vector<model::TaskId>> tasks = ParseTaskIds(read.Text());
  read.FailIf(tasks.status());
  found.token.created_at = read.Time();
  if (!read.status().ok()) return read.status();
  found.token.tasks = *std::move(tasks);
  return found;
}

}  // namespace berth::storage::sqlite
