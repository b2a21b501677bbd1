#include "agent/metadata/local_http_server.h"

#include <array>
#include <chrono>

#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_format.h"
#include "agent/spawn.h"
#include "transport/host_names.h"

namespace berth::agent {

namespace beast = boost::beast;
namespace http = beast::http;
using net::ip::tcp;

namespace {

constexpr int kConnectionsMax = 32;
constexpr uint32_t kHeaderBytesMax = 8 * 1024;
constexpr uint64_t kBodyBytesMax = 0;  // nothing that is answered has one
// For one request to come in, for its answer to go out, and for the client to close.
constexpr auto kPatience = std::chrono::seconds(5);
constexpr size_t kDrainBytesMax = 256 * 1024;
constexpr absl::Duration kAcceptRetry = absl::Milliseconds(100);

using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

Response ToResponse(LocalAnswer answer, const Request& request) {
  Response response{static_cast<http::status>(answer.status), 11};
  response.set(http::field::content_type, "application/json");
  if (answer.status == 405) response.set(http::field::allow, "GET");
  response.keep_alive(request.keep_alive());
  if (request.method() != http::verb::head) response.body() = std::move(answer.json);
  response.prepare_payload();
  return response;
}

LocalAnswer Refusal(unsigned status, std::string_view why) {
  return {.status = status, .json = absl::StrFormat("{\"error\":\"%s\"}", why)};
}

LocalAnswer RefusalOf(const boost::system::error_code& error) {
  if (error == http::error::header_limit) return Refusal(431, "the header is too large");
  if (error == http::error::body_limit) return Refusal(413, "the request has a body");
  return Refusal(400, "this is not an HTTP request");
}

// A page in this machine's browser may point a name of its own at 127.0.0.1; the browser still says
// that name.
bool IsForThisMachine(const http::request_header<>& request) {
  const auto host = request[http::field::host];
  return request.count(http::field::host) == 1 &&
         transport::IsLoopback(transport::HostOf({host.data(), host.size()}));
}

LocalAnswer AnswerTo(const http::request_header<>& request, const LocalHttpServer::Answer& answer) {
  if (!IsForThisMachine(request)) {
    return Refusal(403, "the Host header should be localhost or a loopback address");
  }
  if (request.method() != http::verb::get) return Refusal(405, "only GET is answered");
  return answer(std::string_view(request.target().data(), request.target().size()));
}

// A socket that is closed with bytes unread resets its connection, and the client may lose an
// answer that it has not read yet.
net::awaitable<void> EndGently(beast::tcp_stream& stream) {
  boost::system::error_code error;
  stream.socket().shutdown(tcp::socket::shutdown_send, error);
  stream.expires_after(kPatience);
  std::array<char, 4096> unread{};
  size_t drained = 0;
  while (!error && drained < kDrainBytesMax) {
    drained += co_await stream.async_read_some(net::buffer(unread),
                                               net::redirect_error(net::use_awaitable, error));
  }
}

}  // namespace

LocalHttpServer::LocalHttpServer(const net::any_io_executor& executor, Answer answer)
    : acceptor_(executor), answer_(std::move(answer)) {}

absl::StatusOr<std::shared_ptr<LocalHttpServer>> LocalHttpServer::Listen(
    const net::any_io_executor& executor, uint16_t port, Answer answer) {
  std::shared_ptr<LocalHttpServer> server(new LocalHttpServer(executor, std::move(answer)));
  const tcp::endpoint endpoint(net::ip::address_v4::loopback(), port);
  boost::system::error_code error;
  server->acceptor_.open(endpoint.protocol(), error);
  if (!error) server->acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) server->acceptor_.bind(endpoint, error);
  if (!error) server->acceptor_.listen(kConnectionsMax, error);
  if (error) {
    return absl::UnavailableError(
        absl::StrFormat("cannot listen on 127.0.0.1:%d: %s", port, error.message()));
  }
  server->port_ = server->acceptor_.local_endpoint(error).port();
  Spawn(executor, "local HTTP server", server->Accept());
  return server;
}

net::awaitable<void> LocalHttpServer::Accept() {
  const auto self = shared_from_this();
  while (true) {
    boost::system::error_code error;
    tcp::socket socket =
        co_await acceptor_.async_accept(net::redirect_error(net::use_awaitable, error));
    if (error) {
      co_await Sleep(kAcceptRetry);  // Such as no descriptor being left.
      continue;
    }
    if (connections_ >= kConnectionsMax) continue;  // Closed at once.
    Spawn(acceptor_.get_executor(), "local HTTP connection", Serve(std::move(socket)));
  }
}

net::awaitable<void> LocalHttpServer::Serve(tcp::socket socket) {
  const auto self = shared_from_this();
  ++connections_;
  const auto leave = absl::MakeCleanup([self] { --self->connections_; });
  beast::tcp_stream stream(std::move(socket));
  beast::flat_buffer buffer;
  while (true) {
    http::request_parser<http::string_body> parser;
    parser.header_limit(kHeaderBytesMax);
    parser.body_limit(kBodyBytesMax);
    stream.expires_after(kPatience);
    boost::system::error_code error;
    co_await http::async_read(stream, buffer, parser,
                              net::redirect_error(net::use_awaitable, error));
    // The others are the network's, or the patience is over.
    const bool is_malformed =
        error && error.category() == http::make_error_code(http::error::bad_method).category() &&
        error != http::error::end_of_stream && error != http::error::partial_message;
    if (error && !is_malformed) co_return;
    LocalAnswer answer = error ? RefusalOf(error) : AnswerTo(parser.get(), answer_);
    Response response = ToResponse(std::move(answer), parser.get());
    if (error) response.keep_alive(false);  // What follows cannot be made out.
    stream.expires_after(kPatience);
    co_await http::async_write(stream, response, net::redirect_error(net::use_awaitable, error));
    if (error || !response.keep_alive()) break;
  }
  co_await EndGently(stream);
}

}  // namespace berth::agent
