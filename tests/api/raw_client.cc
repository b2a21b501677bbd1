#include "tests/api/raw_client.h"

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace berth::api {

namespace {
constexpr int kPatienceMs = 10'000;
}

struct RawClient::Tls {
  ~Tls() {
    SSL_free(ssl);
    SSL_CTX_free(context);
  }
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  SSL* ssl = nullptr;
};

RawClient::RawClient(uint16_t port, const std::string& ca_file)
    : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    throw std::runtime_error("cannot connect");
  }
  if (!ca_file.empty()) BeginTls(ca_file);
}

void RawClient::BeginTls(const std::string& ca_file) {
  tls_ = std::make_unique<Tls>();
  SSL_CTX_load_verify_file(tls_->context, ca_file.c_str());
  SSL_CTX_set_verify(tls_->context, SSL_VERIFY_PEER, nullptr);
  tls_->ssl = SSL_new(tls_->context);
  SSL_set1_host(tls_->ssl, "localhost");
  SSL_set_fd(tls_->ssl, socket_);
  if (SSL_connect(tls_->ssl) == 1) return;
  const long verified = SSL_get_verify_result(tls_->ssl);
  throw std::runtime_error(std::string("no TLS: ") + X509_verify_cert_error_string(verified));
}

std::string RawClient::TlsVersion() const { return SSL_get_version(tls_->ssl); }

RawClient::~RawClient() { Close(); }

void RawClient::Close() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
}

void RawClient::EndSending() { ::shutdown(socket_, SHUT_WR); }

bool RawClient::Send(const std::string& bytes) {
  size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t n =
        tls_ != nullptr
            ? SSL_write(tls_->ssl, bytes.data() + sent, static_cast<int>(bytes.size() - sent))
            : ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) return false;
    sent += static_cast<size_t>(n);
  }
  return true;
}

bool RawClient::Fill() {
  pollfd ready{.fd = socket_, .events = POLLIN, .revents = 0};
  const bool decrypted = tls_ != nullptr && SSL_pending(tls_->ssl) > 0;
  if (!decrypted && ::poll(&ready, 1, kPatienceMs) <= 0) {
    timed_out_ = true;
    return false;
  }
  char bytes[64 * 1024];
  const ssize_t n = tls_ != nullptr ? SSL_read(tls_->ssl, bytes, sizeof(bytes))
                                    : ::recv(socket_, bytes, sizeof(bytes), 0);
  if (n <= 0) return false;
  received_.append(bytes, static_cast<size_t>(n));
  return true;
}

RawResponse RawClient::Receive(bool head) {
  timed_out_ = false;
  size_t end;
  while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
    if (!Fill()) return {.timed_out = timed_out_};
  }
  RawResponse response;
  const std::string head_text = received_.substr(0, end + 2);
  received_.erase(0, end + 4);
  response.status = std::stoi(head_text.substr(9, 3));
  size_t line = head_text.find("\r\n") + 2;
  while (line < head_text.size()) {
    const size_t line_end = head_text.find("\r\n", line);
    const size_t colon = head_text.find(": ", line);
    std::string name = head_text.substr(line, colon - line);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    response.headers[name] = head_text.substr(colon + 2, line_end - colon - 2);
    line = line_end + 2;
  }
  if (head || response.status == 100) return response;
  const size_t length = std::stoul(response.headers["content-length"]);
  while (received_.size() < length) {
    if (!Fill()) return {.timed_out = timed_out_};
  }
  response.body = received_.substr(0, length);
  received_.erase(0, length);
  return response;
}

bool RawClient::IsClosedByPeer() {
  timed_out_ = false;
  if (!received_.empty()) return false;
  return !Fill() && !timed_out_;
}

std::string Post(const std::string& body, const std::string& more_headers,
                 const std::string& path) {
  return "POST " + path +
         " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         more_headers + "\r\n" + body;
}

std::string Get(const std::string& path, const std::string& more_headers) {
  return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + more_headers + "\r\n";
}

std::string Call(const std::string& action, const std::string& body) {
  return Post(body,
              "Content-Type: application/x-amz-json-1.1\r\nX-Amz-Target: "
              "AmazonEC2ContainerServiceV20141113." +
                  action + "\r\n");
}

}  // namespace berth::api
