// Reads the text of a query from left to right, over blanks. What a word means depends on where it
// stands, so the parser says what it would take. Inside placement/ only.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace berth::placement {

class QueryScanner {
 public:
  // A value as written: `text` is without its quotes, and begins `offset` bytes into the query.
  struct Value {
    std::string text = {};
    size_t offset = 0;
  };

  explicit QueryScanner(std::string_view text) : text_(text) {}

  bool AtEnd();
  // The spelling comes next, and is taken. Where it ends in a letter no more of a word may follow:
  // `in[a]` begins with `in`, `inside` does not.
  bool Take(std::string_view spelling);
  // The name of an attribute, right here; empty when there is none.
  std::string_view TakeAttributeName();
  // A bare word or a quoted text; nothing when neither comes next, or a quotation has no end.
  std::optional<Value> TakeValue();

  // Of what comes next, behind any blanks.
  size_t NextOffset();

  // InvalidParameter: what stands there is not what was expected.
  absl::Status Expected(std::string_view what);
  absl::Status ExpectedValue();
  // InvalidParameter: `what` is wrong at that place.
  absl::Status WrongAt(size_t offset, std::string_view what) const;

 private:
  void SkipBlanks();
  std::string_view BareWord() const;

  std::string_view text_;
  size_t offset_ = 0;
};

}  // namespace berth::placement
