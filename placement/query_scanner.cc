#include "placement/query_scanner.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "model/errors.h"
#include "model/utf8.h"

namespace berth::placement {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kEndOfBareWord = " \t\r\n,])(";
// Within a bare word they would be taken for a part of it, and the rest of the expression with
// them.
constexpr std::string_view kOperators[] = {"&&", "||"};
constexpr size_t kShownMax = 30;  // characters of what stands where something else was expected

bool ContinuesWord(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
}

bool IsInAttributeName(char c) {
  return ContinuesWord(c) || c == '-' || c == '.' || c == '/' || c == '\\';
}

size_t FindOperator(std::string_view word) {
  size_t first = std::string_view::npos;
  for (const std::string_view spelling : kOperators) first = std::min(first, word.find(spelling));
  return first;
}

}  // namespace

void QueryScanner::SkipBlanks() {
  offset_ = std::min(text_.find_first_not_of(kBlanks, offset_), text_.size());
}

bool QueryScanner::AtEnd() {
  SkipBlanks();
  return offset_ == text_.size();
}

size_t QueryScanner::NextOffset() {
  SkipBlanks();
  return offset_;
}

bool QueryScanner::Take(std::string_view spelling) {
  SkipBlanks();
  if (text_.substr(offset_, spelling.size()) != spelling) return false;
  const size_t end = offset_ + spelling.size();
  if (ContinuesWord(spelling.back()) && end < text_.size() && ContinuesWord(text_[end])) {
    return false;
  }
  offset_ = end;
  return true;
}

std::string_view QueryScanner::TakeAttributeName() {
  const auto begin = text_.begin() + static_cast<std::ptrdiff_t>(offset_);
  const auto end = std::find_if_not(begin, text_.end(), IsInAttributeName);
  const std::string_view name = text_.substr(offset_, static_cast<size_t>(end - begin));
  offset_ += name.size();
  return name;
}

std::optional<QueryScanner::Value> QueryScanner::TakeValue() {
  if (AtEnd()) return std::nullopt;
  const char quote = text_[offset_];
  if (quote == '\'' || quote == '"') {
    const size_t begin = offset_ + 1;
    const size_t end = text_.find(quote, begin);
    if (end == std::string_view::npos) return std::nullopt;
    offset_ = end + 1;
    return Value{.text = std::string(text_.substr(begin, end - begin)), .offset = begin};
  }
  const size_t begin = offset_;
  const std::string_view word = BareWord();
  if (word.empty() || FindOperator(word) != std::string_view::npos) return std::nullopt;
  offset_ += word.size();
  return Value{.text = std::string(word), .offset = begin};
}

std::string_view QueryScanner::BareWord() const {
  const size_t end = std::min(text_.find_first_of(kEndOfBareWord, offset_), text_.size());
  return text_.substr(offset_, end - offset_);
}

absl::Status QueryScanner::Expected(std::string_view what) {
  const size_t offset = NextOffset();
  if (AtEnd()) {
    return WrongAt(offset, absl::StrFormat("%s is expected, but the expression ends", what));
  }
  const std::string_view rest = text_.substr(offset);
  const std::string_view shown = model::FirstCharacters(rest, kShownMax);
  return WrongAt(offset, absl::StrFormat("%s is expected, but '%s%s' stands there", what, shown,
                                         shown.size() < rest.size() ? "..." : ""));
}

absl::Status QueryScanner::ExpectedValue() {
  const size_t offset = NextOffset();
  const bool has_quote = !AtEnd() && (text_[offset] == '\'' || text_[offset] == '"');
  if (has_quote) return WrongAt(offset, "this quotation has no end");
  const size_t found = FindOperator(BareWord());
  if (found == std::string_view::npos) return Expected("a value");
  return WrongAt(offset + found,
                 absl::StrFormat("a blank is needed before %s, or quotation marks round the value",
                                 text_.substr(offset + found, 2)));
}

absl::Status QueryScanner::WrongAt(size_t offset, std::string_view what) const {
  return model::InvalidParameter(
      absl::StrFormat("the expression '%s' is not valid at character %d: %s", text_,
                      model::CountCharacters(text_.substr(0, offset)) + 1, what));
}

}  // namespace berth::placement
