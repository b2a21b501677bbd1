// AWS Signature Version 4: signing a request, and checking that one is signed. ecs-api.md 1.4.
//
// Pure: time comes in. Used on any thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"

namespace berth::auth {

struct Credentials {
  std::string access_key_id = {};
  std::string secret_access_key = {};
  std::string session_token = {};  // empty: none
};

// What of an HTTP request a signature is about.
struct HttpParts {
  std::string method = {};
  std::string target = {};  // path and query, as in the request line
  // In any order and spelling. `Host` must be there.
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
};

// The headers to add to the request: X-Amz-Date, X-Amz-Security-Token where there is a token, and
// Authorization, which signs those and every header given.
std::vector<std::pair<std::string, std::string>> Sign(const HttpParts& request,
                                                      const Credentials& credentials,
                                                      const std::string& region, absl::Time now);

}  // namespace berth::auth
