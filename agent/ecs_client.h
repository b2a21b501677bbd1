// The server's API as the agent calls it: AWS JSON 1.1 over POST. The one place where such requests
// are built, so that signing them will be added here and nowhere else; today the server takes them
// unsigned, from loopback.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "agent/http_client.h"
#include "agent/net.h"

namespace berth::agent {

struct ApiAnswer {
  int status = 0;
  std::string type = {};     // of an error, without its namespace: "ClientException"
  std::string message = {};  // of an error
  std::string body = {};

  bool ok() const { return status == 200; }
};

// "ClientException: text", or the HTTP status when there is no type.
std::string Describe(const ApiAnswer& answer);
// Whether the same call may well succeed later: throttled, or the server's own trouble.
bool IsTransient(const ApiAnswer& answer);

class EcsClient {
 public:
  EcsClient(HttpAddress server, std::string region);

  // A status only when there was no talking to the server at all.
  net::awaitable<absl::StatusOr<ApiAnswer>> Call(std::string action, std::string body);

  const std::string& region() const { return region_; }

 private:
  HttpClient http_;
  std::string region_;
};

}  // namespace berth::agent
