#include "api/access/agent_access.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/str_format.h"
#include "api/access/key_ring.h"
#include "auth/new_key.h"
#include "auth/private_file.h"

namespace berth::api {
namespace {

constexpr char kAgentUser[] = "agent";
constexpr size_t kFileBytesMax = 64 * 1024;

std::string CredentialsIn(const std::string& folder) {
  return std::filesystem::path(folder) / "credentials";
}

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

absl::Status MakeFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrFormat("cannot make the folder %s: %s", folder, error.message()));
}

}  // namespace

absl::StatusOr<std::optional<model::AccessKey>> MakeAgentKey(
    const std::string& folder, const std::vector<model::AccessKeyRecord>& records,
    const auth::SecretBox& box) {
  if (absl::Status status = MakeFolder(folder); !status.ok()) return status;
  const std::string path = CredentialsIn(folder);
  const auto text = auth::ReadPrivateFile(path, kFileBytesMax);
  if (!text.ok()) return text.status();
  const bool good =
      *text && std::any_of(records.begin(), records.end(), [&](const model::AccessKeyRecord& key) {
        return key->role == model::KeyRole::kAgent && !IsRevoked(*key) &&
               (*text)->find(key->id) != std::string::npos;
      });
  if (good) return std::nullopt;

  const auth::Credentials made = auth::NewAccessKey();
  const std::string file = "[default]\naws_access_key_id = " + made.access_key_id +
                           "\naws_secret_access_key = " + made.secret_access_key + "\n";
  if (absl::Status written = auth::WritePrivateFile(path, file); !written.ok()) return written;
  return model::AccessKey{.id = made.access_key_id,
                          .user = kAgentUser,
                          .role = model::KeyRole::kAgent,
                          .sealed_secret = box.Seal(made.secret_access_key, made.access_key_id)};
}

absl::Status ShareAuthority(const std::string& ca_file, const std::string& folder) {
  if (absl::Status status = MakeFolder(folder); !status.ok()) return status;
  const std::string to = std::filesystem::path(folder) / "ca.pem";
  if (ReadAll(to) == ReadAll(ca_file)) return absl::OkStatus();
  // By a rename, so that nobody reads half of it.
  std::error_code error;
  std::filesystem::copy_file(ca_file, to + ".new",
                             std::filesystem::copy_options::overwrite_existing, error);
  if (!error) std::filesystem::rename(to + ".new", to, error);
  if (!error) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrFormat("cannot copy %s to %s: %s", ca_file, to, error.message()));
}

}  // namespace berth::api
