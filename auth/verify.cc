#include "auth/verify.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "auth/authorization_header.h"
#include "auth/hmac.h"

namespace berth::auth {
namespace {

constexpr char kMismatch[] =
    "The request signature we calculated does not match the signature you provided. Check your AWS "
    "Secret Access Key and signing method. Consult the service documentation for details.";
constexpr char kUnrecognized[] = "The security token included in the request is invalid.";
constexpr char kUnsignedPayload[] = "UNSIGNED-PAYLOAD";
constexpr char kIsoFormat[] = "%Y%m%dT%H%M%SZ";
constexpr size_t kIsoLength = 16;
// So much of what was sent is quoted back.
constexpr size_t kQuotedMax = 64;
// Stands in for the secret of a key that is not there.
constexpr char kNoSecret[] = "0000000000000000000000000000000000000000";

Refusal Incomplete(std::string message) {
  return {.problem = Problem::kIncompleteSignature, .message = std::move(message)};
}
Refusal Wrong(std::string message) {
  return {.problem = Problem::kInvalidSignature, .message = std::move(message)};
}

std::string IsoDate(absl::Time time) {
  return absl::FormatTime(kIsoFormat, time, absl::UTCTimeZone());
}

// Nothing but what IsoDate writes.
std::optional<absl::Time> ParseIsoDate(std::string_view text) {
  if (text.size() != kIsoLength) return std::nullopt;
  const auto number = [&](size_t begin, size_t digits) {
    int value = 0;
    for (const char c : text.substr(begin, digits)) value = value * 10 + (c - '0');
    return value;
  };
  for (size_t i = 0; i < kIsoLength - 1; ++i) {
    if (i != 8 && (text[i] < '0' || text[i] > '9')) return std::nullopt;
  }
  const absl::CivilSecond second(number(0, 4), number(4, 2), number(6, 2), number(9, 2),
                                 number(11, 2), number(13, 2));
  const absl::Time time = absl::FromCivil(second, absl::UTCTimeZone());
  if (IsoDate(time) != text) return std::nullopt;
  return time;
}

// The one header of that name, in lower case; two of them are never meant well.
std::optional<std::string_view> FindHeader(std::span<const Header> canonical,
                                           std::string_view name) {
  const auto found = std::lower_bound(
      canonical.begin(), canonical.end(), name,
      [](const Header& header, std::string_view wanted) { return header.first < wanted; });
  if (found == canonical.end() || found->first != name) return std::nullopt;
  return std::string_view(found->second);
}

bool EqualsIgnoringCase(std::string_view a, std::string_view lower) {
  return a.size() == lower.size() &&
         std::equal(a.begin(), a.end(), lower.begin(), [](char x, char y) {
           return (x >= 'A' && x <= 'Z' ? static_cast<char>(x - 'A' + 'a') : x) == y;
         });
}

// A header that decides something and comes twice could be read differently by whom it is for.
std::optional<Refusal> RefuseDoubled(std::span<const Header> headers) {
  for (const char* name : {"authorization", "host", "date", "x-amz-date", "x-amz-target",
                           "x-amz-content-sha256", "x-amz-security-token"}) {
    const auto count = std::count_if(headers.begin(), headers.end(), [&](const Header& header) {
      return EqualsIgnoringCase(header.first, name);
    });
    if (count > 1)
      return Incomplete(absl::StrFormat("the header %s is given more than once", name));
  }
  return std::nullopt;
}

struct RequestDate {
  absl::Time time;
  std::string iso;     // as in the string to sign
  const char* header;  // where it stood
};

std::variant<RequestDate, Refusal> ReadDate(std::span<const Header> canonical) {
  if (const auto date = FindHeader(canonical, "x-amz-date")) {
    const std::optional<absl::Time> time = ParseIsoDate(*date);
    if (!time) {
      return Incomplete(
          absl::StrFormat("Date must be in ISO-8601 'basic format'. Got '%s'. See "
                          "http://en.wikipedia.org/wiki/ISO_8601",
                          date->substr(0, kQuotedMax)));
    }
    return RequestDate{*time, std::string(*date), "x-amz-date"};
  }
  if (const auto date = FindHeader(canonical, "date")) {
    std::optional<absl::Time> time = ParseIsoDate(*date);
    absl::Time http_time;
    if (!time && date->size() <= kQuotedMax &&
        absl::ParseTime("%a, %d %b %Y %H:%M:%S GMT", std::string(*date), absl::UTCTimeZone(),
                        &http_time, nullptr)) {
      time = http_time;
    }
    if (!time) {
      return Incomplete("the Date header is neither an HTTP date nor YYYYMMDD'T'HHMMSS'Z'");
    }
    return RequestDate{*time, IsoDate(*time), "date"};
  }
  return Incomplete(
      "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header.");
}

std::optional<Refusal> RefuseSkew(const RequestDate& date, absl::Time now) {
  if (date.time < now - kSkewMax) {
    return Wrong(absl::StrFormat("Signature expired: %s is now earlier than %s (%s - 5 min.)",
                                 date.iso, IsoDate(now - kSkewMax), IsoDate(now)));
  }
  if (date.time > now + kSkewMax) {
    return Wrong(
        absl::StrFormat("Signature not yet current: %s is still later than %s (%s + 5 min.)",
                        date.iso, IsoDate(now + kSkewMax), IsoDate(now)));
  }
  return std::nullopt;
}

// What means something to us has to be signed: the host, the date, and every header of Amazon's.
std::optional<Refusal> RefuseUnsigned(std::span<const Header> canonical,
                                      const std::vector<std::string>& signed_names,
                                      const char* date_header) {
  const auto is_signed = [&](const std::string& name) {
    return std::binary_search(signed_names.begin(), signed_names.end(), name);
  };
  const auto refusal = [](std::string_view name) {
    return Wrong(absl::StrFormat("'%s' must be a 'SignedHeader' in the AWS Authorization.", name));
  };
  if (!is_signed("host")) return refusal("Host");
  if (!is_signed(date_header)) return refusal(date_header);
  for (const auto& [name, value] : canonical) {
    if (name.starts_with("x-amz-") && !is_signed(name)) return refusal(name);
  }
  return std::nullopt;
}

std::optional<Refusal> RefusePayloadHash(std::span<const Header> canonical,
                                         const std::string& payload_hash) {
  const auto given = FindHeader(canonical, "x-amz-content-sha256");
  if (!given || *given == payload_hash) return std::nullopt;
  if (*given == kUnsignedPayload) {
    return Wrong(
        "x-amz-content-sha256 is UNSIGNED-PAYLOAD; the body has to be signed: give its SHA-256");
  }
  return Wrong(kMismatch);
}

}  // namespace

std::variant<Claim, Refusal> ReadClaim(const ReceivedRequest& request, absl::Time now) {
  const std::vector<Header> canonical = CanonicalHeaders(request.headers);
  const auto header = FindHeader(canonical, "authorization");
  if (!header || header->empty()) {
    return Refusal{.problem = Problem::kMissingToken, .message = "Missing Authentication Token"};
  }
  if (auto refusal = RefuseDoubled(request.headers)) return *std::move(refusal);
  auto parsed = ParseAuthorization(*header);
  if (auto* refusal = std::get_if<Refusal>(&parsed)) return std::move(*refusal);
  Authorization& authorization = std::get<Authorization>(parsed);

  auto read_date = ReadDate(canonical);
  if (auto* refusal = std::get_if<Refusal>(&read_date)) return std::move(*refusal);
  const RequestDate& date = std::get<RequestDate>(read_date);
  if (auto refusal = RefuseUnsigned(canonical, authorization.signed_headers, date.header)) {
    return *std::move(refusal);
  }
  if (date.iso.compare(0, authorization.scope.date.size(), authorization.scope.date) != 0) {
    return Wrong(absl::StrFormat(
        "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: "
        "'%s' != '%s', from '%s'.",
        authorization.scope.date, date.iso.substr(0, authorization.scope.date.size()), date.iso));
  }
  if (auto refusal = RefuseSkew(date, now)) return *std::move(refusal);
  const std::string payload_hash = Sha256Hex(request.body);
  if (auto refusal = RefusePayloadHash(canonical, payload_hash)) return *std::move(refusal);

  std::vector<Header> signed_headers;
  signed_headers.reserve(authorization.signed_headers.size());
  for (std::string& name : authorization.signed_headers) {
    const auto value = FindHeader(canonical, name);
    // It was there when the client signed; something on the way has taken it off.
    if (!value) return Wrong(kMismatch);
    signed_headers.emplace_back(std::move(name), *value);
  }
  const std::string canonical_request = CanonicalRequest({.method = request.method,
                                                          .target = request.target,
                                                          .headers = signed_headers,
                                                          .payload_hash = payload_hash});
  const auto token = FindHeader(canonical, "x-amz-security-token");
  return Claim{.access_key_id = std::move(authorization.access_key_id),
               .scope = authorization.scope,
               .string_to_sign = StringToSign(date.iso, authorization.scope, canonical_request),
               .signature = std::move(authorization.signature),
               .has_session_token = token && !token->empty()};
}

bool SigningKeys::Matches(const Claim& claim, const std::string& secret) {
  std::string signing_key;
  {
    absl::MutexLock lock(&mutex_);
    const auto found = keys_.find(claim.access_key_id);
    if (found != keys_.end() && found->second.scope == claim.scope) {
      signing_key = found->second.signing_key;
    }
  }
  const bool cached = !signing_key.empty();
  if (!cached) signing_key = DeriveSigningKey(secret, claim.scope);
  const bool matches =
      EqualInConstantTime(Signature(signing_key, claim.string_to_sign), claim.signature);
  if (matches && !cached) {
    absl::MutexLock lock(&mutex_);
    if (keys_.size() >= kCachedKeysMax) keys_.clear();
    keys_[claim.access_key_id] = {.scope = claim.scope, .signing_key = std::move(signing_key)};
  }
  return matches;
}

void SigningKeys::Forget(std::string_view access_key_id) {
  absl::MutexLock lock(&mutex_);
  keys_.erase(std::string(access_key_id));
}

std::variant<std::monostate, Refusal> CheckClaim(const Claim& claim, const std::string* secret,
                                                 SigningKeys& keys) {
  const bool matches = secret == nullptr
                           ? EqualInConstantTime(Signature(DeriveSigningKey(kNoSecret, claim.scope),
                                                           claim.string_to_sign),
                                                 claim.signature)
                           : keys.Matches(claim, *secret);
  // Keys of ours have no session tokens, so that one cannot be right.
  if (secret == nullptr || claim.has_session_token) {
    return Refusal{.problem = Problem::kUnrecognizedClient, .message = kUnrecognized};
  }
  if (!matches) return Wrong(kMismatch);
  return std::monostate();
}

}  // namespace berth::auth
