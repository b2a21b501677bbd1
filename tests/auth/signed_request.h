// Requests as a client signs them, and what the check says of them once something was changed.
#pragma once

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "auth/sigv4.h"
#include "auth/verify.h"

namespace berth::auth {

inline const absl::Time kNow =
    absl::FromCivil(absl::CivilSecond(2026, 1, 2, 3, 4, 5), absl::UTCTimeZone());
inline const Credentials kKey{.access_key_id = "AKIABERTHTESTKEY2345",
                              .secret_access_key = "secretsecretsecretsecretsecretsecret1234"};

inline HttpParts Call() {
  return {.method = "POST",
          .target = "/",
          .headers = {{"Host", "127.0.0.1:8080"},
                      {"Content-Type", "application/x-amz-json-1.1"},
                      {"X-Amz-Target", "AmazonEC2ContainerServiceV20141113.ListTasks"}},
          .body = "{}"};
}

// The request with the headers that signing adds.
inline HttpParts Signed(HttpParts request, absl::Time at = kNow, const Credentials& key = kKey,
                        const std::string& region = "us-east-1") {
  const auto added = Sign(request, key, region, at);
  request.headers.insert(request.headers.end(), added.begin(), added.end());
  return request;
}

inline std::string& HeaderOf(HttpParts& request, const std::string& name) {
  return std::find_if(request.headers.begin(), request.headers.end(),
                      [&](const Header& header) { return header.first == name; })
      ->second;
}
inline void Remove(HttpParts& request, const std::string& name) {
  std::erase_if(request.headers, [&](const Header& header) { return header.first == name; });
}
// Replaces the first `from` by `to` in the header.
inline void Edit(HttpParts& request, const std::string& name, const std::string& from,
                 const std::string& to) {
  std::string& value = HeaderOf(request, name);
  value.replace(value.find(from), from.size(), to);
}

inline const char* NameOf(Problem problem) {
  switch (problem) {
    case Problem::kMissingToken:
      return "missing";
    case Problem::kIncompleteSignature:
      return "incomplete";
    case Problem::kUnrecognizedClient:
      return "unrecognized";
    case Problem::kInvalidSignature:
      return "invalid";
  }
  return "?";
}

// "fine", or "invalid: the message".
inline std::string Verdict(const HttpParts& request, absl::Time now = kNow,
                           const std::string* secret = &kKey.secret_access_key) {
  const auto text = [](const Refusal& refusal) {
    return std::string(NameOf(refusal.problem)) + ": " + refusal.message;
  };
  static SigningKeys keys;
  const auto read = ReadClaim({.method = request.method,
                               .target = request.target,
                               .headers = request.headers,
                               .body = request.body},
                              now);
  if (const auto* refusal = std::get_if<Refusal>(&read)) return text(*refusal);
  const auto checked = CheckClaim(std::get<Claim>(read), secret, keys);
  if (const auto* refusal = std::get_if<Refusal>(&checked)) return text(*refusal);
  return "fine";
}

}  // namespace berth::auth
