#include "tests/agent/fake_server.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>

#include "agent/json.h"
#include "agent/net.h"
#include "transport/stream.h"

namespace berth::agent::testing {

namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using beast::error_code;
using net::ip::tcp;

namespace {

struct Answer {
  int status = 200;
  std::string body = {};
};

using Request = http::request<http::string_body>;
using Socket = websocket::stream<transport::Stream>;

ApiRequest Recorded(const Request& request) {
  const std::string target(request["X-Amz-Target"]);
  ApiRequest call{.action = target.substr(target.find('.') + 1),
                  .body = request.body(),
                  .method = std::string(request.method_string()),
                  .target = std::string(request.target())};
  for (const auto& field : request) {
    call.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
  }
  return call;
}

}  // namespace

struct FakeServer::Impl {
  // Destroyed last: the coroutines that it holds use the rest.
  net::io_context loop{1};
  tcp::acceptor acceptor{loop, tcp::endpoint(net::ip::make_address("127.0.0.1"), 0)};
  uint16_t port = acceptor.local_endpoint().port();
  std::thread thread;
  std::shared_ptr<Socket> channel;  // loop's thread only
  std::deque<std::string> outbox;
  bool writing = false;

  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  std::map<std::string, std::deque<Answer>> answers;
  std::deque<Answer> refusals;
  std::set<std::string> left_out;
  std::vector<ApiRequest> calls;
  std::vector<ApiRequest> handshakes;
  std::string date;
  transport::TlsContextPtr tls;
  std::vector<std::pair<std::string, std::string>> messages;
  int pong_count = 0;

  template <class F>
  void Note(F note) {
    {
      const std::lock_guard lock(mutex);
      note();
    }
    changed.notify_all();
  }

  std::string DefaultAnswer(const ApiRequest& call) {
    if (call.action == "DiscoverPollEndpoint") {
      return std::string("{\"endpoint\":\"") + (tls == nullptr ? "http" : "https") +
             "://127.0.0.1:" + std::to_string(port) + "/acs\"}";
    }
    if (call.action == "CreateCluster") return "{\"cluster\":{\"clusterName\":\"default\"}}";
    if (call.action != "RegisterContainerInstance") return "{\"acknowledgment\":\"ok\"}";
    json::Document sent;
    json::Parse(call.body, sent);
    json::Builder out;
    out.Object().Key("containerInstance").Object();
    out.Member("containerInstanceArn", json::StringOr(sent, "containerInstanceArn", kInstanceArn));
    out.Key("attributes").Array();
    if (const json::Value* attributes = json::FindArray(sent, "attributes")) {
      for (const json::Value& attribute : attributes->GetArray()) {
        if (!left_out.contains(json::StringOr(attribute, "name"))) out.Raw(json::ToText(attribute));
      }
    }
    out.EndArray().EndObject().EndObject();
    return out.Text();
  }

  Answer AnswerTo(const ApiRequest& call) {
    const std::lock_guard lock(mutex);
    std::deque<Answer>& told = answers[call.action];
    if (told.empty()) return {.status = 200, .body = DefaultAnswer(call)};
    Answer answer = std::move(told.front());
    told.pop_front();
    return answer;
  }

  net::awaitable<void> Accept() {
    while (true) {
      error_code error;
      tcp::socket socket =
          co_await acceptor.async_accept(net::redirect_error(net::use_awaitable, error));
      if (error) co_return;
      net::co_spawn(loop, Serve(std::move(socket)), [](std::exception_ptr) {});
    }
  }

  net::awaitable<void> Serve(tcp::socket socket) {
    transport::Stream stream{transport::Stream::Socket(std::move(socket))};
    if (tls != nullptr) {
      const absl::Status begun = co_await stream.ServeTls(tls);
      if (!begun.ok()) co_return;
    }
    beast::flat_buffer buffer;
    error_code error;
    while (true) {
      Request request;
      co_await http::async_read(stream, buffer, request,
                                net::redirect_error(net::use_awaitable, error));
      if (error) co_return;
      Answer answer;
      if (websocket::is_upgrade(request)) {
        bool refused = false;
        {
          const std::lock_guard lock(mutex);
          if (!refusals.empty()) {
            answer = std::move(refusals.front());
            refusals.pop_front();
            refused = true;
          }
        }
        if (refused) {
          Note([&] { handshakes.push_back(Recorded(request)); });
        } else {
          co_await ServeChannel(std::move(stream), std::move(request));
          co_return;
        }
      } else {
        const ApiRequest call = Recorded(request);
        answer = AnswerTo(call);
        Note([&] { calls.push_back(call); });
      }
      http::response<http::string_body> response(static_cast<http::status>(answer.status), 11);
      response.body() = answer.body;
      {
        const std::lock_guard lock(mutex);
        if (!date.empty()) response.set(http::field::date, date);
      }
      response.keep_alive(request.keep_alive());
      response.prepare_payload();
      co_await http::async_write(stream, response, net::redirect_error(net::use_awaitable, error));
      if (error || !request.keep_alive()) co_return;
    }
  }

  net::awaitable<void> ServeChannel(transport::Stream stream, Request request) {
    auto socket = std::make_shared<Socket>(std::move(stream));
    error_code error;
    co_await socket->async_accept(request, net::redirect_error(net::use_awaitable, error));
    if (error) co_return;
    socket->control_callback([this](websocket::frame_type kind, beast::string_view) {
      if (kind == websocket::frame_type::pong) Note([this] { ++pong_count; });
    });
    channel = socket;
    writing = false;
    outbox.clear();
    // Only now: who sees the handshake may send.
    Note([&] { handshakes.push_back(Recorded(request)); });
    beast::flat_buffer buffer;
    while (true) {
      co_await socket->async_read(buffer, net::redirect_error(net::use_awaitable, error));
      if (error) break;
      json::Document envelope;
      const bool parsed = json::Parse(beast::buffers_to_string(buffer.data()), envelope);
      buffer.clear();
      const json::Value* message = parsed ? json::Find(envelope, "message") : nullptr;
      if (message == nullptr) continue;
      Note(
          [&] { messages.emplace_back(json::StringOr(envelope, "type"), json::ToText(*message)); });
    }
    if (channel == socket) channel = nullptr;
  }

  net::awaitable<void> Write(std::shared_ptr<Socket> socket) {
    writing = true;
    error_code error;
    while (!outbox.empty() && !error && channel == socket) {
      const std::string text = std::move(outbox.front());
      outbox.pop_front();
      co_await socket->async_write(net::buffer(text),
                                   net::redirect_error(net::use_awaitable, error));
    }
    if (channel == socket) writing = false;
  }

  net::awaitable<void> CloseWith(std::shared_ptr<Socket> socket, int code, std::string reason) {
    const websocket::close_reason why(static_cast<websocket::close_code>(code), reason);
    error_code error;
    co_await socket->async_close(why, net::redirect_error(net::use_awaitable, error));
  }
};

FakeServer::FakeServer(transport::TlsContextPtr tls) : impl_(std::make_unique<Impl>()) {
  Impl* impl = impl_.get();
  impl->tls = std::move(tls);
  net::co_spawn(impl->loop, impl->Accept(), [](std::exception_ptr) {});
  impl->thread = std::thread([impl] { impl->loop.run(); });
}

FakeServer::~FakeServer() {
  impl_->loop.stop();
  impl_->thread.join();
}

std::string FakeServer::url() const {
  return (impl_->tls == nullptr ? "http" : "https") +
         ("://127.0.0.1:" + std::to_string(impl_->port));
}

void FakeServer::SetDate(const std::string& date) {
  const std::lock_guard lock(impl_->mutex);
  impl_->date = date;
}

void FakeServer::AnswerNext(const std::string& action, int status, const std::string& body) {
  const std::lock_guard lock(impl_->mutex);
  impl_->answers[action].push_back({.status = status, .body = body});
}

void FakeServer::RefuseNextHandshake(int status, const std::string& body) {
  const std::lock_guard lock(impl_->mutex);
  impl_->refusals.push_back({.status = status, .body = body});
}

void FakeServer::LeaveOutAttribute(const std::string& name) {
  const std::lock_guard lock(impl_->mutex);
  impl_->left_out.insert(name);
}

void FakeServer::Send(const std::string& type, const std::string& message) {
  SendText("{\"type\":\"" + type + "\",\"message\":" + message + "}");
}

void FakeServer::SendText(const std::string& text) {
  net::post(impl_->loop, [impl = impl_.get(), text] {
    if (impl->channel == nullptr) return;
    impl->outbox.push_back(text);
    if (!impl->writing) {
      net::co_spawn(impl->loop, impl->Write(impl->channel), [](std::exception_ptr) {});
    }
  });
}

void FakeServer::Ping() {
  net::post(impl_->loop, [impl = impl_.get()] {
    if (impl->channel == nullptr) return;
    impl->channel->async_ping({}, [](error_code) {});
  });
}

void FakeServer::Close(int code, const std::string& reason) {
  net::post(impl_->loop, [impl = impl_.get(), code, reason] {
    if (impl->channel == nullptr) return;
    net::co_spawn(impl->loop, impl->CloseWith(impl->channel, code, reason),
                  [](std::exception_ptr) {});
  });
}

void FakeServer::Drop() {
  net::post(impl_->loop, [impl = impl_.get()] {
    if (impl->channel != nullptr) impl->channel->next_layer().Close();
  });
}

std::vector<ApiRequest> FakeServer::Calls(const std::string& action) const {
  const std::lock_guard lock(impl_->mutex);
  std::vector<ApiRequest> found;
  for (const ApiRequest& call : impl_->calls) {
    if (action.empty() || call.action == action) found.push_back(call);
  }
  return found;
}

std::vector<std::string> FakeServer::Handshakes() const {
  const std::lock_guard lock(impl_->mutex);
  std::vector<std::string> targets;
  for (const ApiRequest& handshake : impl_->handshakes) targets.push_back(handshake.target);
  return targets;
}

std::vector<ApiRequest> FakeServer::HandshakeRequests() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->handshakes;
}

std::vector<std::string> FakeServer::Messages(const std::string& type) const {
  const std::lock_guard lock(impl_->mutex);
  std::vector<std::string> found;
  for (const auto& [name, body] : impl_->messages) {
    if (name == type) found.push_back(body);
  }
  return found;
}

int FakeServer::pongs() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->pong_count;
}

bool FakeServer::Eventually(const std::function<bool()>& condition, absl::Duration patience) const {
  const auto deadline = std::chrono::steady_clock::now() + absl::ToChronoMilliseconds(patience);
  while (!condition()) {
    std::unique_lock lock(impl_->mutex);
    if (std::chrono::steady_clock::now() >= deadline) return false;
    // Polls too: the condition may look at things other than this server.
    impl_->changed.wait_for(lock, std::chrono::milliseconds(50));
  }
  return true;
}

}  // namespace berth::agent::testing
