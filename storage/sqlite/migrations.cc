#include "storage/sqlite/migrations.h"

#include <array>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "storage/sqlite/migrations/all.h"
#include "storage/sqlite/sqlite_error.h"

namespace berth::storage::sqlite {
namespace {

constexpr std::array kMigrations = {
    kMigration0001,
    kMigration0002,
};

absl::Status CheckOwner(Connection& connection, int64_t version) {
  const absl::StatusOr<int64_t> application = connection.QueryInt("PRAGMA application_id");
  if (!application.ok()) return application.status();
  const absl::StatusOr<int64_t> objects = connection.QueryInt("SELECT count(*) FROM sqlite_schema");
  if (!objects.ok()) return objects.status();

  const bool is_new = version == 0 && *application == 0 && *objects == 0;
  if (!is_new && *application != kApplicationId) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "%s is an SQLite database of another program; berth leaves it alone: choose "
        "another data folder",
        FileOf(connection.handle())));
  }
  return absl::OkStatus();
}

absl::Status Apply(Connection& connection, int64_t version, const char* sql) {
  absl::StatusOr<Transaction> transaction =
      Transaction::Begin(connection, Transaction::Kind::kWrite);
  if (!transaction.ok()) return transaction.status();
  const std::string mark = absl::StrFormat("PRAGMA user_version = %d; PRAGMA application_id = %d;",
                                           version, kApplicationId);
  for (const char* step : {sql, mark.c_str()}) {
    if (absl::Status done = connection.Execute(step); !done.ok()) return done;
  }
  const absl::StatusOr<int64_t> dangling =
      connection.QueryInt("SELECT count(*) FROM pragma_foreign_key_check");
  if (!dangling.ok()) return dangling.status();
  if (*dangling > 0) {
    return absl::DataLossError(absl::StrFormat("%s: %d rows refer to rows that are not there",
                                               FileOf(connection.handle()), *dangling));
  }
  return transaction->Commit();
}

}  // namespace

std::span<const char* const> Migrations() { return kMigrations; }

absl::Status Migrate(Connection& connection, std::span<const char* const> migrations) {
  const absl::StatusOr<int64_t> found = connection.QueryInt("PRAGMA user_version");
  if (!found.ok()) return found.status();
  if (absl::Status owner = CheckOwner(connection, *found); !owner.ok()) return owner;
  const auto latest = static_cast<int64_t>(migrations.size());
  if (*found < 0 || *found > latest) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s has schema version %d, and this berth knows versions up to %d: run the "
                        "newer berth that "
                        "wrote it, or restore a backup from before that upgrade",
                        FileOf(connection.handle()), *found, latest));
  }
  for (int64_t version = *found + 1; version <= latest; ++version) {
    absl::Status applied = Apply(connection, version, migrations[version - 1]);
    if (!applied.ok()) {
      return absl::Status(applied.code(), absl::StrFormat("upgrade to schema version %d: %s",
                                                          version, std::string(applied.message())));
    }
  }
  return absl::OkStatus();
}

}  // namespace berth::storage::sqlite
