#include "api/access/first_key.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "auth/new_key.h"
#include "auth/private_file.h"

namespace berth::api {
namespace {

constexpr char kAdminUser[] = "admin";

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

}  // namespace berth::api
