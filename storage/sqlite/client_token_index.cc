#include "storage/sqlite/client_token_index.h"

#include <algorithm>

namespace berth::storage::sqlite {

bool ClientTokenIndex::Add(const model::ClusterName& cluster, const std::string& token,
                           int64_t sequence) {
  next_ = std::max(next_, sequence + 1);
  return sequences_.try_emplace(Key(cluster.value, token), sequence).second;
}

int64_t ClientTokenIndex::Assign(const model::ClusterName& cluster, const std::string& token) {
  const Key key(cluster.value, token);
  const auto [entry, is_new] = sequences_.try_emplace(key, next_);
  if (is_new) {
    ++next_;
    undo_.push_back({.key = key, .sequence = std::nullopt});
  }
  return entry->second;
}

std::optional<int64_t> ClientTokenIndex::Release(const model::ClusterName& cluster,
                                                 const std::string& token) {
  const auto entry = sequences_.find(Key(cluster.value, token));
  if (entry == sequences_.end()) return std::nullopt;
  const int64_t sequence = entry->second;
  undo_.push_back({.key = entry->first, .sequence = sequence});
  sequences_.erase(entry);
  return sequence;
}

void ClientTokenIndex::Undo() {
  for (; !undo_.empty(); undo_.pop_back()) {
    const Before& before = undo_.back();
    if (before.sequence) {
      sequences_[before.key] = *before.sequence;
    } else {
      sequences_.erase(before.key);
    }
  }
}

}  // namespace berth::storage::sqlite
