#include "api/server.h"

#include <algorithm>
#include <future>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <spdlog/spdlog.h>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "api/agent_channel.h"
#include "api/agent_hub.h"
#include "api/certificate_watch.h"
#include "api/cluster_loop.h"
#include "api/command_pump.h"
#include "api/emulated_agents.h"
#include "api/host_names.h"
#include "api/http_server.h"
#include "api/hydrate.h"
#include "api/metrics.h"
#include "api/router.h"

namespace berth::api {
namespace {

constexpr char kDefaultCluster[] = "default";

model::Rng RandomRng() {
  std::random_device device;
  return model::Rng((uint64_t{device()} << 32) | device());
}

absl::Status CheckListenHost(const std::string& host) {
  if (IsLoopback(host)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "cannot listen on %s: this version has no authentication yet, so that everyone who reaches "
      "the address could run containers on every machine of the cluster; listen on a loopback "
      "address (127.0.0.1, ::1, localhost) and reach it through an SSH tunnel or a proxy that "
      "authenticates",
      host));
}

std::string EndpointOf(const ServerSettings& settings, uint16_t port) {
  const bool v6 = settings.listen_host.find(':') != std::string::npos;
  return absl::StrFormat(v6 ? "%s://[%s]:%d" : "%s://%s:%d", settings.tls ? "https" : "http",
                         settings.listen_host, port);
}

using Instances = std::vector<AgentHub::Key>;

// The instances that the server stands in for. When it does not this time, they count as any other
// whose agent has yet to connect.
Instances TakeEmulated(model::Records& records, bool emulate_agents) {
  Instances found;
  for (const auto& instance : records.instances) {
    if (!instance->emulated || instance->status == model::InstanceStatus::kInactive) continue;
    if (emulate_agents) {
      found.push_back({instance->cluster, instance->id});
    } else {
      instance->emulated = false;
    }
  }
  return found;
}

// The members stand in the order in which they need each other; shutdown is Stop, in a list.
class ServerImpl final : public Server {
 public:
  ServerImpl(ServerSettings settings, storage::Store& store, const ServerLimits& limits,
             scheduler::State state)
      : settings_(std::move(settings)),
        limits_(limits),
        hub_(io_.get_executor(), limits_.channel),
        loop_({.state = std::move(state),
               .ids = ids_,
               .store = store,
               .effects = hub_,
               .metrics = metrics_},
              limits_.loop),
        pump_(io_.get_executor(), loop_, limits_.pump),
        channel_{.hub = hub_,
                 .loop = loop_,
                 .pump = pump_,
                 .scope = settings_.scope,
                 .limits = limits_.channel},
        router_({.actions = {loop_, settings_},
                 .channel = channel_,
                 .metrics = metrics_,
                 .connections = [this] { return http_.connections(); }}),
        http_(io_, router_, limits_.http) {
    hub_.set_loop(loop_);
    if (settings_.emulate_agents) {
      emulation_ = std::make_shared<EmulatedAgents>(pump_);
      hub_.set_emulation(emulation_);
    }
  }
  ~ServerImpl() override { Stop(absl::ZeroDuration()); }

  absl::Status CreateDefaultCluster();
  absl::Status Listen();
  void ResumeEmulated(const Instances& instances);

  uint16_t port() const override { return http_.port(); }
  std::string endpoint() const override { return EndpointOf(settings_, port()); }
  void Stop(absl::Duration grace) override;

 private:
  ServerSettings settings_;
  const ServerLimits limits_;
  Metrics metrics_;
  model::RandomIdSource ids_{RandomRng()};
  net::io_context io_;
  AgentHub hub_;
  ClusterLoop loop_;
  CommandPump pump_;
  std::shared_ptr<EmulatedAgents> emulation_;
  ChannelContext channel_;
  Router router_;
  HttpServer http_;
  std::optional<CertificateWatch> certificates_;
  std::vector<std::thread> threads_;
  bool stopped_ = false;
};

absl::Status ServerImpl::CreateDefaultCluster() {
  std::promise<absl::Status> created;
  scheduler::CreateCluster command{.name = {kDefaultCluster}};
  const bool posted = loop_.Post(
      std::move(command), [&created](const auto& reply) { created.set_value(reply.status()); });
  if (!posted) return absl::InternalError("the new cluster loop has no room");
  return created.get_future().get();
}

absl::Status ServerImpl::Listen() {
  if (settings_.tls) {
    certificates_.emplace(*settings_.tls, http_, limits_.http);
    if (absl::Status status = certificates_->Load(); !status.ok()) return status;
    net::co_spawn(io_, certificates_->Run(), net::detached);
  }
  if (absl::Status status = http_.Listen(settings_.listen_host, settings_.listen_port);
      !status.ok()) {
    return status;
  }
  // Before the first thread that could read it.
  settings_.listen_port = http_.port();
  if (settings_.public_endpoint.empty()) settings_.public_endpoint = endpoint();
  for (int i = 0; i < std::max(1, settings_.io_threads); ++i) {
    threads_.emplace_back([this] { io_.run(); });
  }
  return absl::OkStatus();
}

void ServerImpl::ResumeEmulated(const Instances& instances) {
  for (const AgentHub::Key& key : instances) {
    hub_.Attach(key, emulation_);
    emulation_->Resume(key.cluster, key.instance);
  }
}

void ServerImpl::Stop(absl::Duration grace) {
  if (std::exchange(stopped_, true)) return;
  const absl::Time deadline = absl::Now() + grace;
  router_.GoAway();
  if (!threads_.empty()) http_.Drain(deadline);
  pump_.Stop();
  loop_.Stop();
  if (!threads_.empty()) {
    // What the loop has just answered still has to be written.
    http_.Drain(absl::Now() + limits_.channel.close_max);
    hub_.GoAway();
    http_.AwaitNone(absl::Now() + limits_.channel.close_max);
    http_.Abort(absl::Now() + limits_.channel.close_max);
  }
  io_.stop();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(ServerSettings settings,
                                                      storage::Store& store,
                                                      const ServerLimits& limits) {
  if (absl::Status status = CheckListenHost(settings.listen_host); !status.ok()) return status;
  absl::StatusOr<model::Records> records = store.Load();
  if (!records.ok()) return records.status();
  if (absl::Status status = Hydrate(*records); !status.ok()) return status;
  const bool first_start = records->clusters.empty();
  const Instances emulated = TakeEmulated(*records, settings.emulate_agents);
  scheduler::State state(settings.retention);
  if (absl::Status status = state.Load(*std::move(records)); !status.ok()) return status;

  auto server = std::make_unique<ServerImpl>(std::move(settings), store, limits, std::move(state));
  if (first_start) {
    if (absl::Status status = server->CreateDefaultCluster(); !status.ok()) return status;
  }
  if (absl::Status status = server->Listen(); !status.ok()) return status;
  server->ResumeEmulated(emulated);
  spdlog::info("serving on {}", server->endpoint());
  return server;
}

}  // namespace berth::api
