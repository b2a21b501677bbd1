// What a signature is made over: the steps that signing a request and checking one share.
//
// Pure; used on any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::auth {

inline constexpr char kAlgorithm[] = "AWS4-HMAC-SHA256";
inline constexpr char kTerminator[] = "aws4_request";
inline constexpr char kService[] = "ecs";

// A name and its value.
using Header = std::pair<std::string, std::string>;

// What a signing key is good for.
struct Scope {
  std::string date = {};  // YYYYMMDD
  std::string region = {};
  std::string service = kService;

  std::string ToString() const;  // date/region/service/aws4_request
  bool operator==(const Scope&) const = default;
};

// Of a path as it stands in the request line: dot segments and doubled slashes are gone, and what
// was percent-encoded is so once more, as for every service but S3.
std::string CanonicalPath(std::string_view path);

// Of what follows the '?': names and values encoded anew, sorted. A '+' is a blank, as the agent
// signs it (agent-protocol.md 2.1).
std::string CanonicalQuery(std::string_view query);

// Without outer blanks, and with one in place of several.
std::string CanonicalValue(std::string_view value);

// The headers' names in lower case, values canonical, sorted by name; those of equal names are one,
// their values joined in order.
std::vector<Header> CanonicalHeaders(std::span<const Header> headers);

struct CanonicalParts {
  std::string_view method;
  std::string_view target;          // path and query, as in the request line
  std::span<const Header> headers;  // canonical ones
  std::string_view payload_hash;    // hex
};
std::string CanonicalRequest(const CanonicalParts& parts);

// host;x-amz-date;...
std::string SignedHeaderNames(std::span<const Header> headers);

// `amz_date` is YYYYMMDD'T'HHMMSS'Z'.
std::string StringToSign(std::string_view amz_date, const Scope& scope,
                         std::string_view canonical_request);

std::string DeriveSigningKey(std::string_view secret, const Scope& scope);

// 64 hex digits.
std::string Signature(std::string_view signing_key, std::string_view string_to_sign);

}  // namespace berth::auth
