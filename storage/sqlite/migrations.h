// The schema and its history.
//
// Migration n takes a file from version n-1 to n; a new file is version 0. Each has a file of its
// own in migrations/, is never edited after a release, and comes with a fixture in
// tests/storage/fixtures of a file at that version, which a test upgrades.
#pragma once

#include <span>

#include "absl/status/status.h"
#include "storage/sqlite/connection.h"

namespace berth::storage::sqlite {

// In the file's header, so that `file` and we can tell whose it is: "Brth".
inline constexpr int32_t kApplicationId = 0x42727468;

// SQL texts; the one at index i makes version i + 1.
std::span<const char* const> Migrations();

// Brings the file to the latest version, one transaction per step. Refuses a file of another
// program and one that a newer berth has written, and leaves either as it was.
absl::Status Migrate(Connection& connection, std::span<const char* const> migrations);

}  // namespace berth::storage::sqlite
