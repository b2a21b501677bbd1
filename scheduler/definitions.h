// Every revision of every task definition, in the order in which they are listed.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "model/ids.h"
#include "model/task_definition.h"
#include "model/task_status.h"
#include "placement/query.h"
#include "scheduler/commands.h"

namespace berth::scheduler {

using MemberOf = std::vector<std::shared_ptr<const placement::Query>>;

// The memberOf constraints of a definition. The error is InvalidParameter and names the constraint.
absl::StatusOr<MemberOf> CompileConstraints(const model::TaskSpec& spec);

struct DefinitionEntry {
  DefinitionRecord record = {};
  // An error where the definition was registered before expressions were read, and does not
  // compile.
  absl::StatusOr<MemberOf> member_of = MemberOf{};
  uint64_t change = 0;
  int64_t references = 0;  // remembered tasks that are runs of it
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
  // The families that have revisions, in order of their names.
  const absl::btree_set<std::string>& Families(ListTaskDefinitionFamilies::Filter filter) const;
  uint64_t newest_change() const { return newest_change_; }
  int64_t size() const { return static_cast<int64_t>(entries_.size()); }

  void SetLastRevision(const std::string& family, int64_t revision);
  // Requires: the revision is new, and not above the family's last.
  void Add(DefinitionRecord record, uint64_t change);
  // Requires: the revision is there.
  void Replace(DefinitionRecord next, uint64_t change);
  // Requires: nothing refers to it.
  void Erase(const model::DefinitionId& id, uint64_t change);
  // One more task is remembered that is a run of it (+1), or one fewer (-1).
  const DefinitionEntry& CountReference(const model::DefinitionId& id, int64_t n);

  int64_t CountReferenced() const;  // O(definitions): for the audit
  std::vector<std::string> FindViolations() const;

 private:
  // How many revisions of each status a family has.
  using Revisions = std::array<int64_t, 3>;

  // Lists the revision under its status, or (-1) takes it off.
  void List(const model::TaskDefinition& definition, int64_t n);

  absl::flat_hash_map<std::string, int64_t> last_revisions_;
  absl::flat_hash_map<model::DefinitionId, DefinitionEntry> entries_;
  std::array<absl::btree_set<model::DefinitionId>, 3> by_status_;
  absl::flat_hash_map<std::string, Revisions> revisions_;  // no family without any
  std::array<absl::btree_set<std::string>, 3> families_;   // by Filter
  uint64_t newest_change_ = 0;
};

}  // namespace berth::scheduler
