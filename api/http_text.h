// The text of HTTP responses.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "api/http_handler.h"

namespace berth::api {

struct ResponseFraming {
  std::string request_id = {};
  bool keep_alive = true;
  bool http_1_0 = false;  // it must be told that a connection is kept
  absl::Time date = absl::UnixEpoch();
};

// Status line and headers, with the empty line that ends them.
std::string FormatResponseHead(const HttpResponse& response, const ResponseFraming& framing);

// A random UUID (version 4), as x-amzn-RequestId.
std::string NewRequestId();

}  // namespace berth::api
