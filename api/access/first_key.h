// What an installation's keys begin with: the file that secrets are sealed with, and the first
// admin's key.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "api/access/key_ring.h"
#include "model/access_key.h"
#include "storage/store.h"

namespace berth::api {

inline constexpr char kSecretsFile[] = "secrets.key";
inline constexpr char kAdminCredentialsFile[] = "admin-credentials";

// A ring of the store's keys, opened with DIR/secrets.key. The file is made where there is no key
// yet. Errors say which file, and what to do.
absl::StatusOr<std::unique_ptr<KeyRing>> OpenKeyRing(
    const std::string& data_dir, const std::vector<model::AccessKeyRecord>& records);

// Whether one of them is an admin's and not revoked. Without one nobody could make keys.
bool HasAdmin(const std::vector<model::AccessKeyRecord>& records);

// A new admin key. Its credentials are written to DIR/admin-credentials first, in the form of AWS's
// credentials file: should the key then not be kept, the next start makes another.
absl::StatusOr<model::AccessKey> MakeAdminKey(const std::string& data_dir,
                                              const auth::SecretBox& box);

// For who has lost the credentials of every admin, and has the data folder of a server that is
// stopped: makes another admin key in the store. The others stay good. Refused while the key in
// DIR/admin-credentials is one.
absl::StatusOr<model::AccessKey> RecoverAdmin(const std::string& data_dir, storage::Store& store,
                                              absl::Time now);

}  // namespace berth::api
