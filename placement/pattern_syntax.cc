#include "placement/pattern_syntax.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "absl/strings/str_format.h"
#include "model/utf8.h"

namespace berth::placement {
namespace {

using Kind = PatternNode::Kind;

bool IsDigit(char32_t c) { return c >= U'0' && c <= U'9'; }
bool IsAsciiLetter(char32_t c) { return (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z'); }

// The set that \d and its like stand for.
std::optional<CharacterSet> ClassOf(char32_t letter) {
  switch (letter) {
    case U'd':
      return CharacterSet({{U'0', U'9'}});
    case U'w':
      return CharacterSet({{U'a', U'z'}, {U'A', U'Z'}, {U'0', U'9'}, {U'_', U'_'}});
    case U's':
      return CharacterSet({{U'\t', U'\r'}, {U' ', U' '}});
    case U'D':
      return ClassOf(U'd')->Complement();
    case U'W':
      return ClassOf(U'w')->Complement();
    case U'S':
      return ClassOf(U's')->Complement();
    default:
      return std::nullopt;
  }
}

// All but what ends a line.
CharacterSet AnyCharacter() {
  return CharacterSet({{U'\n', U'\n'}, {U'\r', U'\r'}, {0x85, 0x85}, {0x2028, 0x2029}})
      .Complement();
}

std::optional<char32_t> ControlOf(char32_t letter) {
  switch (letter) {
    case U't':
      return U'\t';
    case U'n':
      return U'\n';
    case U'r':
      return U'\r';
    case U'f':
      return U'\f';
    default:
      return std::nullopt;
  }
}

std::string WhatTheEscapeIs(char32_t letter) {
  if (letter == U'b' || letter == U'B') return "word boundaries (\\b, \\B)";
  if (letter >= U'1' && letter <= U'9') return "references back to a group (\\1)";
  if (letter == U'k') return "references back to a group (\\k)";
  if (letter == U'p' || letter == U'P') return "classes by property (\\p, \\P)";
  if (letter == U'Q' || letter == U'E') return "quotations (\\Q, \\E)";
  if (letter == U'A' || letter == U'Z' || letter == U'z') return "anchors other than ^ and $";
  return absl::StrFormat("the escape \\%c", static_cast<char>(letter));
}

class PatternParser {
 public:
  explicit PatternParser(std::string_view text) : text_(model::DecodeUtf8(text)) {}

  std::variant<PatternNode, PatternError> Parse() {
    PatternNode node = Alternatives();
    if (!error_ && !AtEnd()) Fail("a group is closed that was not opened");
    if (error_) return *std::move(error_);
    return node;
  }

 private:
  bool AtEnd() const { return position_ == text_.size(); }
  // 0 at the end.
  char32_t Peek(size_t ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : 0;
  }
  bool IsNext(char32_t c) const { return !AtEnd() && Peek() == c; }
  bool Take(char32_t c) {
    if (!IsNext(c)) return false;
    ++position_;
    return true;
  }

  // The first one counts. What comes after it is read, or not, to no effect.
  PatternNode FailAt(size_t position, std::string why) {
    if (!error_) error_ = PatternError{.character = position, .why = std::move(why)};
    position_ = text_.size();
    return {};
  }
  PatternNode Fail(std::string why) { return FailAt(position_, std::move(why)); }
  PatternNode NotTaken(size_t position, const std::string& what) {
    return FailAt(position, what + " are not taken");
  }

  PatternNode Alternatives() {
    PatternNode alternatives{.kind = Kind::kAlternatives};
    do {
      alternatives.children.push_back(Sequence());
    } while (Take(U'|'));
    if (alternatives.children.size() > 1) return alternatives;
    return PatternNode(std::move(alternatives.children.front()));
  }

  PatternNode Sequence() {
    PatternNode sequence{.kind = Kind::kSequence};
    while (!AtEnd() && !IsNext(U'|') && !IsNext(U')')) {
      sequence.children.push_back(Repeated(Atom()));
    }
    return sequence.children.empty() ? PatternNode{} : sequence;
  }

  bool IsQuantifierNext() const {
    return IsNext(U'*') || IsNext(U'+') || IsNext(U'?') || IsNext(U'{');
  }

  PatternNode Repeated(PatternNode atom) {
    if (error_ || !IsQuantifierNext()) return atom;
    PatternNode repeat{.kind = Kind::kRepeat};
    repeat.children.push_back(std::move(atom));
    if (IsNext(U'{')) {
      ReadCounts(repeat);
    } else {
      const char32_t quantifier = text_[position_++];
      repeat.min = quantifier == U'+' ? 1 : 0;
      repeat.max = quantifier == U'?' ? 1 : -1;
    }
    if (IsNext(U'+')) return Fail("possessive quantifiers (a + behind another) are not taken");
    Take(U'?');
    if (!error_ && IsQuantifierNext()) return Fail("a quantifier follows a quantifier");
    return repeat;
  }

  // {m}, {m,} or {m,n}.
  void ReadCounts(PatternNode& repeat) {
    const size_t begin = position_++;
    const std::optional<int64_t> min = ReadCount();
    std::optional<int64_t> max = min;
    if (min && Take(U',')) max = IsNext(U'}') ? -1 : ReadCount();
    if (!min || !max || !Take(U'}')) {
      FailAt(begin, absl::StrFormat("a count must be {m}, {m,} or {m,n}, each at most %d",
                                    kPatternRepeatMax));
      return;
    }
    if (*max >= 0 && *max < *min) FailAt(begin, "a count ends below where it begins");
    repeat.min = *min;
    repeat.max = *max;
  }

  std::optional<int64_t> ReadCount() {
    if (!IsDigit(Peek())) return std::nullopt;
    int64_t count = 0;
    while (IsDigit(Peek())) {
      count = count * 10 + static_cast<int64_t>(text_[position_++] - U'0');
      if (count > kPatternRepeatMax) return std::nullopt;
    }
    return count;
  }

  PatternNode Atom() {
    const size_t begin = position_;
    const char32_t c = text_[position_++];
    switch (c) {
      case U'(':
        return Group(begin);
      case U'[':
        return {.kind = Kind::kSet, .set = Class(begin)};
      case U'.':
        return {.kind = Kind::kSet, .set = AnyCharacter()};
      case U'^':
        return {.kind = Kind::kBegin};
      case U'$':
        return {.kind = Kind::kEnd};
      case U'\\':
        return Escape(begin);
      case U'*':
      case U'+':
      case U'?':
      case U'{':
        return FailAt(begin, "a quantifier has nothing before it");
      default:
        return {.kind = Kind::kCharacter, .character = c};
    }
  }

  PatternNode Group(size_t begin) {
    if (depth_ == kPatternDepthMax) {
      return FailAt(begin, absl::StrFormat("groups stand within each other more than %d deep",
                                           kPatternDepthMax));
    }
    if (Take(U'?') && !Take(U':')) return SpecialGroup(begin);
    ++depth_;
    PatternNode inside = Alternatives();
    --depth_;
    if (!error_ && !Take(U')')) return FailAt(begin, "a group is not closed");
    return inside;
  }

  PatternNode SpecialGroup(size_t begin) {
    const bool behind = Peek() == U'<' && (Peek(1) == U'=' || Peek(1) == U'!');
    if (Peek() == U'=' || Peek() == U'!' || behind) {
      return NotTaken(begin, "groups that look ahead or behind");
    }
    if (Peek() == U'<') return NotTaken(begin, "groups with a name");
    if (Peek() == U'>') return NotTaken(begin, "atomic groups");
    return NotTaken(begin, "flags such as (?i)");
  }

  PatternNode Escape(size_t begin) {
    if (AtEnd()) return FailAt(begin, "a backslash ends the pattern");
    const char32_t letter = text_[position_++];
    if (const auto set = ClassOf(letter)) return {.kind = Kind::kSet, .set = *set};
    if (const auto control = ControlOf(letter)) {
      return {.kind = Kind::kCharacter, .character = *control};
    }
    if (IsAsciiLetter(letter) || IsDigit(letter)) {
      return NotTaken(begin, WhatTheEscapeIs(letter));
    }
    return {.kind = Kind::kCharacter, .character = letter};
  }

  CharacterSet Class(size_t begin) {
    const bool negated = Take(U'^');
    CharacterSet::Ranges ranges;
    bool is_first = true;
    while (!error_ && (is_first || !IsNext(U']'))) {
      if (AtEnd()) {
        FailAt(begin, "a class is not closed");
        return {};
      }
      AddToClass(ranges);
      is_first = false;
    }
    Take(U']');
    const CharacterSet set(std::move(ranges));
    return negated ? set.Complement() : set;
  }

  // One character, range or \d and its like.
  void AddToClass(CharacterSet::Ranges& ranges) {
    const size_t begin = position_;
    const PatternNode first = ClassMember();
    if (error_) return;
    if (first.kind == Kind::kSet) {
      const CharacterSet::Ranges& more = first.set.ranges();
      ranges.insert(ranges.end(), more.begin(), more.end());
      return;
    }
    char32_t last = first.character;
    // A - at the end of the class is one.
    if (IsNext(U'-') && position_ + 1 < text_.size() && Peek(1) != U']') {
      ++position_;
      const PatternNode end = ClassMember();
      if (error_) return;
      if (end.kind == Kind::kSet || end.character < first.character) {
        FailAt(begin, "a range in a class has no end above its beginning");
        return;
      }
      last = end.character;
    }
    ranges.emplace_back(first.character, last);
  }

  PatternNode ClassMember() {
    const size_t begin = position_;
    const char32_t c = text_[position_++];
    if (c == U'\\') return Escape(begin);
    if (c == U'[') return NotTaken(begin, "classes within classes");
    if (c == U'&' && IsNext(U'&')) return NotTaken(begin, "intersections of classes (&&)");
    return {.kind = Kind::kCharacter, .character = c};
  }

  std::u32string text_;
  size_t position_ = 0;
  int depth_ = 0;
  std::optional<PatternError> error_;
};

}  // namespace

CharacterSet::CharacterSet(Ranges ranges) {
  std::sort(ranges.begin(), ranges.end());
  for (const auto& range : ranges) {
    if (!ranges_.empty() && range.first <= ranges_.back().second + 1) {
      ranges_.back().second = std::max(ranges_.back().second, range.second);
    } else {
      ranges_.push_back(range);
    }
  }
}

bool CharacterSet::Contains(char32_t character) const {
  const auto after = std::partition_point(
      ranges_.begin(), ranges_.end(), [&](const auto& range) { return range.first <= character; });
  return after != ranges_.begin() && character <= std::prev(after)->second;
}

CharacterSet CharacterSet::Complement() const {
  CharacterSet complement;
  char32_t next = 0;
  for (const auto& [first, last] : ranges_) {
    if (first > next) complement.ranges_.emplace_back(next, first - 1);
    next = last + 1;
  }
  if (next <= model::kCharacterMax) complement.ranges_.emplace_back(next, model::kCharacterMax);
  return complement;
}

std::variant<PatternNode, PatternError> ParsePattern(std::string_view text) {
  return PatternParser(text).Parse();
}

}  // namespace berth::placement
