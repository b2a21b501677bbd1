#include "api/agent_channel.h"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <spdlog/spdlog.h>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "api/access/authenticator.h"
#include "api/access/authorize.h"
#include "api/acs_messages.h"
#include "api/channel_request.h"
#include "api/cluster_loop.h"
#include "api/command_pump.h"
#include "api/http_text.h"
#include "api/websocket_handshake.h"
#include "model/errors.h"

namespace berth::api {

namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;

namespace {

constexpr auto kNoThrow = net::as_tuple(net::use_awaitable);
// A control frame has 125 bytes, two of which are the code.
constexpr size_t kCloseReasonMax = 123;
constexpr char kDeregistered[] =
    "InactiveInstanceException: the container instance was deregistered";
constexpr char kAccessDenied[] = "AccessDeniedException";
constexpr char kKeyRevoked[] = "AccessDeniedException: the access key was revoked";

// One connection of an agent. Everything happens on the socket's strand; other threads post to it.
// Kept alive by its coroutines and by the hub.
class AgentSession final : public AgentLink, public std::enable_shared_from_this<AgentSession> {
 public:
  AgentSession(const transport::Stream& stream, ChannelContext& context, ChannelRequest request,
               Caller caller)
      : strand_(stream.get_executor()),
        context_(context),
        caller_(std::move(caller)),
        to_{context.scope, request.cluster, request.instance},
        version_info_(std::move(request.version_info)),
        outbox_(context.hub.OutboxOf(key())),
        wake_(strand_),
        heartbeat_(strand_),
        write_deadline_(strand_) {}

  AgentHub::Key key() const { return {to_.cluster, to_.instance}; }

  // Tells the core, opens the websocket and serves it to its end; or says why not.
  net::awaitable<std::optional<HttpResponse>> Run(WebsocketHandshake& handshake);

  // AgentLink:
  void Deliver(scheduler::Effect effect) override {
    net::post(strand_, [self = shared_from_this(), effect = std::move(effect)] {
      if (self->attached_) {
        self->Take(effect);
      } else {
        self->early_.push_back(effect);
      }
    });
  }
  void Replaced() override {
    net::post(strand_, [self = shared_from_this()] { self->Drop("another connection took over"); });
  }
  void KeyRevoked(const std::string& access_key) override {
    if (access_key != caller_.access_key) return;
    net::post(strand_, [self = shared_from_this()] {
      self->Close(websocket::close_code::policy_error, kKeyRevoked);
    });
  }
  void GoAway() override {
    net::post(strand_, [self = shared_from_this()] {
      self->Close(websocket::close_code::going_away, "the server is shutting down");
    });
  }

 private:
  void Attach(const scheduler::ConnectAgent::Reply& reply);
  void Start(const model::TaskRecord& task);
  void StopTask(const model::TaskId& task);
  void Take(const scheduler::Effect& effect);
  void Send(MessageText text);

  net::awaitable<void> Read();
  net::awaitable<void> Handle(AgentMessage message);
  net::awaitable<void> VerifyStops(AgentMessage message);
  void Acknowledged(const std::string& message_id);
  static net::awaitable<void> Write(std::shared_ptr<AgentSession> self);
  static net::awaitable<void> Beat(std::shared_ptr<AgentSession> self);
  void SendHeartbeat();

  // Ends the channel with a closing handshake, the first reason counting.
  void Close(websocket::close_code code, const std::string& reason);
  // Ends it without.
  void Drop(const std::string& reason);
  void WakeWriter() { wake_.cancel(); }

  using Stream = websocket::stream<transport::Stream>;

  const net::any_io_executor strand_;
  ChannelContext& context_;
  const Caller caller_;
  const AcsAddress to_;
  const model::VersionInfo version_info_;
  const std::shared_ptr<Outbox> outbox_;

  std::optional<Stream> stream_;
  bool attached_ = false;
  bool ended_ = false;
  std::vector<scheduler::Effect> early_;  // came before the agent was attached
  std::deque<MessageText> outbound_;
  size_t outbound_bytes_ = 0;
  net::steady_timer wake_;  // cancelled when there is something to write
  net::steady_timer heartbeat_;
  net::steady_timer write_deadline_;
  std::deque<std::string> unanswered_heartbeats_;
  std::string manifest_id_;
  std::optional<websocket::close_reason> closing_;
};

HttpResponse Refusal(unsigned status, const std::string& type, const std::string& text) {
  return {.status = status, .error_type = type, .body = EncodeRefusal(type, text)};
}

HttpResponse RefusalOf(const absl::Status& error) {
  const std::string text(error.message());
  switch (model::KindOf(error)) {
    case model::ErrorKind::kClusterNotFound:
      return Refusal(400, "InvalidClusterException", text);
    case model::ErrorKind::kAccessDenied:
      return Refusal(400, kAccessDenied, text);
    case model::ErrorKind::kInvalidParameter:
    case model::ErrorKind::kClient:
      // Unknown or INACTIVE: the agent waits long before it asks again.
      return {.status = 400,
              .error_type = "InactiveInstanceException",
              .body = EncodeInactiveInstance(text)};
    case model::ErrorKind::kUnavailable:
      return Refusal(503, "ServerException", text);
    default:
      return Refusal(500, "ServerException", text);
  }
}

net::awaitable<std::optional<HttpResponse>> AgentSession::Run(WebsocketHandshake& handshake) {
  const std::shared_ptr<AgentSession> self = shared_from_this();
  context_.hub.Attach(key(), self);
  // From here on the hub tells of a revoked key; what came before it is asked now.
  if (!context_.authenticator.IsStillGood(caller_)) {
    ended_ = true;
    context_.hub.Detach(key(), this);
    co_return Refusal(400, kAccessDenied, kKeyRevoked);
  }
  scheduler::ConnectAgent command{.cluster = to_.cluster,
                                  .instance = to_.instance,
                                  .version_info = version_info_,
                                  .agent_key = caller_.agent_key()};
  auto reply = co_await context_.loop.Submit(std::move(command));
  if (!reply.ok()) {
    ended_ = true;
    context_.hub.Detach(key(), this);
    co_return RefusalOf(reply.status());
  }
  if (ended_) {
    co_return Refusal(503, "ServerException", "another connection took over");
  }

  stream_.emplace(handshake.stream);
  stream_->read_message_max(context_.limits.message_bytes_max);
  stream_->text(true);
  websocket::stream_base::timeout timeout;
  timeout.handshake_timeout = absl::ToChronoNanoseconds(context_.limits.close_max);
  timeout.idle_timeout = websocket::stream_base::none();
  timeout.keep_alive_pings = false;
  stream_->set_option(timeout);
  auto [error] = co_await stream_->async_accept(handshake.request, kNoThrow);
  if (!error && !ended_) {
    spdlog::info("agent of {} is connected", to_.instance.value);
    Attach(*reply);
    net::co_spawn(strand_, Write(self), net::detached);
    net::co_spawn(strand_, Beat(self), net::detached);
    co_await Read();
  }
  Drop(error ? error.message() : "the connection ended");
  context_.hub.Detach(key(), this);
  co_return std::nullopt;
}

// What an agent hears first: a heartbeat, what it has not acknowledged, what it should start and
// stop, and the list of all that should run there (agent-protocol.md 8).
void AgentSession::Attach(const scheduler::ConnectAgent::Reply& reply) {
  outbox_->CountFrom(absl::ToUnixMicros(absl::Now()));
  SendHeartbeat();

  Outbox::Tasks should_run, should_stop;
  for (const model::TaskRecord& task : reply.running) should_run.insert(task->id);
  for (const model::TaskRecord& task : reply.to_start) should_run.insert(task->id);
  for (const model::TaskRecord& task : reply.to_stop) should_stop.insert(task->id);
  for (MessageText& text : outbox_->Resend(should_run, should_stop)) Send(std::move(text));
  for (const model::TaskRecord& task : reply.to_start) Start(task);
  for (const model::TaskRecord& task : reply.to_stop) StopTask(task->id);

  const Outbox::Stamp stamp{.message_id = NewRequestId(), .number = outbox_->NextNumber()};
  manifest_id_ = stamp.message_id;
  Send(std::make_shared<const std::string>(EncodeManifest(to_, stamp, reply.running, absl::Now())));

  attached_ = true;
  for (const scheduler::Effect& effect : std::exchange(early_, {})) Take(effect);
}

void AgentSession::Start(const model::TaskRecord& task) {
  Send(outbox_->Add(Outbox::Kind::kStart, task->id, [&](const Outbox::Stamp& stamp) {
    return EncodeStart(to_, stamp, *task, absl::Now());
  }));
}

void AgentSession::StopTask(const model::TaskId& task) {
  Send(outbox_->Add(Outbox::Kind::kStop, task, [&](const Outbox::Stamp& stamp) {
    return EncodeStop(to_, stamp, task, absl::Now());
  }));
}

void AgentSession::Take(const scheduler::Effect& effect) {
  if (const auto* start = std::get_if<scheduler::StartTaskOnAgent>(&effect)) {
    Start(start->task);
  } else if (const auto* stop = std::get_if<scheduler::StopTaskOnAgent>(&effect)) {
    StopTask(stop->task);
  } else {
    Close(websocket::close_code::policy_error, kDeregistered);
  }
}

void AgentSession::Send(MessageText text) {
  if (text == nullptr || ended_ || closing_) return;
  outbound_bytes_ += text->size();
  outbound_.push_back(std::move(text));
  if (attached_ && outbound_bytes_ > context_.limits.outbound_bytes_max) {
    Close(websocket::close_code::policy_error, absl::StrFormat("more than %d bytes wait to be read",
                                                               context_.limits.outbound_bytes_max));
    return;
  }
  WakeWriter();
}

net::awaitable<void> AgentSession::Read() {
  beast::flat_buffer buffer;
  while (true) {
    auto [error, bytes] = co_await stream_->async_read(buffer, kNoThrow);
    if (error) {
      if (error != websocket::error::closed && !ended_) {
        spdlog::info("agent of {}: {}", to_.instance.value, error.message());
      }
      co_return;
    }
    const std::string text(static_cast<const char*>(buffer.data().data()), buffer.size());
    buffer.consume(buffer.size());
    absl::StatusOr<AgentMessage> message = DecodeAgentMessage(text);
    if (!message.ok()) {
      Close(websocket::close_code::bad_payload, std::string(message.status().message()));
      continue;  // until the agent's own close frame comes
    }
    co_await Handle(*std::move(message));
  }
}

net::awaitable<void> AgentSession::Handle(AgentMessage message) {
  if (message.type == "HeartbeatAckRequest") {
    const auto answered =
        std::find(unanswered_heartbeats_.begin(), unanswered_heartbeats_.end(), message.message_id);
    if (answered != unanswered_heartbeats_.end()) {
      unanswered_heartbeats_.erase(unanswered_heartbeats_.begin(), std::next(answered));
    }
  } else if (message.type == "AckRequest") {
    Acknowledged(message.message_id);
  } else if (message.type == "TaskStopVerificationMessage") {
    co_await VerifyStops(std::move(message));
  } else if (message.type == "NackRequest") {
    spdlog::warn("agent of {} refuses message {}: {}", to_.instance.value, message.message_id,
                 message.reason);
  }
  // Others are of later versions, or about what Berth does not send: no reason to part.
}

void AgentSession::Acknowledged(const std::string& message_id) {
  const auto payload = outbox_->Acknowledge(message_id);
  if (!payload || payload->kind != Outbox::Kind::kStart) return;
  context_.pump.Push(scheduler::AcceptTask{.cluster = to_.cluster, .task = payload->task});
}

net::awaitable<void> AgentSession::VerifyStops(AgentMessage message) {
  // Each manifest is answered once, and only the latest counts.
  if (message.message_id.empty() || message.message_id != manifest_id_) co_return;
  manifest_id_.clear();
  scheduler::VerifyStopCandidates command{.cluster = to_.cluster, .instance = to_.instance};
  for (const std::string& arn : message.stop_candidates) {
    absl::StatusOr<model::TaskId> task = model::ParseTask(to_.scope, to_.cluster, arn);
    if (task.ok()) {
      command.candidates.push_back(*std::move(task));
    } else {
      spdlog::warn("agent of {} names the task {}: {}", to_.instance.value, arn,
                   std::string(task.status().message()));
    }
  }
  auto reply = co_await context_.loop.Submit(std::move(command));
  if (!reply.ok()) {
    // The next manifest, on the next connection, asks again.
    spdlog::warn("cannot verify the stop candidates of {}: {}", to_.instance.value,
                 std::string(reply.status().message()));
    co_return;
  }
  Send(std::make_shared<const std::string>(
      EncodeStopVerificationAck(to_, message.message_id, reply->confirmed, absl::Now())));
}

net::awaitable<void> AgentSession::Write(std::shared_ptr<AgentSession> self) {
  while (!self->ended_) {
    if (self->closing_) {
      // Bounded by the stream's handshake time-out. The reader ends with it.
      co_await self->stream_->async_close(*self->closing_, kNoThrow);
      self->Drop("closed");
      co_return;
    }
    if (self->outbound_.empty()) {
      self->wake_.expires_at(net::steady_timer::time_point::max());
      co_await self->wake_.async_wait(kNoThrow);
      continue;
    }
    const MessageText text = std::move(self->outbound_.front());
    self->outbound_.pop_front();
    self->write_deadline_.expires_after(absl::ToChronoNanoseconds(self->context_.limits.write_max));
    self->write_deadline_.async_wait([self](const boost::system::error_code& error) {
      if (!error) self->Drop("it does not read what it is sent");
    });
    auto [error, bytes] = co_await self->stream_->async_write(net::buffer(*text), kNoThrow);
    self->write_deadline_.cancel();
    self->outbound_bytes_ -= text->size();
    if (error) {
      self->Drop(error.message());
      co_return;
    }
  }
}

net::awaitable<void> AgentSession::Beat(std::shared_ptr<AgentSession> self) {
  while (!self->ended_) {
    self->heartbeat_.expires_after(
        absl::ToChronoNanoseconds(self->context_.limits.heartbeat_interval));
    auto [error] = co_await self->heartbeat_.async_wait(kNoThrow);
    if (error || self->ended_ || self->closing_) co_return;
    const size_t missed_max = static_cast<size_t>(self->context_.limits.heartbeats_missed_max);
    if (self->unanswered_heartbeats_.size() >= missed_max) {
      self->Close(websocket::close_code::policy_error, "heartbeat");
      co_return;
    }
    self->SendHeartbeat();
  }
}

void AgentSession::SendHeartbeat() {
  unanswered_heartbeats_.push_back(NewRequestId());
  Send(std::make_shared<const std::string>(EncodeHeartbeat(unanswered_heartbeats_.back())));
}

void AgentSession::Close(websocket::close_code code, const std::string& reason) {
  if (ended_ || closing_) return;
  spdlog::info("closing the channel of {}: {}", to_.instance.value, reason);
  const std::string text = reason.substr(0, kCloseReasonMax);
  closing_ = websocket::close_reason(code, text.c_str());
  outbound_.clear();
  WakeWriter();
  if (!attached_) Drop(reason);  // There is no writer yet.
}

void AgentSession::Drop(const std::string& reason) {
  if (ended_) return;
  ended_ = true;
  spdlog::info("agent of {} is disconnected: {}", to_.instance.value, reason);
  wake_.cancel();
  heartbeat_.cancel();
  write_deadline_.cancel();
  if (stream_) {
    stream_->next_layer().Close();
  }
}

}  // namespace

HttpResponse RefuseAgent(const absl::Status& error) {
  return Refusal(400, kAccessDenied, std::string(error.message()));
}

net::awaitable<std::optional<HttpResponse>> ServeAgent(HttpRequest request,
                                                       WebsocketHandshake& handshake,
                                                       ChannelContext& context, Caller caller) {
  absl::StatusOr<ChannelRequest> wanted = ParseChannelRequest(request, context.scope);
  if (!wanted.ok()) {
    co_return Refusal(400, "BadRequestException", std::string(wanted.status().message()));
  }
  const std::vector<CallResource> about = {
      {.arn = model::InstanceArn(context.scope, wanted->cluster, wanted->instance)}};
  if (absl::Status status = Authorize(caller, kPollAction, about, context.scope); !status.ok()) {
    co_return RefuseAgent(status);
  }
  if (context.hub.IsEmulated({wanted->cluster, wanted->instance})) {
    co_return Refusal(400, "InvalidInstanceException",
                      "the server emulates this instance's agent; to take over, register the "
                      "instance from the agent");
  }
  // ConnectAgent checks the same; but before it is asked, the new session takes the place of the
  // one that is there, and an agent may not do so to another.
  scheduler::CheckAgent check{
      .cluster = wanted->cluster, .instance = wanted->instance, .agent_key = caller.agent_key()};
  const auto allowed = co_await context.loop.Submit(std::move(check));
  if (!allowed.ok()) {
    if (model::KindOf(allowed.status()) == model::ErrorKind::kAccessDenied) {
      spdlog::warn("key {} of {} is not let in as the agent of {}: {}", caller.access_key,
                   caller.principal_arn, wanted->instance.value,
                   std::string(allowed.status().message()));
    }
    co_return RefusalOf(allowed.status());
  }
  auto session = std::make_shared<AgentSession>(handshake.stream, context, *std::move(wanted),
                                                std::move(caller));
  co_return co_await session->Run(handshake);
}

}  // namespace berth::api
