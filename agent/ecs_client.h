// The server's API as the agent calls it: AWS JSON 1.1 over POST, signed with Signature Version 4
// where there are credentials. The one place where such requests, and the signature of the
// channel's handshake, are made.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/http_client.h"
#include "agent/net.h"
#include "agent/server_access.h"

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
  using Headers = std::vector<std::pair<std::string, std::string>>;

  explicit EcsClient(ServerAccess access);

  // A status only when there was no talking to the server at all.
  net::awaitable<absl::StatusOr<ApiAnswer>> Call(std::string action, std::string body);

  // The headers that sign a GET of that target at that host; none without credentials.
  Headers SignGet(const std::string& host, const std::string& target) const;

  // Whether a refusal in these words, dated so, is owed to this machine's clock alone. The
  // difference is then allowed for from now on, and the same request, signed anew, may succeed.
  bool LearnClockSkew(std::string_view refusal, const std::string& date);

  // What to do about a refusal, or nothing: which flag to give, which key to make.
  std::string Advice(std::string_view refusal) const;

  const ServerAccess& access() const { return access_; }
  const std::string& region() const { return access_.region; }

 private:
  net::awaitable<absl::StatusOr<HttpResponse>> Post(const std::string& action,
                                                    const std::string& body);

  ServerAccess access_;
  HttpClient http_;
  absl::Duration clock_offset_ = absl::ZeroDuration();  // the server's clock less ours
};

}  // namespace berth::agent
