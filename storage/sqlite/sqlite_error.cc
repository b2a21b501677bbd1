#include "storage/sqlite/sqlite_error.h"

#include <cstring>
#include <string>

#include "absl/strings/str_format.h"

namespace berth::storage::sqlite {
namespace {

absl::StatusCode CodeOf(int primary) {
  switch (primary) {
    case SQLITE_FULL:
    case SQLITE_NOMEM:
    case SQLITE_TOOBIG:
      return absl::StatusCode::kResourceExhausted;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return absl::StatusCode::kPermissionDenied;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::StatusCode::kDataLoss;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return absl::StatusCode::kUnavailable;
    case SQLITE_CONSTRAINT:
      return absl::StatusCode::kFailedPrecondition;
    default:
      return absl::StatusCode::kInternal;
  }
}

std::string CauseOf(sqlite3* db, int code) {
  switch (code & kPrimaryCodeMask) {
    case SQLITE_FULL:
      return "the disk is full";
    case SQLITE_READONLY:
      return "the file or its folder may not be written";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "another program keeps it locked for writing, such as a sqlite3 shell with an open "
             "transaction";
    case SQLITE_NOTADB:
      return "the file is not an SQLite database";
    case SQLITE_CORRUPT:
      return absl::StrFormat("the file is damaged (%s)", sqlite3_errmsg(db));
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
      if (const int error = sqlite3_system_errno(db); error != 0) {
        return absl::StrFormat("%s (%s)", sqlite3_errstr(code), std::strerror(error));
      }
      return sqlite3_errstr(code);
    default:
      return sqlite3_errmsg(db);
  }
}

}  // namespace

std::string_view FileOf(sqlite3* db) {
  const char* path = sqlite3_db_filename(db, "main");
  return path == nullptr ? "" : path;
}

absl::Status SqliteError(sqlite3* db, int code, std::string_view doing) {
  return absl::Status(CodeOf(code & kPrimaryCodeMask),
                      absl::StrFormat("cannot %s %s: %s", doing, FileOf(db), CauseOf(db, code)));
}

}  // namespace berth::storage::sqlite
