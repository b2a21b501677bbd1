// What SQLite says, as a status that names the file and the cause in words.
#pragma once

#include <string_view>

#include <sqlite3.h>

#include "absl/status/status.h"

namespace berth::storage::sqlite {

// Extended result codes carry the primary one in the low byte.
inline constexpr int kPrimaryCodeMask = 0xff;

// The failure `code` of the last call on `db`. `doing` continues "cannot": "commit to", "open".
absl::Status SqliteError(sqlite3* db, int code, std::string_view doing);

// The file behind `db`.
std::string_view FileOf(sqlite3* db);

}  // namespace berth::storage::sqlite
