// A disk between SQLite and the files, which can be full, fail, or lose power at any write.
//
// While one exists it is SQLite's default file system in this process. It knows what was written
// since each file's last sync; after a loss of power any part of that may be missing, in any
// combination, down to half a write.
#pragma once

#include <cstdint>
#include <memory>

#include "model/rng.h"

namespace berth::storage::testing {

class FailingDisk {
 public:
  FailingDisk();
  FailingDisk(const FailingDisk&) = delete;
  FailingDisk& operator=(const FailingDisk&) = delete;
  ~FailingDisk();

  // Writes, syncs and truncations so far.
  int64_t operations() const;

  // No file can grow.
  void SetFull(bool full);
  // The nth operation from now on, and no other, fails with this SQLite code.
  void FailOperation(int64_t nth, int code);
  // Every sync fails.
  void SetSyncFailing(bool failing);
  // Power goes before the nth operation from now. From there on nothing is written, and all fails.
  void LosePowerAt(int64_t nth);
  bool has_power() const;
  // The files become what the disk held when power went, and power is back. Requires: no store has
  // them open.
  void RestorePower(model::Rng& rng);

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::storage::testing
