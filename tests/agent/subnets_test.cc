#include "agent/docker/subnets.h"

#include <catch2/catch.hpp>

namespace berth::agent {
namespace {

Subnet Range(const char* text) { return *ParseSubnet(text); }

TEST_CASE("a subnet reads and writes as CIDR, and nothing else does", "[agent]") {
  CHECK(ToString(Range("10.213.0.0/16")) == "10.213.0.0/16");
  CHECK(ToString(Range("0.0.0.0/0")) == "0.0.0.0/0");
  for (const char* text : {"", "10.0.0.0", "10.0.0/8", "10.0.0.0/33", "10.0.0.256/32", "a.b.c.d/8",
                           "10.0.0.1/24", "fd00::/64", "10.0.0.0/-1"}) {
    INFO(text);
    CHECK_FALSE(ParseSubnet(text).ok());
  }
}

struct Case {
  std::string why;
  std::vector<std::string> taken;
  std::optional<std::string> chosen;
};

TEST_CASE("a task's network gets the first subnet that nobody has", "[agent]") {
  const auto c = GENERATE(values<Case>({
      {"nothing is taken", {}, "10.0.0.0/28"},
      {"the first is", {"10.0.0.0/28"}, "10.0.0.16/28"},
      {"a gap is filled", {"10.0.0.0/28", "10.0.0.32/28"}, "10.0.0.16/28"},
      {"order does not matter", {"10.0.0.16/28", "10.0.0.0/28"}, "10.0.0.32/28"},
      {"a large network covers many", {"10.0.0.0/25"}, "10.0.0.128/28"},
      {"a tiny one spoils the whole", {"10.0.0.4/30"}, "10.0.0.16/28"},
      {"one that begins before the range", {"10.0.0.0/8"}, std::nullopt},
      {"others do not matter", {"172.17.0.0/16"}, "10.0.0.0/28"},
      {"all is taken", {"10.0.0.0/25", "10.0.0.128/25"}, std::nullopt},
      {"the last is left",
       {"10.0.0.0/25", "10.0.0.128/26", "10.0.0.192/27", "10.0.0.224/28"},
       "10.0.0.240/28"},
  }));
  INFO(c.why);
  std::vector<Subnet> taken;
  for (const std::string& text : c.taken) taken.push_back(Range(text.c_str()));

  const std::optional<Subnet> chosen = ChooseSubnet(Range("10.0.0.0/24"), 28, taken);

  REQUIRE(chosen.has_value() == c.chosen.has_value());
  if (chosen) CHECK(ToString(*chosen) == *c.chosen);
}

TEST_CASE("the default range holds thousands of tasks, each apart from the others", "[agent]") {
  const Subnet range = Range("10.213.0.0/16");
  CHECK(SubnetCount(range, 28) == 4096);
  std::vector<Subnet> taken;
  for (int i = 0; i < 600; ++i) {
    const std::optional<Subnet> next = ChooseSubnet(range, 28, taken);
    REQUIRE(next.has_value());
    for (const Subnet& other : taken) REQUIRE_FALSE(Overlap(*next, other));
    taken.push_back(*next);
  }
}

}  // namespace
}  // namespace berth::agent
