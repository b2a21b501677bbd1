#include "tests/storage/failing_disk.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <new>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <sqlite3.h>

#include "model/check.h"

namespace berth::storage::testing {
namespace {

constexpr size_t kSector = 512;  // what a disk writes whole
constexpr char kVfsName[] = "failing-disk";

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

// What a file was at its last sync, and what was done to it since.
struct TrackedFile {
  struct Operation {
    size_t offset = 0;
    std::string written = {};
    std::optional<size_t> truncated_to = std::nullopt;
  };

  std::string synced;
  std::vector<Operation> unsynced;

  static void Do(const Operation& operation, std::string& content) {
    if (operation.truncated_to) {
      content.resize(std::min(content.size(), *operation.truncated_to));
      return;
    }
    const size_t end = operation.offset + operation.written.size();
    if (content.size() < end) content.resize(end, '\0');
    content.replace(operation.offset, operation.written.size(), operation.written);
  }

  void Sync() {
    for (const Operation& operation : unsynced) Do(operation, synced);
    unsynced.clear();
  }

  // Each operation may have reached the disk, or not, or as far as some sector.
  std::string AfterPowerLoss(model::Rng& rng) const {
    std::string content = synced;
    for (Operation operation : unsynced) {
      const uint64_t luck = rng.Below(3);
      if (luck == 0) continue;
      if (luck == 1 && operation.written.size() > kSector) {
        operation.written.resize(kSector * rng.Below(operation.written.size() / kSector));
      }
      Do(operation, content);
    }
    return content;
  }
};

}  // namespace

struct FailingDisk::Impl {
  sqlite3_vfs vfs = {};
  sqlite3_vfs* real = nullptr;
  sqlite3_io_methods methods = {};
  std::map<std::string, TrackedFile> files;
  int64_t operations = 0;
  bool full = false;
  bool sync_failing = false;
  std::optional<int64_t> failing_operation;
  int failure_code = SQLITE_OK;
  std::optional<int64_t> power_ends_at;
  bool has_power = true;

  // Counts one, and says how it ends.
  int Next() {
    ++operations;
    if (power_ends_at && operations >= *power_ends_at) has_power = false;
    if (!has_power) return SQLITE_IOERR;
    if (failing_operation == operations) return failure_code;
    return SQLITE_OK;
  }
};

namespace {

using Impl = FailingDisk::Impl;

// SQLite allocates this, with room for the real file behind it.
struct File {
  sqlite3_file base;
  Impl* disk;
  TrackedFile* tracked;  // null for temporary files

  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  const sqlite3_io_methods& methods() { return *real()->pMethods; }
};

File& Of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }
Impl& Of(sqlite3_vfs* vfs) { return *static_cast<Impl*>(vfs->pAppData); }

int Close(sqlite3_file* file) { return Of(file).methods().xClose(Of(file).real()); }
int Read(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
  return Of(file).methods().xRead(Of(file).real(), to, size, offset);
}
int Write(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
  File& self = Of(file);
  if (const int code = self.disk->Next(); code != SQLITE_OK) return code;
  sqlite3_int64 size_now = 0;
  self.methods().xFileSize(self.real(), &size_now);
  if (self.disk->full && offset + size > size_now) return SQLITE_FULL;
  const int code = self.methods().xWrite(self.real(), from, size, offset);
  if (code == SQLITE_OK && self.tracked != nullptr) {
    self.tracked->unsynced.push_back(
        {.offset = static_cast<size_t>(offset),
         .written = std::string(static_cast<const char*>(from), static_cast<size_t>(size))});
  }
  return code;
}
int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  File& self = Of(file);
  if (const int code = self.disk->Next(); code != SQLITE_OK) return code;
  const int code = self.methods().xTruncate(self.real(), size);
  if (code == SQLITE_OK && self.tracked != nullptr) {
    self.tracked->unsynced.push_back({.truncated_to = static_cast<size_t>(size)});
  }
  return code;
}
int Sync(sqlite3_file* file, int /*flags*/) {
  // The real sync is left out: it would make a slow test, and prove nothing.
  File& self = Of(file);
  if (const int code = self.disk->Next(); code != SQLITE_OK) return code;
  if (self.disk->sync_failing) return SQLITE_IOERR_FSYNC;
  if (self.tracked != nullptr) self.tracked->Sync();
  return SQLITE_OK;
}
int FileSize(sqlite3_file* file, sqlite3_int64* size) {
  return Of(file).methods().xFileSize(Of(file).real(), size);
}
int Lock(sqlite3_file* file, int level) { return Of(file).methods().xLock(Of(file).real(), level); }
int Unlock(sqlite3_file* file, int level) {
  return Of(file).methods().xUnlock(Of(file).real(), level);
}
int CheckReservedLock(sqlite3_file* file, int* result) {
  return Of(file).methods().xCheckReservedLock(Of(file).real(), result);
}
int FileControl(sqlite3_file* file, int operation, void* argument) {
  return Of(file).methods().xFileControl(Of(file).real(), operation, argument);
}
int SectorSize(sqlite3_file* /*file*/) { return kSector; }
// No promises: not even that a sector outside a write stays whole. SQLite then writes most
// carefully.
int DeviceCharacteristics(sqlite3_file* /*file*/) { return 0; }
int ShmMap(sqlite3_file* file, int page, int size, int extend, void volatile** memory) {
  return Of(file).methods().xShmMap(Of(file).real(), page, size, extend, memory);
}
int ShmLock(sqlite3_file* file, int offset, int count, int flags) {
  return Of(file).methods().xShmLock(Of(file).real(), offset, count, flags);
}
void ShmBarrier(sqlite3_file* file) { Of(file).methods().xShmBarrier(Of(file).real()); }
int ShmUnmap(sqlite3_file* file, int remove) {
  return Of(file).methods().xShmUnmap(Of(file).real(), remove);
}

int OpenFile(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* flags_out) {
  Impl& disk = Of(vfs);
  File& self = *new (file) File{.base = {}, .disk = &disk, .tracked = nullptr};
  if (!disk.has_power) return SQLITE_CANTOPEN;
  const int code = disk.real->xOpen(disk.real, path, self.real(), flags, flags_out);
  if (code != SQLITE_OK) return code;
  self.base.pMethods = &disk.methods;
  constexpr int kKept = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL;
  if (path != nullptr && (flags & kKept) != 0) {
    const auto [entry, is_new] = disk.files.try_emplace(path);
    // What was there before us counts as synced.
    if (is_new) entry->second.synced = ReadFile(path);
    self.tracked = &entry->second;
  }
  return SQLITE_OK;
}

int Delete(sqlite3_vfs* vfs, const char* path, int /*sync_folder*/) {
  Impl& disk = Of(vfs);
  if (const int code = disk.Next(); code != SQLITE_OK) return code;
  // Gone at once and for good: also the harder case, since what it held must be elsewhere.
  if (const auto entry = disk.files.find(path); entry != disk.files.end()) {
    entry->second = TrackedFile{};
  }
  return disk.real->xDelete(disk.real, path, 0);
}

}  // namespace

FailingDisk::FailingDisk() : impl_(std::make_unique<Impl>()) {
  impl_->real = sqlite3_vfs_find(nullptr);
  BERTH_CHECK(std::string(impl_->real->zName) != kVfsName);
  impl_->methods = {.iVersion = 2,
                    .xClose = Close,
                    .xRead = Read,
                    .xWrite = Write,
                    .xTruncate = Truncate,
                    .xSync = Sync,
                    .xFileSize = FileSize,
                    .xLock = Lock,
                    .xUnlock = Unlock,
                    .xCheckReservedLock = CheckReservedLock,
                    .xFileControl = FileControl,
                    .xSectorSize = SectorSize,
                    .xDeviceCharacteristics = DeviceCharacteristics,
                    .xShmMap = ShmMap,
                    .xShmLock = ShmLock,
                    .xShmBarrier = ShmBarrier,
                    .xShmUnmap = ShmUnmap,
                    .xFetch = nullptr,
                    .xUnfetch = nullptr};
  impl_->vfs = *impl_->real;  // The other functions ask nothing of the vfs that they are called on.
  impl_->vfs.zName = kVfsName;
  impl_->vfs.pNext = nullptr;
  impl_->vfs.szOsFile = static_cast<int>(sizeof(File)) + impl_->real->szOsFile;
  impl_->vfs.xOpen = OpenFile;
  impl_->vfs.xDelete = Delete;
  // The unix one finds its lock style through pAppData; ours calls it with its own vfs.
  impl_->vfs.pAppData = impl_.get();
  sqlite3_vfs_register(&impl_->vfs, 1);
}

FailingDisk::~FailingDisk() {
  sqlite3_vfs_unregister(&impl_->vfs);
  sqlite3_vfs_register(impl_->real, 1);
}

int64_t FailingDisk::operations() const { return impl_->operations; }
void FailingDisk::SetFull(bool full) { impl_->full = full; }
void FailingDisk::SetSyncFailing(bool failing) { impl_->sync_failing = failing; }
void FailingDisk::FailOperation(int64_t nth, int code) {
  impl_->failing_operation = impl_->operations + nth;
  impl_->failure_code = code;
}
void FailingDisk::LosePowerAt(int64_t nth) { impl_->power_ends_at = impl_->operations + nth; }
bool FailingDisk::has_power() const { return impl_->has_power; }

void FailingDisk::RestorePower(model::Rng& rng) {
  for (auto& [path, file] : impl_->files) {
    if (!std::filesystem::exists(path)) continue;
    file.synced = file.AfterPowerLoss(rng);
    file.unsynced.clear();
    std::ofstream(path, std::ios::binary | std::ios::trunc) << file.synced;
    std::filesystem::remove(path + "-shm");
  }
  impl_->power_ends_at = std::nullopt;
  impl_->has_power = true;
}

}  // namespace berth::storage::testing
