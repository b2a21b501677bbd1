#include "api/paging.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "api/digest.h"
#include "model/errors.h"

namespace berth::api {

namespace {

constexpr size_t kDigestLength = 16;  // hex digits: enough against mistakes

std::string Digest(std::string_view scope, std::string_view key) {
  std::string text(scope);
  text += '\0';
  text += key;
  return Sha256Hex(text).substr(0, kDigestLength);
}

absl::StatusOr<std::string> ReadToken(std::string_view scope, std::string_view token) {
  std::string text;
  const bool decoded = token.size() <= kNextTokenLengthMax &&
                       absl::WebSafeBase64Unescape({token.data(), token.size()}, &text);
  if (!decoded || text.size() <= kDigestLength) return InvalidToken();
  std::string key = text.substr(kDigestLength);
  if (text.substr(0, kDigestLength) != Digest(scope, key)) return InvalidToken();
  return key;
}

}  // namespace

absl::Status InvalidToken() {
  return model::InvalidParameter(
      "Invalid token: nextToken must come from the answer before, with the same filters");
}

absl::StatusOr<Page> ParsePage(std::string_view action, JsonView request, int64_t page_size_max) {
  Page page{.scope = absl::StrFormat("%s %s", action,
                                     ToCanonicalJson(request, {"maxResults", "nextToken"})),
            .limit = page_size_max};
  if (const JsonView max_results = request.Find("maxResults")) {
    page.limit = max_results.AsInteger();
    if (page.limit < 1 || page.limit > page_size_max) {
      return model::InvalidParameter(absl::StrFormat("maxResults is %d: it should be from 1 to %d",
                                                     page.limit, page_size_max));
    }
  }
  const JsonView token = request.Find("nextToken");
  if (!token || token.AsString().empty()) return page;
  absl::StatusOr<std::string> key = ReadToken(page.scope, token.AsString());
  if (!key.ok()) return key.status();
  page.after = *std::move(key);
  return page;
}

void WriteNextToken(const Page& page, bool more, std::string_view last_key, JsonWriter& writer) {
  if (!more) return;
  std::string text = Digest(page.scope, last_key);
  text += last_key;
  writer.String("nextToken", absl::WebSafeBase64Escape(text));
}

}  // namespace berth::api
