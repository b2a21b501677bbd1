#include "api/access/first_key.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/str_format.h"
#include "auth/new_key.h"
#include "auth/private_file.h"

namespace berth::api {
namespace {

constexpr char kAdminUser[] = "admin";
constexpr size_t kFileBytesMax = 64 * 1024;

std::string PathIn(const std::string& folder, const char* name) {
  return (std::filesystem::path(folder) / name).string();
}

}  // namespace

absl::StatusOr<std::unique_ptr<KeyRing>> OpenKeyRing(
    const std::string& data_dir, const std::vector<model::AccessKeyRecord>& records) {
  absl::StatusOr<auth::SecretBox> box =
      auth::LoadSecretBox(PathIn(data_dir, kSecretsFile), records.empty());
  if (!box.ok()) return box.status();
  auto ring = std::make_unique<KeyRing>(*std::move(box));
  if (absl::Status status = ring->Load(records); !status.ok()) return status;
  return ring;
}

bool HasAdmin(const std::vector<model::AccessKeyRecord>& records) {
  return std::any_of(records.begin(), records.end(), [](const model::AccessKeyRecord& key) {
    return key->role == model::KeyRole::kAdmin && key->policy.empty() && !IsRevoked(*key);
  });
}

absl::StatusOr<model::AccessKey> MakeAdminKey(const std::string& data_dir,
                                              const auth::SecretBox& box) {
  const auth::Credentials made = auth::NewAccessKey();
  const std::string text = "[default]\naws_access_key_id = " + made.access_key_id +
                           "\naws_secret_access_key = " + made.secret_access_key + "\n";
  absl::Status written = auth::WritePrivateFile(PathIn(data_dir, kAdminCredentialsFile), text);
  if (!written.ok()) return written;
  return model::AccessKey{.id = made.access_key_id,
                          .user = kAdminUser,
                          .role = model::KeyRole::kAdmin,
                          .sealed_secret = box.Seal(made.secret_access_key, made.access_key_id)};
}

absl::StatusOr<model::AccessKey> RecoverAdmin(const std::string& data_dir, storage::Store& store,
                                              absl::Time now) {
  const absl::StatusOr<model::Records> records = store.Load();
  if (!records.ok()) return records.status();
  const std::vector<model::AccessKeyRecord> keys(records->access_keys.begin(),
                                                 records->access_keys.end());
  const absl::StatusOr<std::unique_ptr<KeyRing>> ring = OpenKeyRing(data_dir, keys);
  if (!ring.ok()) return ring.status();
  const std::string path = PathIn(data_dir, kAdminCredentialsFile);
  const auto text = auth::ReadPrivateFile(path, kFileBytesMax);
  if (!text.ok()) return text.status();
  int64_t sequence = 0;
  for (const model::AccessKeyRecord& key : keys) {
    sequence = std::max(sequence, key->sequence);
    if (*text && HasAdmin({key}) && (*text)->find(key->id) != std::string::npos) {
      return absl::FailedPreconditionError(absl::StrFormat(
          "nothing is lost: %s has the key %s, which is an admin's and good", path, key->id));
    }
  }
  absl::StatusOr<model::AccessKey> made = MakeAdminKey(data_dir, (*ring)->box());
  if (!made.ok()) return made;
  made->sequence = sequence + 1;
  made->created_at = now;
  const model::Change change = model::PutAccessKey{std::make_shared<const model::AccessKey>(*made)};
  if (absl::Status kept = store.Commit({&change, 1}); !kept.ok()) return kept;
  return made;
}

}  // namespace berth::api
