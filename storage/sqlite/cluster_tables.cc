#include <utility>

#include "storage/sqlite/record_json.h"
#include "storage/sqlite/row.h"
#include "storage/sqlite/tables.h"

namespace berth::storage::sqlite {

using model::Cluster;
using model::Family;

const TableSql kClusterSql = {
    .put = R"sql(
INSERT INTO cluster_records (sequence, name, status, created_at, deleted_at, tags, document)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT (sequence) DO UPDATE SET
  name = excluded.name,
  status = excluded.status,
  created_at = excluded.created_at,
  deleted_at = excluded.deleted_at,
  tags = excluded.tags,
  document = excluded.document
)sql",
    .remove = R"sql(
DELETE FROM cluster_records WHERE sequence = ?1
)sql",
    .select = R"sql(
SELECT sequence, name, status, created_at, deleted_at, tags, document
FROM cluster_records
ORDER BY sequence
)sql",
};

void WriteCluster(Statement& put, const Cluster& cluster) {
  RowWriter(put)
      .Int(cluster.sequence)
      .Text(cluster.name.value)
      .Text(ToString(cluster.status))
      .Time(cluster.created_at)
      .Time(cluster.deleted_at)
      .Text(TagsJson(cluster.tags))
      .Text(cluster.document);
}

absl::StatusOr<std::shared_ptr<Cluster>> ReadCluster(const Statement& row) {
  RowReader read(row, "cluster_records");
  auto cluster = std::make_shared<Cluster>();
  cluster->sequence = read.Int();
  cluster->name.value = read.Text();
  cluster->status = read.Word(model::ParseClusterStatus);
  cluster->created_at = read.Time();
  cluster->deleted_at = read.Time();
  absl::StatusOr<model::Tags> tags = ParseTags(read.Text());
  read.FailIf(tags.status());
  cluster->document = read.Text();
  if (!read.status().ok()) return read.status();
  cluster->tags = *std::move(tags);
  return cluster;
}

const TableSql kFamilySql = {
    .put = R"sql(
INSERT INTO family_records (name, last_revision)
VALUES (?1, ?2)
ON CONFLICT (name) DO UPDATE SET
  last_revision = excluded.last_revision
)sql",
    .remove = nullptr,
    .select = R"sql(
SELECT name, last_revision
FROM family_records
ORDER BY name
)sql",
};

void WriteFamily(Statement& put, const Family& family) {
  RowWriter(put).Text(family.name).Int(family.last_revision);
}

absl::StatusOr<Family> ReadFamily(const Statement& row) {
  RowReader read(row, "family_records");
  Family family;
  family.name = read.Text();
  family.last_revision = read.Int();
  if (!read.status().ok()) return read.status();
  return family;
}

}  // namespace berth::storage::sqlite
