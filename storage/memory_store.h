// A store in memory, for tests and the simulator: it keeps what a disk would, and fails when told
// to.
//
// It refuses what the SQLite store refuses, and gives back what that gives back: records without
// what api/hydrate.h derives. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/store.h"

namespace berth::storage {

class MemoryStore final : public Store {
 public:
  // When a commit reaches the pretended disk.
  enum class Syncing {
    kEachCommit,  // before Commit returns, as the interface promises
    kOnSync,      // at the next Sync: to act out a crash between writing and syncing
  };

  explicit MemoryStore(Syncing syncing = Syncing::kEachCommit) : syncing_(syncing) {}

  absl::StatusOr<model::Records> Load() override;
  absl::Status Commit(std::span<const model::Change> changes) override;

  // Makes all that was committed so far durable.
  void Sync();
  // The process or machine dies: what was not synced is gone. The store stays usable, as the disk
  // of the next process.
  void Crash();

  // The nth commit from now (1: the next) fails once with `error`, and keeps nothing.
  void FailCommit(int64_t nth, absl::Status error);
  // Every commit fails with `error`, until Recover.
  void FailCommits(absl::Status error);
  void Recover();

  // Calls of Commit so far, failed ones too.
  int64_t commits() const { return commits_; }

 private:
  struct Disk {
    std::map<int64_t, std::shared_ptr<const model::Cluster>> clusters;
    std::map<std::string, model::Family> families;
    std::map<int64_t, std::shared_ptr<const model::TaskDefinition>> definitions;
    std::map<int64_t, std::shared_ptr<const model::ContainerInstance>> instances;
    std::map<int64_t, std::shared_ptr<const model::Task>> tasks;
    std::map<std::pair<model::ClusterName, std::string>, model::ClientToken> client_tokens;
    // By principal and name.
    std::map<std::pair<std::string, std::string>, model::AccountSetting> account_settings;
    std::map<int64_t, model::AccessKeyRecord> access_keys;
  };

  std::optional<absl::Status> TakeFailure();
  absl::Status CheckReferences(std::span<const model::Change> changes) const;
  static void Apply(const model::Change& change, Disk& disk);

  Syncing syncing_;
  Disk synced_;
  std::vector<model::Change> unsynced_;  // committed since the last Sync
  Disk current_;                         // synced_ with unsynced_ applied
  int64_t commits_ = 0;
  std::map<int64_t, absl::Status> failures_;  // by number of commit
  std::optional<absl::Status> lasting_failure_;
};

}  // namespace berth::storage
