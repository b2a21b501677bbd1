#include "tests/api/agent_peer.h"

#include <chrono>
#include <optional>
#include <stdexcept>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>

namespace berth::api {

namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace net = boost::asio;
namespace websocket = boost::beast::websocket;

namespace {
constexpr auto kPatience = std::chrono::seconds(20);
constexpr auto kShortWhile = std::chrono::milliseconds(50);
}  // namespace

struct AgentPeer::Impl {
  net::io_context io;
  websocket::stream<net::ip::tcp::socket> stream{io};
  beast::flat_buffer buffer;
  std::string refusal;
  bool reading = false;
  std::optional<boost::system::error_code> read;  // how the last read ended, not yet looked at
  bool ended = false;

  // Whether a read ended within that time; one that did not goes on.
  bool Read(std::chrono::steady_clock::duration patience) {
    if (ended) return true;
    if (!reading) {
      reading = true;
      stream.async_read(buffer, [this](boost::system::error_code error, size_t) {
        reading = false;
        read = error;
      });
    }
    const auto end = std::chrono::steady_clock::now() + patience;
    io.restart();
    while (!read && std::chrono::steady_clock::now() < end) io.run_one_until(end);
    return read.has_value();
  }
};

AgentPeer::AgentPeer() : impl_(std::make_unique<Impl>()) {}
AgentPeer::~AgentPeer() { Vanish(); }

const std::string& AgentPeer::refusal() const { return impl_->refusal; }

int AgentPeer::Connect(uint16_t port, const std::string& query, const std::string& origin) {
  auto& stream = impl_->stream;
  stream.next_layer().connect({net::ip::address_v4::loopback(), port});
  if (!origin.empty()) {
    stream.set_option(websocket::stream_base::decorator(
        [origin](websocket::request_type& request) { request.set(http::field::origin, origin); }));
  }
  websocket::response_type response;
  boost::system::error_code error;
  stream.handshake(response, "127.0.0.1:" + std::to_string(port), "/acs/ws?" + query, error);
  if (error) {
    impl_->refusal = response.body();
    return static_cast<int>(response.result_int());
  }
  return 101;
}

std::unique_ptr<AgentPeer> AgentPeer::Of(uint16_t port, const std::string& instance_arn) {
  auto peer = std::make_unique<AgentPeer>();
  const int status = peer->Connect(port,
                                   "agentHash=abc&agentVersion=1.2.3&clusterArn=default"
                                   "&containerInstanceArn=" +
                                       instance_arn +
                                       "&dockerVersion=DockerVersion%3A+20.10.24"
                                       "&protocolVersion=2&sendCredentials=true&seqNum=1");
  if (status != 101) throw std::runtime_error("the handshake was refused: " + peer->refusal());
  return peer;
}

rapidjson::Document AgentPeer::Receive(bool heartbeats) {
  while (true) {
    rapidjson::Document message;
    if (!impl_->Read(kPatience) || impl_->ended || *impl_->read) {
      impl_->ended = true;
      return message;
    }
    impl_->read.reset();
    const auto data = impl_->buffer.data();
    message.Parse(static_cast<const char*>(data.data()), data.size());
    impl_->buffer.consume(data.size());
    if (message.HasParseError()) throw std::runtime_error("the server sent no JSON");
    if (heartbeats || std::string(message["type"].GetString()) != "HeartbeatMessage") {
      return message;
    }
  }
}

rapidjson::Document AgentPeer::ReceiveType(const std::string& type) {
  while (true) {
    rapidjson::Document message = Receive(true);
    if (message.IsNull() || type == message["type"].GetString()) return message;
  }
}

bool AgentPeer::IsQuiet() { return !impl_->Read(kShortWhile); }

void AgentPeer::Send(const std::string& text) {
  boost::system::error_code ignored;  // The peer may be gone, as some tests want it.
  impl_->stream.text(true);
  impl_->stream.write(net::buffer(text), ignored);
}

void AgentPeer::Say(const std::string& type, const std::string& message_id,
                    const std::string& more) {
  Send("{\"type\":\"" + type + "\",\"message\":{\"messageId\":\"" + message_id + "\"" +
       (more.empty() ? "" : "," + more) + "}}");
}

void AgentPeer::Acknowledge(const rapidjson::Document& message) {
  Say("AckRequest", message["message"]["messageId"].GetString(),
      R"("cluster":"default","containerInstance":"i")");
}

int AgentPeer::AwaitClose() {
  while (!Receive(true).IsNull()) {
  }
  return impl_->stream.reason().code;
}

std::string AgentPeer::close_reason() const { return impl_->stream.reason().reason.c_str(); }

void AgentPeer::Vanish() {
  boost::system::error_code ignored;
  impl_->stream.next_layer().close(ignored);
  impl_->io.restart();
  impl_->io.poll();
  impl_->ended = true;
}

}  // namespace berth::api
