#include <string>
#include <utility>

#include "storage/sqlite/record_json.h"
#include "storage/sqlite/row.h"
#include "storage/sqlite/tables.h"

namespace berth::storage::sqlite {

using model::ContainerInstance;

const TableSql kInstanceSql = {
    .put = R"sql(
INSERT INTO container_instance_records (
  sequence, id, cluster, ec2_instance_id, status, status_reason, version, cpu_units, memory_mib,
  emulated, registered_at, deregistered_at, details)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
ON CONFLICT (sequence) DO UPDATE SET
  id = excluded.id,
  cluster = excluded.cluster,
  ec2_instance_id = excluded.ec2_instance_id,
  status = excluded.status,
  status_reason = excluded.status_reason,
  version = excluded.version,
  cpu_units = excluded.cpu_units,
  memory_mib = excluded.memory_mib,
  emulated = excluded.emulated,
  registered_at = excluded.registered_at,
  deregistered_at = excluded.deregistered_at,
  details = excluded.details
)sql",
    .remove = R"sql(
DELETE FROM container_instance_records WHERE sequence = ?1
)sql",
    .select = R"sql(
SELECT
  sequence, id, cluster, ec2_instance_id, status, status_reason, version, cpu_units, memory_mib,
  emulated, registered_at, deregistered_at, details
FROM container_instance_records
ORDER BY sequence
)sql",
};

void WriteInstance(Statement& put, const ContainerInstance& instance) {
  RowWriter(put)
      .Int(instance.sequence)
      .Text(instance.id.value)
      .Text(instance.cluster.value)
      .TextOrNull(instance.ec2_instance_id)
      .Text(ToString(instance.status))
      .TextOrNull(instance.status_reason)
      .Int(instance.version)
      .Int(instance.resources.cpu_units)
      .Int(instance.resources.memory_mib)
      .Int(instance.emulated ? 1 : 0)
      .Time(instance.registered_at)
      .Time(instance.deregistered_at)
      .Text(InstanceDetailsJson(instance));
}

absl::StatusOr<std::shared_ptr<ContainerInstance>> ReadInstance(const Statement& row) {
  RowReader read(row, "container_instance_records");
  ContainerInstance instance;
  instance.sequence = read.Int();
  instance.id.value = read.Text();
  instance.cluster.value = read.Text();
  instance.ec2_instance_id = read.Text();
  instance.status = read.Word(model::ParseInstanceStatus);
  instance.status_reason = read.Text();
  instance.version = read.Int();
  instance.resources.cpu_units = read.Int();
  instance.resources.memory_mib = read.Int();
  instance.emulated = read.Int() != 0;
  instance.registered_at = read.Time();
  instance.deregistered_at = read.Time();
  absl::StatusOr<ContainerInstance> whole = WithDetails(std::move(instance), read.Text());
  read.FailIf(whole.status());
  if (!read.status().ok()) return read.status();
  return std::make_shared<ContainerInstance>(*std::move(whole));
}

}  // namespace berth::storage::sqlite
