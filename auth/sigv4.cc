#include "auth/sigv4.h"

#include "auth/canonical_request.h"
#include "auth/hmac.h"

namespace berth::auth {

std::vector<std::pair<std::string, std::string>> Sign(const HttpParts& request,
                                                      const Credentials& credentials,
                                                      const std::string& region, absl::Time now) {
  const std::string amz_date = absl::FormatTime("%Y%m%dT%H%M%SZ", now, absl::UTCTimeZone());
  std::vector<Header> added = {{"X-Amz-Date", amz_date}};
  if (!credentials.session_token.empty()) {
    added.emplace_back("X-Amz-Security-Token", credentials.session_token);
  }

  std::vector<Header> to_sign = request.headers;
  to_sign.insert(to_sign.end(), added.begin(), added.end());
  const std::vector<Header> headers = CanonicalHeaders(to_sign);
  const std::string payload_hash = Sha256Hex(request.body);
  const std::string canonical = CanonicalRequest({.method = request.method,
                                                  .target = request.target,
                                                  .headers = headers,
                                                  .payload_hash = payload_hash});
  const Scope scope{.date = amz_date.substr(0, 8), .region = region};
  const std::string key = DeriveSigningKey(credentials.secret_access_key, scope);
  const std::string signature = Signature(key, StringToSign(amz_date, scope, canonical));
  added.emplace_back("Authorization",
                     std::string(kAlgorithm) + " Credential=" + credentials.access_key_id + "/" +
                         scope.ToString() + ", SignedHeaders=" + SignedHeaderNames(headers) +
                         ", Signature=" + signature);
  return added;
}

}  // namespace berth::auth
