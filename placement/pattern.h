// A regular expression that must match a whole value: =~ and !~ of the cluster query language. Its
// syntax: pattern_syntax.h.
//
// An automaton that is in all its states at once: a match takes time in proportion to states times
// characters, whatever the pattern, and does not recurse. Immutable, used on any thread. Inside
// placement/ only.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "placement/pattern_syntax.h"

namespace berth::placement {

class Pattern {
 public:
  // An error when it does not parse, or would have more than `states_max` states.
  static std::variant<Pattern, PatternError> Compile(std::string_view text, int64_t states_max);

  bool Matches(std::string_view value) const;
  int64_t states() const { return static_cast<int64_t>(states_.size()); }

 private:
  struct State {
    enum class Kind : uint8_t { kCharacter, kSet, kBegin, kEnd, kFork, kAccept };
    Kind kind = Kind::kAccept;
    char32_t character = 0;  // kCharacter
    int32_t set = 0;         // kSet: which of sets_
    int32_t next = 0;
    int32_t other = 0;  // kFork: goes on at both
  };
  // The states that the automaton is in, each once.
  struct Active {
    std::vector<int32_t> states = {};
    std::vector<bool> has = {};
  };

  // The sets of a pattern, each once however often it is repeated.
  using SetIndexes = absl::flat_hash_map<const PatternNode*, int32_t>;

  // Appends the node's states, the last of which goes on at what is appended next.
  void Append(const PatternNode& node, SetIndexes& sets);
  void AppendSet(const PatternNode& node, SetIndexes& sets);
  void AppendAlternatives(const PatternNode& node, SetIndexes& sets);
  void AppendRepeat(const PatternNode& node, SetIndexes& sets);
  int32_t Add(State state);
  int32_t NextIndex() const { return static_cast<int32_t>(states_.size()); }

  bool Takes(const State& state, char32_t character) const;
  // The state, and all that are reached from it without a character.
  void Enter(int32_t state, bool at_begin, bool at_end, Active& active,
             std::vector<int32_t>& to_visit) const;

  std::vector<State> states_;
  std::vector<CharacterSet> sets_;
};

}  // namespace berth::placement
