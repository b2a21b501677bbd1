#include "agent/channel.h"

#include <deque>

#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>
#include <spdlog/spdlog.h>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "agent/json.h"
#include "agent/spawn.h"
#include "transport/deadline.h"

namespace berth::agent {

namespace beast = boost::beast;
namespace websocket = beast::websocket;
using beast::error_code;

namespace {

constexpr size_t kMessageBytesMax = 2 * 1024 * 1024;
// The server is to take what we send; acks that pile up mean that it does not.
constexpr size_t kOutboxMax = 10'000;
constexpr size_t kReasonShown = 1024;
// After so many failures in a row the endpoint itself is in doubt, and asked for again.
constexpr int kFailuresUntilRediscovery = 3;

std::chrono::milliseconds ToChrono(absl::Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(absl::ToChronoNanoseconds(duration));
}

}  // namespace

struct Channel::Session {
  Session(const transport::Stream& connected, const net::any_io_executor& executor)
      : stream(connected), deadline(stream), socket(stream), alarm(executor) {}

  transport::Stream stream;
  transport::Deadline deadline;
  websocket::stream<transport::Stream> socket;
  net::steady_timer alarm;
  std::deque<std::string> outbox = {};
  bool open = false;
  bool writing = false;
  bool over = false;
  absl::Time begun_at = absl::InfinitePast();
  absl::Time silent_at = absl::InfiniteFuture();
  absl::Time expires_at = absl::InfiniteFuture();
  std::optional<SessionEnd::Kind> ended_by_us = std::nullopt;
};

std::string EncodeQuery(const std::vector<std::pair<std::string, std::string>>& parameters) {
  std::string query;
  for (const auto& [name, value] : parameters) {
    absl::StrAppend(&query, query.empty() ? "" : "&", name, "=");
    for (const char c : value) {
      if (absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.' ||
          c == '~') {
        query.push_back(c);
      } else {
        absl::StrAppendFormat(&query, "%%%02X", static_cast<unsigned char>(c));
      }
    }
  }
  return query;
}

Channel::Channel(std::shared_ptr<EcsClient> server, OnMessage on_message, Settings settings)
    : server_(std::move(server)),
      on_message_(std::move(on_message)),
      settings_(std::move(settings)) {}

std::string Channel::Target(const HttpAddress& endpoint) const {
  const std::string query = EncodeQuery({
      {"agentHash", settings_.agent_version},
      {"agentVersion", settings_.agent_version},
      {"clusterArn", settings_.cluster},
      {"containerInstanceArn", settings_.instance_arn},
      {"dockerVersion", absl::StrCat("DockerVersion: ", settings_.docker_version)},
      {"protocolVersion", "2"},
      {"sendCredentials", connected_before_ ? "false" : "true"},
      {"seqNum", "1"},
  });
  return absl::StrCat(endpoint.path, "/ws?", query);
}

net::awaitable<absl::Status> Channel::FindEndpoint() {
  if (absl::Now() < endpoint_until_) co_return absl::OkStatus();
  json::Builder body;
  body.Object().Member("cluster", settings_.cluster);
  body.Member("containerInstance", settings_.instance_arn).Member("zoneId", "").EndObject();
  const absl::StatusOr<ApiAnswer> answer =
      co_await server_->Call("DiscoverPollEndpoint", body.Text());
  absl::Status failed = answer.status();
  if (answer.ok() && !answer->ok()) {
    const std::string advice = server_->Advice(Describe(*answer));
    failed = advice.empty()
                 ? absl::UnavailableError(Describe(*answer))
                 : absl::PermissionDeniedError(absl::StrCat(Describe(*answer), " - ", advice));
  }
  if (failed.ok()) {
    json::Document document;
    const bool parsed = json::Parse(answer->body, document);
    const absl::StatusOr<HttpAddress> address =
        ParseHttpUrl(parsed ? json::StringOr(document, "endpoint") : std::string());
    if (address.ok() && server_->access().address.tls && !address->tls) {
      // What the channel says would go unprotected, and anybody could say it.
      failed = absl::FailedPreconditionError(absl::StrFormat(
          "the server is asked over https, and names the plain http endpoint of %s: give the "
          "server an https --public-endpoint",
          Authority(*address)));
    } else if (address.ok()) {
      endpoint_ = *address;
      endpoint_until_ = absl::Now() + settings_.timing.endpoint_kept;
      co_return absl::OkStatus();
    } else {
      failed = address.status();
    }
  }
  if (!endpoint_.host.empty()) co_return absl::OkStatus();  // The old one is better than none.
  co_return absl::Status(failed.code(),
                         absl::StrCat("DiscoverPollEndpoint: ", std::string(failed.message())));
}

net::awaitable<void> Channel::Run() {
  const auto self = shared_from_this();
  Reconnect reconnect(settings_.timing.pace, settings_.rng.Fork());
  int failures = 0;
  while (true) {
    const SessionEnd end = co_await RunSession();
    const absl::Duration wait = reconnect.DelayAfter(end);
    failures = end.kind == SessionEnd::Kind::kUnreachable ? failures + 1 : 0;
    if (failures >= kFailuresUntilRediscovery) endpoint_until_ = absl::InfinitePast();
    if (Reconnect::IsInactive(end)) {
      spdlog::error(
          "the server has deregistered container instance {}: its containers go on, and it will be "
          "tried again in {}; to register afresh, stop the agent and remove its data directory "
          "({})",
          settings_.instance_arn, absl::FormatDuration(wait), end.reason);
    } else {
      spdlog::log(end.denied ? spdlog::level::err : spdlog::level::info,
                  "channel of {} ended ({}), next in {}", settings_.instance_arn, end.reason,
                  absl::FormatDuration(wait));
    }
    if (wait > absl::ZeroDuration()) co_await Sleep(wait);
  }
}

net::awaitable<SessionEnd> Channel::RunSession() {
  const absl::Status found = co_await FindEndpoint();
  if (!found.ok()) {
    SessionEnd end;
    end.kind = SessionEnd::Kind::kUnreachable;
    end.denied = absl::IsPermissionDenied(found);
    end.reason = std::string(found.message());
    co_return end;
  }
  const net::any_io_executor executor = co_await net::this_coro::executor;
  const absl::StatusOr<transport::Stream> stream = co_await ConnectTo(
      endpoint_, server_->access().tls, absl::Now() + settings_.timing.connect_max);
  if (!stream.ok()) {
    SessionEnd end;
    end.kind = SessionEnd::Kind::kUnreachable;
    end.reason = std::string(stream.status().message());
    co_return end;
  }
  auto session = std::make_shared<Session>(*stream, executor);
  SessionEnd end = co_await Open(session);
  if (session->open) {
    spdlog::info("channel of {} is open", settings_.instance_arn);
    connected_before_ = true;
    session_ = session;
    SignOfLife(*session);  // The watch sleeps until the moment that this sets.
    Spawn(executor, "channel watch", WatchLife(session));
    end = co_await ReadMessages(session);
    session_ = nullptr;
  }
  session->over = true;
  session->alarm.cancel();
  if (session->begun_at != absl::InfinitePast()) end.lasted = absl::Now() - session->begun_at;
  co_return end;
}

net::awaitable<SessionEnd> Channel::Open(std::shared_ptr<Session> session) {
  SessionEnd end;
  end.kind = SessionEnd::Kind::kUnreachable;
  const std::string authority = Authority(endpoint_);
  error_code error;
  session->deadline.Arm(settings_.timing.connect_max);
  session->socket.read_message_max(kMessageBytesMax);
  const std::string target = Target(endpoint_);
  session->socket.set_option(websocket::stream_base::decorator(
      [signature = server_->SignGet(authority, target)](websocket::request_type& request) {
        request.set(beast::http::field::user_agent, "Berth Agent");
        for (const auto& [name, value] : signature) request.set(name, value);
      }));
  websocket::response_type response;
  co_await session->socket.async_handshake(response, authority, target,
                                           net::redirect_error(net::use_awaitable, error));
  if (error == websocket::error::upgrade_declined) {
    end.kind = SessionEnd::Kind::kRefused;
    end.code = static_cast<int>(response.result_int());
    end.reason = absl::StrFormat("handshake refused with HTTP status %d: %s", end.code,
                                 response.body().substr(0, kReasonShown));
    if (server_->LearnClockSkew(response.body(), std::string(response[beast::http::field::date]))) {
      end.reason += " - tried again with the clocks' difference allowed for";
    } else if (const std::string advice = server_->Advice(response.body()); !advice.empty()) {
      absl::StrAppend(&end.reason, " - ", advice);
      end.denied = true;
    }
    co_return end;
  }
  if (error) {
    end.reason = absl::StrFormat("handshake with %s failed: %s", authority, error.message());
    co_return end;
  }
  session->deadline.Disarm();
  session->socket.text(true);
  session->open = true;
  session->begun_at = absl::Now();
  const absl::Duration jitter = settings_.timing.life_jitter;
  session->expires_at = session->begun_at + settings_.timing.life +
                        jitter * (static_cast<double>(settings_.rng.Below(1001)) / 1000.0);
  co_return end;
}

void Channel::SignOfLife(Session& session) {
  const absl::Duration most = settings_.timing.silence_max;
  session.silent_at =
      absl::Now() + most + most * (static_cast<double>(settings_.rng.Below(1001)) / 1000.0);
}

net::awaitable<SessionEnd> Channel::ReadMessages(std::shared_ptr<Session> session) {
  beast::flat_buffer buffer;
  error_code error;
  while (true) {
    co_await session->socket.async_read(buffer, net::redirect_error(net::use_awaitable, error));
    if (error) break;
    std::string text = beast::buffers_to_string(buffer.data());
    buffer.clear();
    const bool understood = co_await on_message_(std::move(text));
    if (understood) SignOfLife(*session);
  }
  session->open = false;
  SessionEnd end;
  end.reason = error.message();
  if (session->ended_by_us) {
    end.kind = *session->ended_by_us;
    end.reason = end.kind == SessionEnd::Kind::kSilent ? "no message for too long"
                                                       : "it had lasted its time";
  } else if (error == websocket::error::closed) {
    end.kind = SessionEnd::Kind::kClosed;
    end.code = session->socket.reason().code;
    const auto& words = session->socket.reason().reason;
    end.reason = absl::StrFormat("closed by the server with %d: %s", end.code,
                                 std::string(words.data(), words.size()));
  }
  co_return end;
}

// Ends a connection that is silent or old. Sleeps until the earlier of the two moments, which move.
net::awaitable<void> Channel::WatchLife(std::shared_ptr<Session> session) {
  error_code ignored;
  while (session->open && !session->over) {
    const absl::Time next = std::min(session->silent_at, session->expires_at);
    session->alarm.expires_after(ToChrono(std::max(next - absl::Now(), absl::ZeroDuration())) +
                                 std::chrono::milliseconds(1));
    co_await session->alarm.async_wait(net::redirect_error(net::use_awaitable, ignored));
    if (!session->open || session->over) co_return;
    const absl::Time now = absl::Now();
    if (now >= session->silent_at) {
      // Without a close frame: nobody is there to answer it.
      session->ended_by_us = SessionEnd::Kind::kSilent;
      session->stream.Close();
      co_return;
    }
    if (now >= session->expires_at) {
      session->ended_by_us = SessionEnd::Kind::kExpired;
      const websocket::close_reason reason(websocket::close_code::normal,
                                           "ConnectionExpired: Reconnect to continue");
      session->deadline.Arm(settings_.timing.connect_max);
      co_await session->socket.async_close(reason,
                                           net::redirect_error(net::use_awaitable, ignored));
      co_return;
    }
  }
}

void Channel::Send(std::string text) {
  if (session_ == nullptr || !session_->open) return;
  if (session_->outbox.size() >= kOutboxMax) {
    spdlog::error("the server takes no acknowledgements, the channel is given up");
    session_->stream.Close();
    return;
  }
  session_->outbox.push_back(std::move(text));
  if (session_->writing) return;
  session_->writing = true;
  Spawn(session_->socket.get_executor(), "channel writer", WriteAll(session_));
}

net::awaitable<void> Channel::WriteAll(std::shared_ptr<Session> session) {
  error_code error;
  while (!session->outbox.empty() && !error) {
    const std::string text = std::move(session->outbox.front());
    session->outbox.pop_front();
    co_await session->socket.async_write(net::buffer(text),
                                         net::redirect_error(net::use_awaitable, error));
  }
  session->writing = false;
  // The reader finds out by itself why the connection ended.
}

}  // namespace berth::agent
