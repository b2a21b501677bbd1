// How many commits, and tasks in them, the SQLite store takes per second, by size of batch.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <stdlib.h>

#include "absl/strings/str_format.h"
#include "storage/sqlite/sqlite_store.h"

namespace berth::storage {
namespace {

using model::Change;

constexpr int64_t kUpdatedTasks = 100'000;

class Folder {
 public:
  Folder() : path_((std::filesystem::temp_directory_path() / "berth-benchmark-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string File() const { return path_ + "/berth.db"; }

 private:
  std::string path_;
};

std::shared_ptr<const model::TaskDefinition> Definition() {
  static const auto definition = std::make_shared<const model::TaskDefinition>(
      model::TaskDefinition{.id = {.family = "train", .revision = 1},
                            .sequence = 1,
                            .document = std::make_shared<const std::string>("{}")});
  return definition;
}

// Two sharing containers, as in the demo.
Change PutTask(int64_t sequence, model::TaskStatus status) {
  auto task = std::make_shared<model::Task>();
  task->id = {.value = absl::StrFormat("%032x", sequence)};
  task->sequence = sequence;
  task->cluster = {.value = "default"};
  task->instance = {.value = std::string(32, 'a')};
  task->definition = Definition();
  task->last_status = status;
  task->group = "family:train";
  task->created_at = absl::FromUnixSeconds(1'790'000'000);
  for (const char* name : {"main", "side"}) {
    task->containers.push_back({.name = name,
                                .uuid = "00000000-0000-0000-0000-000000000000",
                                .runtime_id = std::string(64, 'd'),
                                .gpu_ids = {{.value = "GPU-00000000-0000-0000-0000-0000000000"}}});
  }
  return model::PutTask{task};
}

std::unique_ptr<Store> OpenOrAbort(const std::string& file) {
  absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(file);
  if (!store.ok()) std::abort();
  const std::vector<Change> definition = {model::PutTaskDefinition{Definition()}};
  if (!(*store)->Commit(definition).ok()) std::abort();
  return *std::move(store);
}

void CommitOrAbort(Store& store, const std::vector<Change>& batch) {
  if (!store.Commit(batch).ok()) std::abort();
}

void NewTasks(benchmark::State& state) {
  const Folder folder;
  const std::unique_ptr<Store> store = OpenOrAbort(folder.File());
  int64_t sequence = 0;
  std::vector<Change> batch;
  for (auto _ : state) {
    state.PauseTiming();
    batch.clear();
    for (int64_t i = 0; i < state.range(0); ++i) {
      batch.push_back(PutTask(++sequence, model::TaskStatus::kPending));
    }
    state.ResumeTiming();
    CommitOrAbort(*store, batch);
  }
  state.counters["commits"] =
      benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

// Tasks all over the table report a new status.
void UpdatedTasks(benchmark::State& state) {
  const Folder folder;
  const std::unique_ptr<Store> store = OpenOrAbort(folder.File());
  std::vector<Change> batch;
  for (int64_t sequence = 1; sequence <= kUpdatedTasks; ++sequence) {
    batch.push_back(PutTask(sequence, model::TaskStatus::kPending));
  }
  CommitOrAbort(*store, batch);
  model::Rng rng(42);
  for (auto _ : state) {
    state.PauseTiming();
    batch.clear();
    for (int64_t i = 0; i < state.range(0); ++i) {
      const auto sequence = static_cast<int64_t>(1 + rng.Below(kUpdatedTasks));
      batch.push_back(PutTask(sequence, model::TaskStatus::kRunning));
    }
    state.ResumeTiming();
    CommitOrAbort(*store, batch);
  }
  state.counters["commits"] =
      benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void LoadTasks(benchmark::State& state) {
  const Folder folder;
  const std::unique_ptr<Store> store = OpenOrAbort(folder.File());
  std::vector<Change> batch;
  for (int64_t sequence = 1; sequence <= state.range(0); ++sequence) {
    batch.push_back(PutTask(sequence, model::TaskStatus::kRunning));
  }
  CommitOrAbort(*store, batch);
  for (auto _ : state) {
    absl::StatusOr<model::Records> records = store->Load();
    if (!records.ok() || records->tasks.size() != batch.size()) std::abort();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK(NewTasks)->Arg(1)->Arg(16)->Arg(256)->Arg(4096)->Arg(10000)->UseRealTime();
BENCHMARK(UpdatedTasks)->Arg(1)->Arg(16)->Arg(256)->Arg(4096)->UseRealTime();
BENCHMARK(LoadTasks)->Arg(100'000)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace berth::storage
