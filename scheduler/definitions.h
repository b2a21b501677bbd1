// Every revision of every task definition, in the order in which they are listed.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "model/ids.h"
#include "model/task_definition.h"
#include "model/task_status.h"
#include "scheduler/commands.h"

namespace berth::scheduler {

struct DefinitionEntry {
  DefinitionRecord record = {};
  uint64_t change = 0;
};

class Definitions {
 public:
  const DefinitionEntry* Find(const model::DefinitionId& id) const;
  // The revision named, of any status; without one the latest ACTIVE, or nothing.
  const DefinitionEntry* Resolve(const model::DefinitionRef& ref) const;
  // By family, then by revision as a number.
  const absl::btree_set<model::DefinitionId>& WithStatus(model::DefinitionStatus status) const;
  // The highest revision ever used of the family; 0 when there was none.
  int64_t LastRevision(const std::string& family) const;
  uint64_t newest_change() const { return newest_change_; }
  int64_t size() const { return static_cast<int64_t>(entries_.size()); }

  void SetLastRevision(const std::string& family, int64_t revision);
  // Requires: the revision is new, and not above the family's last.
  void Add(DefinitionRecord record, uint64_t change);

  std::vector<std::string> FindViolations() const;

 private:
  absl::flat_hash_map<std::string, int64_t> last_revisions_;
  absl::flat_hash_map<model::DefinitionId, DefinitionEntry> entries_;
  std::array<absl::btree_set<model::DefinitionId>, 3> by_status_;
  uint64_t newest_change_ = 0;
};

}  // namespace berth::scheduler
