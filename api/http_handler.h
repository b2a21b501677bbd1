// What the HTTP machinery (session.h) asks of whoever knows what requests mean (router.h). Knows no
// Beast, so that it is cheap to include.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/net.h"

namespace berth::api {

struct HttpRequest {
  std::string method = {};
  std::string target = {};  // as in the request line
  std::string host = {};    // the Host header
  std::string origin = {};  // the Origin header: only browsers send one
  std::string amz_target = {};
  std::string request_id = {};  // ours, a UUID
  std::string peer = {};        // the client's numeric address, without the port
  std::string body = {};
  // All of them, for the signature; empty when there is no Authorization among them.
  std::vector<std::pair<std::string, std::string>> headers = {};
};

inline constexpr char kAwsJson[] = "application/x-amz-json-1.1";

struct HttpResponse {
  unsigned status = 200;
  std::string error_type = {};  // for x-amzn-ErrorType; empty when there is no error
  std::string content_type = kAwsJson;
  std::string allow = {};  // the Allow header of a 405
  std::string body = {};
};

// {"__type":TYPE,"message":MESSAGE}
HttpResponse ErrorResponse(unsigned status, std::string_view type, std::string_view message);

// The socket and request of a websocket handshake (websocket_handshake.h).
struct WebsocketHandshake;

// Outlives every session. Used on many threads.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;

  virtual net::awaitable<HttpResponse> Respond(HttpRequest request) = 0;

  // A GET that asks for a websocket. Serves it to its end and returns nothing, or refuses with a
  // response; the connection is then still one of HTTP. The handshake outlives the call.
  virtual net::awaitable<std::optional<HttpResponse>> Upgrade(HttpRequest request,
                                                              WebsocketHandshake& handshake) = 0;
};

}  // namespace berth::api
