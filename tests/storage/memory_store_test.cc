#include "storage/memory_store.h"

#include <catch2/catch.hpp>

#include "tests/storage/sample_records.h"

namespace berth::storage {
namespace {

using model::Change;
using namespace testing;  // NOLINT: the samples of this folder's tests

std::vector<Change> PutOneFamily(int64_t number) { return {model::PutFamily{FullFamily(number)}}; }

size_t Families(MemoryStore& store) { return store.Load()->families.size(); }

TEST_CASE("a commit that was synced survives a crash of the memory store", "[memory_store]") {
  MemoryStore store;
  REQUIRE(store.Commit(PutOneFamily(1)).ok());

  store.Crash();

  CHECK(Families(store) == 1);
}

TEST_CASE("commits since the last sync are lost in a crash, and only those", "[memory_store]") {
  MemoryStore store(MemoryStore::Syncing::kOnSync);
  REQUIRE(store.Commit(PutOneFamily(1)).ok());
  store.Sync();
  REQUIRE(store.Commit(PutOneFamily(2)).ok());
  REQUIRE(Families(store) == 2);

  store.Crash();

  CHECK(Families(store) == 1);
  REQUIRE(store.Commit(PutOneFamily(3)).ok());
  store.Sync();
  store.Crash();
  CHECK(Families(store) == 2);
}

TEST_CASE("the nth commit fails once, keeps nothing, and can be repeated", "[memory_store]") {
  MemoryStore store;
  REQUIRE(store.Commit(PutOneFamily(1)).ok());
  store.FailCommit(2, absl::ResourceExhaustedError("disk full"));

  CHECK(store.Commit(PutOneFamily(2)).ok());
  CHECK(store.Commit(PutOneFamily(3)) == absl::ResourceExhaustedError("disk full"));
  CHECK(Families(store) == 2);
  CHECK(store.Commit(PutOneFamily(3)).ok());
  CHECK(Families(store) == 3);
  CHECK(store.commits() == 4);
}

TEST_CASE("commits fail until the store is told to recover, while reads go on", "[memory_store]") {
  MemoryStore store;
  REQUIRE(store.Commit(PutOneFamily(1)).ok());
  store.FailCommits(absl::UnavailableError("I/O error"));

  for (int i = 0; i < 3; ++i) {
    CHECK(store.Commit(PutOneFamily(2)) == absl::UnavailableError("I/O error"));
  }
  CHECK(Families(store) == 1);
  store.Recover();
  CHECK(store.Commit(PutOneFamily(2)).ok());
  CHECK(Families(store) == 2);
}

}  // namespace
}  // namespace berth::storage
