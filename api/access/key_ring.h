// The access keys that are good right now: loaded at start, and kept up with every change once it
// is durable. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "api/access/policy.h"
#include "auth/secret_box.h"
#include "auth/verify.h"
#include "model/access_key.h"
#include "model/change.h"

namespace berth::api {

class KeyRing {
 public:
  struct Key {
    model::AccessKeyRecord record = {};
    std::string secret = {};
    std::shared_ptr<const Policy> policy = {};  // null: none
  };

  explicit KeyRing(auth::SecretBox box) : box_(std::move(box)) {}

  // Called with the id of each key that is revoked, on the thread of Observe; must be quick. Before
  // the first Observe.
  void set_on_revoked(std::function<void(const std::string& id)> on_revoked) {
    on_revoked_ = std::move(on_revoked);
  }

  // The keys of a store. An error names the key whose secret does not open: the key file is another
  // installation's.
  absl::Status Load(const std::vector<model::AccessKeyRecord>& records);
  // A change that is now durable.
  void Observe(const model::Change& change);

  // Null when there is no such key, or it was revoked.
  std::shared_ptr<const Key> Find(std::string_view id) const;

  const auth::SecretBox& box() const { return box_; }
  auth::SigningKeys& signing_keys() { return signing_keys_; }

 private:
  absl::Status Put(const model::AccessKeyRecord& record);

  const auth::SecretBox box_;
  auth::SigningKeys signing_keys_;
  std::function<void(const std::string& id)> on_revoked_;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<std::string, std::shared_ptr<const Key>> keys_ ABSL_GUARDED_BY(mutex_);
};

bool IsRevoked(const model::AccessKey& key);

}  // namespace berth::api
