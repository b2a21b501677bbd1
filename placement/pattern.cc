#include "placement/pattern.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/utf8.h"

namespace berth::placement {
namespace {

using NodeKind = PatternNode::Kind;

constexpr int64_t kMany = std::numeric_limits<int32_t>::max();  // more than any limit

int64_t Times(int64_t a, int64_t b) { return b != 0 && a > kMany / b ? kMany : a * b; }

// How many states the node becomes, so that nothing is built that is too large. At least one, also
// where the node says nothing: ((){1000}){1000} must not come for free.
int64_t CountStates(const PatternNode& node) {
  int64_t count = 0;
  switch (node.kind) {
    case NodeKind::kNothing:
    case NodeKind::kCharacter:
    case NodeKind::kSet:
    case NodeKind::kBegin:
    case NodeKind::kEnd:
      return 1;
    case NodeKind::kSequence:
      for (const PatternNode& child : node.children) count += CountStates(child);
      return std::min(count, kMany);
    case NodeKind::kAlternatives:
      for (const PatternNode& child : node.children) count += CountStates(child) + 2;
      return std::min(count, kMany);
    case NodeKind::kRepeat:
      count = CountStates(node.children.front());
      if (node.max < 0) return std::min(Times(count, node.min + 1) + 2, kMany);
      return std::min(Times(count + 1, node.max) + 1, kMany);
  }
  return count;
}

}  // namespace

std::variant<Pattern, PatternError> Pattern::Compile(std::string_view text, int64_t states_max) {
  std::variant<PatternNode, PatternError> parsed = ParsePattern(text);
  if (auto* error = std::get_if<PatternError>(&parsed)) return std::move(*error);
  const PatternNode& node = std::get<PatternNode>(parsed);
  if (CountStates(node) + 1 > states_max) {
    return PatternError{.character = 0,
                        .why = "the pattern is too large; use smaller counts in {m,n}"};
  }
  Pattern pattern;
  SetIndexes sets;
  pattern.Append(node, sets);
  pattern.Add({.kind = State::Kind::kAccept});
  return pattern;
}

int32_t Pattern::Add(State state) {
  const int32_t index = NextIndex();
  state.next = index + 1;
  states_.push_back(state);
  return index;
}

void Pattern::Append(const PatternNode& node, SetIndexes& sets) {
  switch (node.kind) {
    case NodeKind::kNothing:
      break;
    case NodeKind::kCharacter:
      Add({.kind = State::Kind::kCharacter, .character = node.character});
      break;
    case NodeKind::kSet:
      AppendSet(node, sets);
      break;
    case NodeKind::kBegin:
      Add({.kind = State::Kind::kBegin});
      break;
    case NodeKind::kEnd:
      Add({.kind = State::Kind::kEnd});
      break;
    case NodeKind::kSequence:
      for (const PatternNode& child : node.children) Append(child, sets);
      break;
    case NodeKind::kAlternatives:
      AppendAlternatives(node, sets);
      break;
    case NodeKind::kRepeat:
      AppendRepeat(node, sets);
      break;
  }
}

void Pattern::AppendSet(const PatternNode& node, SetIndexes& sets) {
  const auto [place, is_new] = sets.emplace(&node, static_cast<int32_t>(sets_.size()));
  if (is_new) sets_.push_back(node.set);
  Add({.kind = State::Kind::kSet, .set = place->second});
}

// fork a, or else: fork b, or else: ... Each alternative ends in a fork with one way, to the end.
void Pattern::AppendAlternatives(const PatternNode& node, SetIndexes& sets) {
  std::vector<int32_t> ends;
  for (const PatternNode& child : node.children) {
    const bool is_last = &child == &node.children.back();
    const int32_t fork = is_last ? -1 : Add({.kind = State::Kind::kFork});
    Append(child, sets);
    if (is_last) break;
    ends.push_back(Add({.kind = State::Kind::kFork}));
    states_[fork].other = NextIndex();
  }
  for (const int32_t end : ends) {
    states_[end].next = NextIndex();
    states_[end].other = NextIndex();
  }
}

void Pattern::AppendRepeat(const PatternNode& node, SetIndexes& sets) {
  const PatternNode& child = node.children.front();
  for (int64_t i = 0; i < node.min; ++i) Append(child, sets);
  if (node.max < 0) {
    const int32_t fork = Add({.kind = State::Kind::kFork});
    Append(child, sets);
    const int32_t back = Add({.kind = State::Kind::kFork});
    states_[back].next = fork;
    states_[back].other = fork;
    states_[fork].other = NextIndex();
    return;
  }
  std::vector<int32_t> forks;
  for (int64_t i = node.min; i < node.max; ++i) {
    forks.push_back(Add({.kind = State::Kind::kFork}));
    Append(child, sets);
  }
  for (const int32_t fork : forks) states_[fork].other = NextIndex();
}

bool Pattern::Takes(const State& state, char32_t character) const {
  if (state.kind == State::Kind::kCharacter) return state.character == character;
  return state.kind == State::Kind::kSet && sets_[state.set].Contains(character);
}

void Pattern::Enter(int32_t state, bool at_begin, bool at_end, Active& active,
                    std::vector<int32_t>& to_visit) const {
  to_visit.assign(1, state);
  while (!to_visit.empty()) {
    const int32_t index = to_visit.back();
    to_visit.pop_back();
    if (active.has[index]) continue;
    active.has[index] = true;
    active.states.push_back(index);
    const State& entered = states_[index];
    const bool goes_on = entered.kind == State::Kind::kFork ||
                         (entered.kind == State::Kind::kBegin && at_begin) ||
                         (entered.kind == State::Kind::kEnd && at_end);
    if (!goes_on) continue;
    to_visit.push_back(entered.next);
    if (entered.kind == State::Kind::kFork) to_visit.push_back(entered.other);
  }
}

bool Pattern::Matches(std::string_view value) const {
  const std::u32string characters = model::DecodeUtf8(value);
  Active now{.has = std::vector<bool>(states_.size())};
  Active next = now;
  std::vector<int32_t> to_visit;
  Enter(0, /*at_begin=*/true, /*at_end=*/characters.empty(), now, to_visit);
  for (size_t i = 0; i < characters.size() && !now.states.empty(); ++i) {
    for (const int32_t index : now.states) {
      now.has[index] = false;
      if (!Takes(states_[index], characters[i])) continue;
      Enter(states_[index].next, false, i + 1 == characters.size(), next, to_visit);
    }
    now.states.clear();
    std::swap(now, next);
  }
  return now.has.back();
}

}  // namespace berth::placement
