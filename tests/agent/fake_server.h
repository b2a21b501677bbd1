// A control plane that does what a test tells it: the API calls an agent makes, and its channel.
//
// Runs on a thread of its own; every function may be called from the test's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "transport/tls.h"

namespace berth::agent::testing {

struct ApiRequest {
  std::string action = {};
  std::string body = {};
  std::string method = {};
  std::string target = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
};

class FakeServer {
 public:
  // `tls`: what https is served with; none for plain HTTP.
  explicit FakeServer(transport::TlsContextPtr tls = nullptr);
  ~FakeServer();

  std::string url() const;

  // The next call of the action gets this; told more than once, one after the other. Without any,
  // an action gets an answer that suits a well-behaved agent.
  void AnswerNext(const std::string& action, int status, const std::string& body);
  // As above, for websocket handshakes: any status but 101 refuses.
  void RefuseNextHandshake(int status, const std::string& body);
  // The Date of every answer from now on; none is sent otherwise.
  void SetDate(const std::string& date);
  // Registration answers leave this attribute out.
  void LeaveOutAttribute(const std::string& name);

  // Over the newest channel.
  void Send(const std::string& type, const std::string& message);
  void SendText(const std::string& text);
  void Ping();
  void Close(int code, const std::string& reason);
  void Drop();

  std::vector<ApiRequest> Calls(const std::string& action) const;  // empty: all
  std::vector<std::string> Handshakes() const;                     // targets
  std::vector<ApiRequest> HandshakeRequests() const;
  // Bodies of the messages of that type that came over channels.
  std::vector<std::string> Messages(const std::string& type) const;
  int pongs() const;

  // Waits until the condition holds, which may call the functions above. False: it did not in time.
  bool Eventually(const std::function<bool()>& condition,
                  absl::Duration patience = absl::Seconds(20)) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The ARN that a FakeServer gives.
inline constexpr char kInstanceArn[] =
    "arn:aws:ecs:us-east-1:000000000000:container-instance/default/"
    "0123456789abcdef0123456789abcdef";
inline constexpr char kClusterArn[] = "arn:aws:ecs:us-east-1:000000000000:cluster/default";

}  // namespace berth::agent::testing
