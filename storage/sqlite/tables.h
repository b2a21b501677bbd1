// One table per kind of record: its SQL, and the pair that writes a record into a row and reads it
// back. Each pair stands in the .cc file of its table, beside the SQL whose columns it follows.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "model/change.h"
#include "storage/sqlite/statement.h"

namespace berth::storage::sqlite {

struct TableSql {
  const char* put;
  const char* remove;  // null: records of this kind are never deleted
  const char* select;
};

extern const TableSql kClusterSql;
void WriteCluster(Statement& put, const model::Cluster& cluster);
absl::StatusOr<std::shared_ptr<model::Cluster>> ReadCluster(const Statement& row);

extern const TableSql kFamilySql;
void WriteFamily(Statement& put, const model::Family& family);
absl::StatusOr<model::Family> ReadFamily(const Statement& row);

extern const TableSql kDefinitionSql;
void WriteDefinition(Statement& put, const model::TaskDefinition& definition);
absl::StatusOr<std::shared_ptr<model::TaskDefinition>> ReadDefinition(const Statement& row);

extern const TableSql kInstanceSql;
void WriteInstance(Statement& put, const model::ContainerInstance& instance);
absl::StatusOr<std::shared_ptr<model::ContainerInstance>> ReadInstance(const Statement& row);

using DefinitionsBySequence =
    absl::flat_hash_map<int64_t, std::shared_ptr<const model::TaskDefinition>>;

// `put` writes no row where the sequence already belongs to another task or definition.
extern const TableSql kTaskSql;
void WriteTask(Statement& put, const model::Task& task);
// The task points to its definition in `definitions`; an error when that is not there.
absl::StatusOr<std::shared_ptr<model::Task>> ReadTask(const Statement& row,
                                                      const DefinitionsBySequence& definitions);

// A row of client_token_records: the token, and the sequence that the store gave it.
struct ClientTokenRow {
  int64_t sequence = 0;
  model::ClientToken token = {};
};
extern const TableSql kClientTokenSql;
void WriteClientToken(Statement& put, int64_t sequence, const model::ClientToken& token);
absl::StatusOr<ClientTokenRow> ReadClientToken(const Statement& row);

// `remove` takes the principal's ARN and the name.
extern const TableSql kAccountSettingSql;
void WriteAccountSetting(Statement& put, const model::AccountSetting& setting);
absl::StatusOr<model::AccountSetting> ReadAccountSetting(const Statement& row);

extern const TableSql kAccessKeySql;
void WriteAccessKey(Statement& put, const model::AccessKey& key);
absl::StatusOr<std::shared_ptr<model::AccessKey>> ReadAccessKey(const Statement& row);

}  // namespace berth::storage::sqlite
