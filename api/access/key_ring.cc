#include "api/access/key_ring.h"

#include <optional>
#include <utility>

#include <spdlog/spdlog.h>

#include "absl/strings/str_format.h"

namespace berth::api {

bool IsRevoked(const model::AccessKey& key) { return key.revoked_at != absl::InfinitePast(); }

absl::Status KeyRing::Load(const std::vector<model::AccessKeyRecord>& records) {
  for (const model::AccessKeyRecord& record : records) {
    if (absl::Status status = Put(record); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status KeyRing::Put(const model::AccessKeyRecord& record) {
  if (IsRevoked(*record)) {
    {
      absl::MutexLock lock(&mutex_);
      keys_.erase(record->id);
    }
    signing_keys_.Forget(record->id);
    return absl::OkStatus();
  }
  auto key = std::make_shared<Key>();
  key->record = record;
  std::optional<std::string> secret = box_.Open(record->sealed_secret, record->id);
  if (!secret) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "the secret of access key %s cannot be opened: secrets.key is not the file that it was "
        "sealed with; put the right one back from where it was backed up",
        record->id));
  }
  key->secret = *std::move(secret);
  if (!record->policy.empty()) {
    absl::StatusOr<std::shared_ptr<const Policy>> policy = Policy::Compile(record->policy);
    if (!policy.ok()) {
      return absl::FailedPreconditionError(
          absl::StrFormat("access key %s: %s", record->id, std::string(policy.status().message())));
    }
    key->policy = *std::move(policy);
  }
  absl::MutexLock lock(&mutex_);
  keys_[record->id] = std::move(key);
  return absl::OkStatus();
}

void KeyRing::Observe(const model::Change& change) {
  const auto* put = std::get_if<model::PutAccessKey>(&change);
  if (put == nullptr) return;
  if (absl::Status status = Put(put->record); !status.ok()) {
    // Sealed and compiled a moment ago by the same code: our mistake, and the key stays unusable.
    spdlog::error("{}", std::string(status.message()));
  }
  if (IsRevoked(*put->record) && on_revoked_) on_revoked_(put->record->id);
}

std::shared_ptr<const KeyRing::Key> KeyRing::Find(std::string_view id) const {
  absl::ReaderMutexLock lock(&mutex_);
  const auto found = keys_.find(std::string(id));
  return found == keys_.end() ? nullptr : found->second;
}

}  // namespace berth::api
