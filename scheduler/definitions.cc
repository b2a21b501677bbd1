#include "scheduler/definitions.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/check.h"

namespace berth::scheduler {

using model::DefinitionId;
using model::DefinitionStatus;

const DefinitionEntry* Definitions::Find(const DefinitionId& id) const {
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : &found->second;
}

const DefinitionEntry* Definitions::Resolve(const model::DefinitionRef& ref) const {
  if (ref.revision) return Find({.family = ref.family, .revision = *ref.revision});
  const auto& active = WithStatus(DefinitionStatus::kActive);
  auto above =
      active.upper_bound({.family = ref.family, .revision = std::numeric_limits<int64_t>::max()});
  if (above == active.begin()) return nullptr;
  const DefinitionId& latest = *std::prev(above);
  return latest.family == ref.family ? Find(latest) : nullptr;
}

const absl::btree_set<DefinitionId>& Definitions::WithStatus(DefinitionStatus status) const {
  return by_status_[static_cast<size_t>(status)];
}

int64_t Definitions::LastRevision(const std::string& family) const {
  const auto found = last_revisions_.find(family);
  return found == last_revisions_.end() ? 0 : found->second;
}

void Definitions::SetLastRevision(const std::string& family, int64_t revision) {
  last_revisions_[family] = revision;
}

void Definitions::Add(DefinitionRecord record, uint64_t change) {
  const DefinitionId id = record->id;
  BERTH_CHECK(id.revision <= LastRevision(id.family));
  by_status_[static_cast<size_t>(record->status)].insert(id);
  BERTH_CHECK(entries_.emplace(id, DefinitionEntry{std::move(record), change}).second);
  newest_change_ = std::max(newest_change_, change);
}

std::vector<std::string> Definitions::FindViolations() const {
  std::vector<std::string> violations;
  size_t listed = 0;
  for (const DefinitionStatus status : {DefinitionStatus::kActive, DefinitionStatus::kInactive,
                                        DefinitionStatus::kDeleteInProgress}) {
    for (const DefinitionId& id : WithStatus(status)) {
      ++listed;
      const DefinitionEntry* entry = Find(id);
      if (entry == nullptr || entry->record->status != status || entry->record->id != id) {
        violations.push_back(absl::StrFormat("definition %s:%d is listed under a status it has not",
                                             id.family, id.revision));
      }
      if (id.revision > LastRevision(id.family)) {
        violations.push_back(absl::StrFormat("definition %s:%d is above its family's last revision",
                                             id.family, id.revision));
      }
    }
  }
  if (listed != entries_.size()) {
    violations.push_back(
        absl::StrFormat("%d definitions are listed, %d are there", listed, entries_.size()));
  }
  return violations;
}

}  // namespace berth::scheduler
