#include "model/ids.h"

#include <algorithm>
#include <set>

#include <catch2/catch.hpp>

namespace berth::model {
namespace {

bool IsLowerHex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

TEST_CASE("an id is 32 lower-case hex digits, and no two are equal", "[ids]") {
  RandomIdSource source(Rng(7));
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string id = source.NewHex32();
    CHECK(id.size() == 32);
    CHECK(std::ranges::all_of(id, IsLowerHex));
    CHECK(seen.insert(id).second);
  }
}

TEST_CASE("a container's id is a random UUID with hyphens", "[ids]") {
  RandomIdSource source(Rng(7));
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string id = source.NewUuid();
    REQUIRE(id.size() == 36);
    for (size_t j = 0; j < id.size(); ++j) {
      const bool hyphen = j == 8 || j == 13 || j == 18 || j == 23;
      CHECK((hyphen ? id[j] == '-' : IsLowerHex(id[j])));
    }
    CHECK(id[14] == '4');                                          // version: random
    CHECK(std::string("89ab").find(id[19]) != std::string::npos);  // variant: RFC 4122
    CHECK(seen.insert(id).second);
  }
}

TEST_CASE("one seed gives the same ids each time, another seed others", "[ids]") {
  RandomIdSource a(Rng(1));
  RandomIdSource b(Rng(1));
  RandomIdSource c(Rng(2));

  const std::string first = a.NewHex32();
  CHECK(first == b.NewHex32());
  CHECK(first != c.NewHex32());
  CHECK(a.NewUuid() == b.NewUuid());
}

TEST_CASE("a number drawn below a bound is below it, and every one comes up", "[ids]") {
  Rng rng(3);
  std::set<uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t value = rng.Below(5);
    CHECK(value < 5);
    seen.insert(value);
  }
  CHECK(seen.size() == 5);
  CHECK(rng.Below(1) == 0);
}

}  // namespace
}  // namespace berth::model
