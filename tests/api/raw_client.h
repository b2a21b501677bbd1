// An HTTP client that sends exactly the bytes it is told to, for tests of what a server does with
// them. Every wait ends after kPatience, as if the peer had said nothing.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace berth::api {

struct RawResponse {
  int status = 0;  // 0: the connection ended, or nothing came in time
  std::map<std::string, std::string> headers = {};  // names in lower case
  std::string body = {};
  bool timed_out = false;
};

class RawClient {
 public:
  // `ca_file` not empty: over TLS, with a server that this authority vouches for as localhost.
  // Throws where that fails.
  explicit RawClient(uint16_t port, const std::string& ca_file = "");
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  // False when the peer has closed.
  bool Send(const std::string& bytes);
  // `head`: the answer to HEAD, which has a length and no body.
  RawResponse Receive(bool head = false);
  // Whether the peer closes, with nothing more to read.
  bool IsClosedByPeer();
  void EndSending();
  void Close();
  std::string TlsVersion() const;  // "TLSv1.3"

  // Sends a whole request and receives its response.
  RawResponse Ask(const std::string& bytes) {
    Send(bytes);
    return Receive();
  }

 private:
  bool Fill();
  void BeginTls(const std::string& ca_file);

  struct Tls;
  std::unique_ptr<Tls> tls_;
  int socket_ = -1;
  std::string received_;
  bool timed_out_ = false;
};

// "POST / HTTP/1.1" with Host, Content-Length and the given headers.
std::string Post(const std::string& body, const std::string& more_headers = "",
                 const std::string& path = "/");
std::string Get(const std::string& path, const std::string& more_headers = "");
// A call of an ECS action.
std::string Call(const std::string& action, const std::string& body);

}  // namespace berth::api
