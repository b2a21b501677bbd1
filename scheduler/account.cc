#include "scheduler/account.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "model/check.h"

namespace berth::scheduler {

void Account::PutSetting(model::AccountSetting setting, uint64_t change) {
  SettingKey key(setting.principal_arn, setting.name);
  settings_.insert_or_assign(std::move(key), std::move(setting));
  newest_setting_change_ = std::max(newest_setting_change_, change);
}

void Account::EraseSetting(const SettingKey& key, uint64_t change) {
  BERTH_CHECK(settings_.erase(key) == 1);
  newest_setting_change_ = std::max(newest_setting_change_, change);
}

const AccessKeyEntry* Account::FindKey(const std::string& id) const {
  const auto found = key_sequences_.find(id);
  return found == key_sequences_.end() ? nullptr : &keys_.at(found->second);
}

const AccessKeyEntry& Account::PutKey(model::AccessKeyRecord record, uint64_t change) {
  const auto [place, is_new] = key_sequences_.try_emplace(record->id, record->sequence);
  BERTH_CHECK(place->second == record->sequence);
  AccessKeyEntry& entry = keys_[record->sequence];
  BERTH_CHECK(is_new == (entry.record == nullptr));
  entry = {.record = std::move(record), .change = change};
  newest_key_change_ = std::max(newest_key_change_, change);
  return entry;
}

std::vector<std::string> Account::FindViolations() const {
  std::vector<std::string> violations;
  for (const auto& [sequence, entry] : keys_) {
    if (entry.record->sequence == sequence && FindKey(entry.record->id) == &entry) continue;
    violations.push_back(absl::StrFormat("access key %s is not found by its id", entry.record->id));
  }
  if (keys_.size() != key_sequences_.size()) {
    violations.push_back(absl::StrFormat("%d access keys can be found, %d are there",
                                         key_sequences_.size(), keys_.size()));
  }
  for (const auto& [key, setting] : settings_) {
    if (key == SettingKey(setting.principal_arn, setting.name)) continue;
    violations.push_back(
        absl::StrFormat("account setting %s is kept under another name", setting.name));
  }
  return violations;
}

}  // namespace berth::scheduler
