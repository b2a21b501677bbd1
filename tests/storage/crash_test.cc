// kill -9 in the middle of a stream of commits, by a real process on a real disk.
#include <catch2/catch.hpp>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storage/sqlite/sqlite_store.h"
#include "tests/storage/data_folder.h"
#include "tests/storage/sample_records.h"

namespace berth::storage {
namespace {

using namespace testing;  // NOLINT: the samples of this folder's tests

constexpr int kKills = 10;
constexpr int64_t kTasksPerCommit = 7;

std::vector<model::Change> Batch(int64_t n) {
  static const auto definition = Shared(FullDefinition(1));
  std::vector<model::Change> changes = {model::PutTaskDefinition{definition},
                                        model::PutFamily{{.name = "last", .last_revision = n}}};
  for (int64_t i = 0; i < kTasksPerCommit; ++i) {
    changes.push_back(model::PutTask{Shared(PlainTask(n * kTasksPerCommit + i, definition))});
  }
  return changes;
}

// The child: commits `first`, `first + 1`, ... until it is killed, and says each number that was
// acknowledged.
[[noreturn]] void CommitForEver(const std::string& file, int64_t first, int acknowledgements) {
  absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(file);
  if (!store.ok()) _exit(1);
  for (int64_t n = first;; ++n) {
    if (!(*store)->Commit(Batch(n)).ok()) _exit(2);
    if (write(acknowledgements, &n, sizeof(n)) != sizeof(n)) _exit(3);
  }
}

// Kills a child after it has acknowledged `count` commits and somewhat more; the last one that it
// acknowledged.
int64_t CommitAndKill(const std::string& file, int64_t first, int64_t count,
                      useconds_t and_then_us) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    close(ends[0]);
    CommitForEver(file, first, ends[1]);
  }
  close(ends[1]);
  int64_t last = first - 1;
  while (last < first + count - 1 && read(ends[0], &last, sizeof(last)) == sizeof(last)) {
  }
  usleep(and_then_us);  // To strike anywhere in a commit, not just behind one.
  kill(child, SIGKILL);
  int how = 0;
  REQUIRE(waitpid(child, &how, 0) == child);
  while (read(ends[0], &last, sizeof(last)) == sizeof(last)) {
  }
  close(ends[0]);
  REQUIRE(WIFSIGNALED(how));  // Or it ended by itself, with an error.
  REQUIRE(last >= first + count - 1);
  return last;
}

TEST_CASE("kill -9 in a stream of commits loses nothing acknowledged and leaves nothing in part",
          "[crash]") {
  const DataFolder folder;
  int64_t next = 1;
  for (int kills = 0; kills < kKills; ++kills) {
    const int64_t acknowledged =
        CommitAndKill(folder.File(), next, 5, static_cast<useconds_t>(kills * 317));

    // The lock went with the process.
    const absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(folder.File());
    INFO(store.status());
    REQUIRE(store.ok());
    const absl::StatusOr<model::Records> records = (*store)->Load();
    REQUIRE(records.ok());
    REQUIRE(records->families.size() == 1);
    const int64_t committed = records->families[0].last_revision;
    CHECK(committed >= acknowledged);
    CHECK(committed <= acknowledged + 1);
    REQUIRE(records->tasks.size() == static_cast<size_t>(committed * kTasksPerCommit));
    for (size_t i = 0; i < records->tasks.size(); ++i) {
      REQUIRE(records->tasks[i]->sequence == kTasksPerCommit + static_cast<int64_t>(i));
    }
    next = committed + 1;
  }
}

}  // namespace
}  // namespace berth::storage
