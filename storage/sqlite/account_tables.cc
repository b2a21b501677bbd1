// The account's own: settings that somebody has set, and access keys. Few rows each.
#include <utility>

#include "storage/sqlite/row.h"
#include "storage/sqlite/tables.h"

namespace berth::storage::sqlite {

using model::AccessKey;
using model::AccountSetting;

const TableSql kAccountSettingSql = {
    .put = R"sql(
INSERT INTO account_setting_records (principal_arn, name, value)
VALUES (?1, ?2, ?3)
ON CONFLICT (principal_arn, name) DO UPDATE SET
  value = excluded.value
)sql",
    .remove = R"sql(
DELETE FROM account_setting_records WHERE principal_arn = ?1 AND name = ?2
)sql",
    .select = R"sql(
SELECT principal_arn, name, value
FROM account_setting_records
ORDER BY principal_arn, name
)sql",
};

void WriteAccountSetting(Statement& put, const AccountSetting& setting) {
  RowWriter(put).Text(setting.principal_arn).Text(setting.name).Text(setting.value);
}

absl::StatusOr<AccountSetting> ReadAccountSetting(const Statement& row) {
  RowReader read(row, "account_setting_records");
  AccountSetting setting;
  setting.principal_arn = read.Text();
  setting.name = read.Text();
  setting.value = read.Text();
  if (!read.status().ok()) return read.status();
  return setting;
}

const TableSql kAccessKeySql = {
    .put = R"sql(
INSERT INTO access_key_records (
  sequence, id, user, role, policy, sealed_secret, created_at, revoked_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT (sequence) DO UPDATE SET
  id = excluded.id,
  user = excluded.user,
  role = excluded.role,
  policy = excluded.policy,
  sealed_secret = excluded.sealed_secret,
  created_at = excluded.created_at,
  revoked_at = excluded.revoked_at
)sql",
    .remove = nullptr,
    .select = R"sql(
SELECT sequence, id, user, role, policy, sealed_secret, created_at, revoked_at
FROM access_key_records
ORDER BY sequence
)sql",
};

void WriteAccessKey(Statement& put, const AccessKey& key) {
  RowWriter(put)
      .Int(key.sequence)
      .Text(key.id)
      .Text(key.user)
      .Text(ToString(key.role))
      .TextOrNull(key.policy)
      .Text(key.sealed_secret)
      .Time(key.created_at)
      .Time(key.revoked_at);
}

absl::StatusOr<std::shared_ptr<AccessKey>> ReadAccessKey(const Statement& row) {
  RowReader read(row, "access_key_records");
  auto key = std::make_shared<AccessKey>();
  key->sequence = read.Int();
  key->id = read.Text();
  key->user = read.Text();
  key->role = read.Word(model::ParseKeyRole);
  key->policy = read.Text();
  key->sealed_secret = read.Text();
  key->created_at = read.Time();
  key->revoked_at = read.Time();
  if (!read.status().ok()) return read.status();
  return key;
}

}  // namespace berth::storage::sqlite
