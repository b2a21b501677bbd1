#include "scheduler/definitions.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/check.h"
#include "model/errors.h"

namespace berth::scheduler {

using model::DefinitionId;
using model::DefinitionStatus;
using Filter = ListTaskDefinitionFamilies::Filter;

absl::StatusOr<MemberOf> CompileConstraints(const model::TaskSpec& spec) {
  MemberOf member_of;
  for (size_t i = 0; i < spec.placement_constraints.size(); ++i) {
    auto query = placement::Query::Compile(spec.placement_constraints[i].expression);
    if (!query.ok()) {
      return model::InvalidParameter(absl::StrFormat("placementConstraints[%d].expression: %s", i,
                                                     std::string(query.status().message())));
    }
    member_of.push_back(*std::move(query));
  }
  return member_of;
}

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

const absl::btree_set<std::string>& Definitions::Families(Filter filter) const {
  return families_[static_cast<size_t>(filter)];
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
  List(*record, 1);
  DefinitionEntry entry{
      .record = record, .member_of = CompileConstraints(*record->spec), .change = change};
  BERTH_CHECK(entries_.emplace(id, std::move(entry)).second);
  newest_change_ = std::max(newest_change_, change);
}

void Definitions::Replace(DefinitionRecord next, uint64_t change) {
  DefinitionEntry& entry = entries_.at(next->id);
  List(*entry.record, -1);
  List(*next, 1);
  entry.record = std::move(next);
  entry.change = change;
  newest_change_ = std::max(newest_change_, change);
}

void Definitions::Erase(const DefinitionId& id, uint64_t change) {
  const auto entry = entries_.find(id);
  BERTH_CHECK(entry != entries_.end() && entry->second.references == 0);
  List(*entry->second.record, -1);
  entries_.erase(entry);
  newest_change_ = std::max(newest_change_, change);
}

const DefinitionEntry& Definitions::CountReference(const DefinitionId& id, int64_t n) {
  DefinitionEntry& entry = entries_.at(id);
  entry.references += n;
  BERTH_CHECK(entry.references >= 0);
  return entry;
}

void Definitions::List(const model::TaskDefinition& definition, int64_t n) {
  const auto status = static_cast<size_t>(definition.status);
  auto& listed = by_status_[status];
  BERTH_CHECK(n > 0 ? listed.insert(definition.id).second : listed.erase(definition.id) == 1);

  const std::string& family = definition.id.family;
  Revisions& revisions = revisions_[family];
  revisions[status] += n;
  const bool any = std::any_of(revisions.begin(), revisions.end(), [](auto of) { return of > 0; });
  const bool active = revisions[static_cast<size_t>(DefinitionStatus::kActive)] > 0;
  const auto belongs = [&](Filter filter, bool does) {
    auto& families = families_[static_cast<size_t>(filter)];
    does ? static_cast<void>(families.insert(family)) : static_cast<void>(families.erase(family));
  };
  belongs(Filter::kAll, any);
  belongs(Filter::kActive, active);
  belongs(Filter::kInactive, any && !active);
  if (!any) revisions_.erase(family);
}

int64_t Definitions::CountReferenced() const {
  return std::count_if(entries_.begin(), entries_.end(),
                       [](const auto& entry) { return entry.second.references > 0; });
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
  absl::btree_set<std::string> all;
  absl::btree_set<std::string> active;
  absl::btree_set<std::string> inactive;
  for (const auto& [id, entry] : entries_) {
    all.insert(id.family);
    if (entry.record->status == DefinitionStatus::kActive) active.insert(id.family);
    if (entry.record->status == DefinitionStatus::kDeleteInProgress && entry.references == 0) {
      violations.push_back(absl::StrFormat("definition %s:%d is to go, and nothing refers to it",
                                           id.family, id.revision));
    }
  }
  std::set_difference(all.begin(), all.end(), active.begin(), active.end(),
                      std::inserter(inactive, inactive.end()));
  if (Families(Filter::kAll) != all || Families(Filter::kActive) != active ||
      Families(Filter::kInactive) != inactive || revisions_.size() != all.size()) {
    violations.push_back("the families listed are not those of the definitions");
  }
  return violations;
}

}  // namespace berth::scheduler
