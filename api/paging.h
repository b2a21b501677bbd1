// Pages of List answers (ecs-api.md 2.2). A token holds the last key of its page, not an offset, so
// that what comes or goes between two pages is neither repeated nor skipped. It also holds a digest
// of the action and the filters, and is refused with others than it was made for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "api/aws_json.h"
#include "api/json_writer.h"

namespace berth::api {

inline constexpr int64_t kPageSizeMax = 100;
inline constexpr size_t kNextTokenLengthMax = 1024;

struct Page {
  std::string scope = {};  // the action and its filters
  int64_t limit = 0;
  std::string after = {};  // the last key of the page before; empty on the first
};

// Reads maxResults and nextToken, which the request must have; all its other members are filters. A
// request without maxResults gets pages of the largest size.
absl::StatusOr<Page> ParsePage(std::string_view action, JsonView request,
                               int64_t page_size_max = kPageSizeMax);

// What a token gets whose digest is right and whose key is not: a client can compute both.
absl::Status InvalidToken();

// Adds nextToken to the open object when there is more after the key.
void WriteNextToken(const Page& page, bool more, std::string_view last_key, JsonWriter& writer);

}  // namespace berth::api
