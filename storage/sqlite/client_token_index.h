// Which row holds which client token, in memory: the table itself has no index (see its migration).
//
// Follows the store's transaction: what was assigned or released since the last Keep is taken back
// by Undo.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "model/ids.h"

namespace berth::storage::sqlite {

class ClientTokenIndex {
 public:
  // False when the token already has a row.
  bool Add(const model::ClusterName& cluster, const std::string& token, int64_t sequence);

  // The token's row; a new one if it has none.
  int64_t Assign(const model::ClusterName& cluster, const std::string& token);
  // The row that the token had, which it has no longer.
  std::optional<int64_t> Release(const model::ClusterName& cluster, const std::string& token);

  void Keep() { undo_.clear(); }
  void Undo();

 private:
  using Key = std::pair<std::string, std::string>;  // cluster, token

  struct Before {
    Key key;
    std::optional<int64_t> sequence;
  };

  absl::flat_hash_map<Key, int64_t> sequences_;
  std::vector<Before> undo_;
  int64_t next_ = 1;
};

}  // namespace berth::storage::sqlite
