// What a regular expression says, as a tree: the usual part of Java's syntax, which is what ECS
// takes. What is left out is refused by name, never read as something else. Inside placement/ only.
//
// Taken: characters, `.`, classes with ranges and ^, \d \D \w \W \s \S, \t \n \r \f and escaped
// punctuation, ^ and $, groups with and without (?:, |, and * + ? {m} {m,} {m,n}, also with a ?
// behind, which makes no difference to whether a whole value matches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace berth::placement {

inline constexpr int kPatternDepthMax = 50;         // groups within each other
inline constexpr int64_t kPatternRepeatMax = 1000;  // in {m,n}

class CharacterSet {
 public:
  // Both ends included.
  using Ranges = std::vector<std::pair<char32_t, char32_t>>;

  CharacterSet() = default;
  explicit CharacterSet(Ranges ranges);  // in any order, also overlapping

  bool Contains(char32_t character) const;
  CharacterSet Complement() const;
  const Ranges& ranges() const { return ranges_; }

 private:
  Ranges ranges_ = {};  // sorted, with a gap between each two
};

struct PatternNode {
  enum class Kind { kNothing, kCharacter, kSet, kBegin, kEnd, kSequence, kAlternatives, kRepeat };
  Kind kind = Kind::kNothing;
  char32_t character = 0;                  // kCharacter
  CharacterSet set = {};                   // kSet
  std::vector<PatternNode> children = {};  // kSequence, kAlternatives; one in kRepeat
  int64_t min = 0;                         // kRepeat
  int64_t max = 0;                         // kRepeat; negative: no end
};

struct PatternError {
  size_t character = 0;  // how many stand before the place
  std::string why = {};  // "a group is not closed"
};

std::variant<PatternNode, PatternError> ParsePattern(std::string_view text);

}  // namespace berth::placement
