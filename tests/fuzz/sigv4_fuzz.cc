// A request that claims to be signed: four lines (Authorization, date, target, a header
// "name:value"), then the body. Whatever is refused says why; what is not was made with a secret
// that is not here, so it can only be refused in the end. The canonical forms must be stable.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "auth/verify.h"

using berth::auth::CanonicalHeaders;
using berth::auth::CanonicalPath;
using berth::auth::CanonicalQuery;
using berth::auth::Claim;
using berth::auth::Header;
using berth::auth::Refusal;

namespace {

std::string TakeLine(std::string& text) {
  const size_t end = text.find('\n');
  std::string line = text.substr(0, end);
  text.erase(0, end == std::string::npos ? text.size() : end + 1);
  return line;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  std::vector<Header> headers = {{"Host", "127.0.0.1:8080"}};
  headers.emplace_back("Authorization", TakeLine(text));
  headers.emplace_back("X-Amz-Date", TakeLine(text));
  const std::string target = TakeLine(text);
  const std::string more = TakeLine(text);
  const size_t colon = more.find(':');
  if (colon != std::string::npos) {
    headers.emplace_back(more.substr(0, colon), more.substr(colon + 1));
  }
  const absl::Time now =
      absl::FromCivil(absl::CivilSecond(2026, 1, 2, 3, 4, 5), absl::UTCTimeZone());

  const auto read = berth::auth::ReadClaim(
      {.method = "POST", .target = target, .headers = headers, .body = text}, now);
  if (const auto* refusal = std::get_if<Refusal>(&read)) {
    if (refusal->message.empty()) std::abort();
  } else {
    const Claim& claim = std::get<Claim>(read);
    if (claim.signature.size() != 64 || claim.access_key_id.empty()) std::abort();
    static berth::auth::SigningKeys keys;
    const std::string secret = "not known to whoever wrote the input";
    const auto checked = berth::auth::CheckClaim(claim, &secret, keys);
    if (!std::holds_alternative<Refusal>(checked)) std::abort();
  }

  const std::string query = CanonicalQuery(target);
  if (CanonicalQuery(query) != query) std::abort();
  if (const std::string path = CanonicalPath(target); path.empty() || path[0] != '/') std::abort();
  const std::vector<Header> canonical = CanonicalHeaders(headers);
  if (CanonicalHeaders(canonical) != canonical) std::abort();
  return 0;
}
