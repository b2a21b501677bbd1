// The SQL of each migration; one file each.
#pragma once

namespace berth::storage::sqlite {

extern const char kMigration0001[];
extern const char kMigration0002[];

}  // namespace berth::storage::sqlite
