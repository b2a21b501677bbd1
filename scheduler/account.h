// What belongs to the account and to no cluster: the settings that somebody has set, and access
// keys. Few of each.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "model/access_key.h"
#include "model/account_setting.h"

namespace berth::scheduler {

struct AccessKeyEntry {
  model::AccessKeyRecord record = {};
  uint64_t change = 0;
};

class Account {
 public:
  // --- settings, by principal and name
  using SettingKey = std::pair<std::string, std::string>;
  const absl::btree_map<SettingKey, model::AccountSetting>& settings() const { return settings_; }
  // To any setting, deletions too: what is not there was perhaps deleted.
  uint64_t newest_setting_change() const { return newest_setting_change_; }
  void PutSetting(model::AccountSetting setting, uint64_t change);
  // Requires: it is there.
  void EraseSetting(const SettingKey& key, uint64_t change);

  // --- access keys, by sequence; they are never deleted
  const absl::btree_map<int64_t, AccessKeyEntry>& keys() const { return keys_; }
  const AccessKeyEntry* FindKey(const std::string& id) const;
  uint64_t newest_key_change() const { return newest_key_change_; }
  // A new one, or the next version of the one with its sequence. Requires: the id is not another's.
  const AccessKeyEntry& PutKey(model::AccessKeyRecord record, uint64_t change);

  std::vector<std::string> FindViolations() const;

 private:
  absl::btree_map<SettingKey, model::AccountSetting> settings_;
  uint64_t newest_setting_change_ = 0;

  absl::btree_map<int64_t, AccessKeyEntry> keys_;
  absl::flat_hash_map<std::string, int64_t> key_sequences_;  // by id
  uint64_t newest_key_change_ = 0;
};

}  // namespace berth::scheduler
