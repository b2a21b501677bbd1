// Regular expressions of queries: the part of Java's that is taken, what is refused, and that none
// takes long.
#include "placement/pattern.h"

#include <iterator>
#include <regex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <catch2/catch.hpp>

#include "model/rng.h"

namespace berth::placement {
namespace {

constexpr int64_t kStatesMax = 5000;

Pattern Compiled(const std::string& text) {
  auto compiled = Pattern::Compile(text, kStatesMax);
  if (const auto* error = std::get_if<PatternError>(&compiled)) FAIL(text << ": " << error->why);
  return std::get<Pattern>(std::move(compiled));
}

// "character: why" of a pattern that must not compile.
std::string Refusal(const std::string& text, int64_t states_max = kStatesMax) {
  const auto compiled = Pattern::Compile(text, states_max);
  const auto* error = std::get_if<PatternError>(&compiled);
  if (error == nullptr) return "compiles";
  return std::to_string(error->character) + ": " + error->why;
}

TEST_CASE("a pattern matches a whole value", "[query]") {
  struct Case {
    std::string pattern;
    std::vector<std::string> matching;
    std::vector<std::string> others;
  };
  const std::vector<Case> cases = {
      {"", {""}, {"a"}},
      {"abc", {"abc"}, {"ab", "abcd", "xabc", "ABC"}},
      {"t2.*", {"t2.small", "t2", "t2."}, {"xt2", "t", "t2\nx"}},
      {"a|bc|", {"a", "bc", ""}, {"abc", "b"}},
      {"(a|b)c", {"ac", "bc"}, {"a", "abc"}},
      {"(?:ab)+", {"ab", "abab"}, {"", "aba"}},
      {"a?b*c+", {"c", "ac", "bbcc", "abc"}, {"ab", "aac"}},
      {"a{2}", {"aa"}, {"a", "aaa"}},
      {"a{2,}", {"aa", "aaaaa"}, {"a"}},
      {"a{1,3}", {"a", "aaa"}, {"", "aaaa"}},
      {"a{0}b", {"b"}, {"ab"}},
      {"a{0,1}", {"", "a"}, {"aa"}},
      {"a*?b+?c??", {"b", "aabbc"}, {"a"}},
      {"(a*)*", {"", "aaa"}, {"b"}},
      {"(a|b*)+c", {"c", "abbac"}, {"ab"}},
      {"(|a)+", {"", "aa"}, {"b"}},
      {"[abc]", {"a", "c"}, {"d", "", "ab"}},
      {"[a-cx]+", {"abcx"}, {"d", "-"}},
      {"[^a-c]", {"d", "-", "\n"}, {"a", ""}},
      {"[]a]+", {"]a"}, {"b"}},
      {"[^]a]", {"b"}, {"]", "a"}},
      {"[a-]+", {"a-"}, {"b"}},
      {"[-a]+", {"a-"}, {"b"}},
      {"[a^]+", {"^a"}, {"b"}},
      {"[.*+?(){}|$]+", {".*+?(){}|$"}, {"a"}},
      {"[\\d\\-x]+", {"1-x"}, {"a"}},
      {"[\\w.-]+", {"a_1.-"}, {"a b"}},
      {"[\\D]", {"a"}, {"1"}},
      {"[\\[\\]\\\\]+", {"[]\\"}, {"a"}},
      {"\\d\\w\\s", {"1_ ", "9a\t", "0Z\x0B"}, {"a_ ", "1- ", "1_x"}},
      {"\\D\\W\\S", {"a-x"}, {"1-x", "axx", "a- "}},
      {"\\.\\*\\[\\]\\(\\)\\{\\}\\^\\$\\|\\?\\+\\\\\\-\\/", {".*[](){}^$|?+\\-/"}, {""}},
      {"a\\tb\\nc\\r\\f", {"a\tb\nc\r\f"}, {"atbncrf"}},
      {"^a$", {"a"}, {"ab"}},
      {"^(a|b)$|^c", {"a", "b", "c"}, {"ac"}},
      {"(^a|b)*$", {"", "a", "abb", "bb"}, {"ba"}},
      {"a^b", {}, {"ab", "a^b"}},
      {"a$b", {}, {"ab", "a$b"}},
      {"a]}b", {"a]}b"}, {""}},
      {".", {"a", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"}, {"", "\n", "\r", "ab"}},
      {"..", {"\xC3\xA4\xC3\xA4", "\xFF\xFE"}, {"\xC3\xA4", "\xE2\x80\xA8x"}},
      {"[\xC3\xA4-\xC3\xBC]", {"\xC3\xB6"}, {"a", "\xC3\xA3"}},
      {"\xC3\xA4{2}", {"\xC3\xA4\xC3\xA4"}, {"\xC3\xA4"}},
  };
  for (const Case& c : cases) {
    const Pattern pattern = Compiled(c.pattern);
    for (const std::string& value : c.matching) {
      INFO(c.pattern << " and '" << value << "'");
      CHECK(pattern.Matches(value));
    }
    for (const std::string& value : c.others) {
      INFO(c.pattern << " and '" << value << "'");
      CHECK_FALSE(pattern.Matches(value));
    }
  }
}

TEST_CASE("what a pattern cannot say is refused by name", "[query]") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"a(b", "1: a group is not closed"},
      {"a)b", "1: a group is closed that was not opened"},
      {"a[b", "1: a class is not closed"},
      {"[]", "0: a class is not closed"},
      {"a[^]", "1: a class is not closed"},
      {"ab\\", "2: a backslash ends the pattern"},
      {"[\\", "1: a backslash ends the pattern"},
      {"*a", "0: a quantifier has nothing before it"},
      {"a|+", "2: a quantifier has nothing before it"},
      {"(?:?)", "3: a quantifier has nothing before it"},
      {"{1}", "0: a quantifier has nothing before it"},
      {"a**", "2: a quantifier follows a quantifier"},
      {"a{1}{2}", "4: a quantifier follows a quantifier"},
      {"a*+", "2: possessive quantifiers (a + behind another) are not taken"},
      {"a{1}+", "4: possessive quantifiers (a + behind another) are not taken"},
      {"a{", "1: a count must be {m}, {m,} or {m,n}, each at most 1000"},
      {"a{x}", "1: a count must be"},
      {"a{,2}", "1: a count must be"},
      {"a{1,2", "1: a count must be"},
      {"a{1001}", "1: a count must be"},
      {"a{1,99999999999999999999}", "1: a count must be"},
      {"a{3,2}", "1: a count ends below where it begins"},
      {"x[b-a]", "2: a range in a class has no end above its beginning"},
      {"[a-\\d]", "1: a range in a class has no end above its beginning"},
      {"[a[b]]", "2: classes within classes are not taken"},
      {"[a&&b]", "2: intersections of classes (&&) are not taken"},
      {"(?=a)", "0: groups that look ahead or behind are not taken"},
      {"(?!a)", "0: groups that look ahead or behind are not taken"},
      {"(?<=a)", "0: groups that look ahead or behind are not taken"},
      {"(?<!a)", "0: groups that look ahead or behind are not taken"},
      {"(?<n>a)", "0: groups with a name are not taken"},
      {"(?>a)", "0: atomic groups are not taken"},
      {"x(?i)a", "1: flags such as (?i) are not taken"},
      {"(a)\\1", "3: references back to a group (\\1) are not taken"},
      {"\\k<n>", "0: references back to a group (\\k) are not taken"},
      {"a\\b", "1: word boundaries (\\b, \\B) are not taken"},
      {"\\p{L}", "0: classes by property (\\p, \\P) are not taken"},
      {"\\Qa\\E", "0: quotations (\\Q, \\E) are not taken"},
      {"\\Aa", "0: anchors other than ^ and $ are not taken"},
      {"\\x41", "0: the escape \\x"},
      {"\\0", "0: the escape \\0"},
      {"[\\y]", "1: the escape \\y"},
  };
  for (const auto& [pattern, refusal] : cases) {
    INFO(pattern);
    CHECK_THAT(Refusal(pattern), Catch::StartsWith(refusal));
  }
}

TEST_CASE("groups stand within each other up to 50 deep", "[query]") {
  const auto nested = [](int depth) {
    return std::string(depth, '(') + "a" + std::string(depth, ')');
  };

  CHECK(Compiled(nested(50)).Matches("a"));
  CHECK_THAT(Refusal(nested(51)), Catch::Contains("more than 50 deep"));
  CHECK_THAT(Refusal(std::string(100'000, '(')), Catch::Contains("more than 50 deep"));
}

TEST_CASE("a pattern that would be too large is not built", "[query]") {
  CHECK(Compiled("a{1000}").Matches(std::string(1000, 'a')));
  for (const char* pattern : {"(a{1000}){1000}", "((((a{1000}){1000}){1000}){1000}){1000}",
                              "(((){1000}){1000}){1000}", "((a{0,1000}){0,1000}){0,1000}"}) {
    CHECK_THAT(Refusal(pattern), Catch::Contains("the pattern is too large"));
  }
  // No more states than were allowed, whatever the form.
  for (const std::string& pattern :
       {std::string("a|b|cc|"), std::string("(a?|b*|(c+|)){2,4}"), std::string("(){3}[a-c]{2,}")}) {
    int64_t allowed = 1;
    while (Refusal(pattern, allowed) != "compiles") ++allowed;
    CHECK(Compiled(pattern).states() <= allowed);
  }
}

TEST_CASE("no pattern takes long on any value", "[query]") {
  // Each of these takes a matcher that goes back and tries again longer than anybody lives.
  const std::string many(2000, 'a');
  CHECK_FALSE(Compiled("(a*)*b").Matches(many));
  CHECK_FALSE(Compiled("(a|a)*b").Matches(many));
  CHECK_FALSE(Compiled("(a|aa)+$b").Matches(many));
  CHECK_FALSE(Compiled("((a+)+)+[^a]").Matches(many));
  CHECK(Compiled("(a?){400}a{400}").Matches(std::string(400, 'a')));
}

// --- against std::regex, which takes the same syntax for as much as is made here ----------------

std::string RandomPattern(model::Rng& rng, int depth) {
  const auto atom = [&]() -> std::string {
    switch (rng.Below(depth > 0 ? 9 : 7)) {
      case 0:
        return ".";
      case 1:
        return "[ab]";
      case 2:
        return "[^a]";
      case 3:
        return rng.Below(2) == 0 ? "\\d" : "\\w";
      case 7:
        return "(" + RandomPattern(rng, depth - 1) + ")";
      case 8:
        return "(?:" + RandomPattern(rng, depth - 1) + ")";
      default:
        return std::string(1, "abc1"[rng.Below(4)]);
    }
  };
  static const char* const kQuantifiers[] = {"",  "",    "",      "*",     "+",
                                             "?", "{2}", "{1,2}", "{0,2}", "*?"};
  std::string pattern;
  for (uint64_t alternatives = 1 + rng.Below(2); alternatives > 0; --alternatives) {
    for (uint64_t atoms = rng.Below(4); atoms > 0; --atoms) {
      pattern += atom() + kQuantifiers[rng.Below(std::size(kQuantifiers))];
    }
    if (alternatives > 1) pattern += "|";
  }
  return pattern;
}

TEST_CASE("patterns match what std::regex says", "[query]") {
  int64_t matched = 0;
  model::Rng rng(11);
  for (int i = 0; i < 3000; ++i) {
    const std::string text = RandomPattern(rng, 2);
    const Pattern pattern = Compiled(text);
    const std::regex oracle(text);
    for (int n = 0; n < 5; ++n) {
      std::string value;
      for (uint64_t length = rng.Below(6); length > 0; --length) value += "abc1-"[rng.Below(5)];
      INFO(text << " and '" << value << "'");
      const bool expected = std::regex_match(value, oracle);
      if (pattern.Matches(value) != expected) FAIL("the pattern says otherwise");
      matched += expected ? 1 : 0;
    }
  }
  CHECK(matched > 500);
}

}  // namespace
}  // namespace berth::placement
