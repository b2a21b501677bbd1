#include "api/server.h"

#include <algorithm>
#include <filesystem>
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
#include "api/access/agent_access.h"
#include "api/access/audit_log.h"
#include "api/access/authenticator.h"
#include "api/access/first_key.h"
#include "api/access/key_endpoints.h"
#include "api/access/key_ring.h"
#include "api/access/throttle.h"
#include "api/agent_channel.h"
#include "api/agent_hub.h"
#include "api/certificate_watch.h"
#include "api/cluster_loop.h"
#include "api/command_pump.h"
#include "api/emulated_agents.h"
#include "api/http_server.h"
#include "api/hydrate.h"
#include "api/metrics.h"
#include "api/router.h"
#include "transport/host_names.h"
#include "transport/self_signed.h"

namespace berth::api {
namespace {

constexpr char kDefaultCluster[] = "default";
constexpr char kAuditFile[] = "audit.log";

model::Rng RandomRng() {
  std::random_device device;
  return model::Rng((uint64_t{device()} << 32) | device());
}

absl::Status CheckSettings(const ServerSettings& settings) {
  const std::string& host = settings.listen_host;
  if (settings.auth == Auth::kSigV4 && settings.data_dir.empty()) {
    return absl::InvalidArgumentError("signatures need a data folder, for the key file");
  }
  if (transport::IsLoopback(host)) return absl::OkStatus();
  if (settings.auth == Auth::kNone) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "cannot listen on %s: without authentication everyone who reaches the address could run "
        "containers on every machine of the cluster; let callers sign (--auth sigv4), or listen on "
        "a loopback address (127.0.0.1, ::1, localhost)",
        host));
  }
  if (settings.insecure_http || settings.tls) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "cannot listen on %s in plain HTTP: whoever is on the way could read every call and answer; "
      "give a certificate, or say --insecure-http if the network is to be trusted",
      host));
}

std::string PathIn(const std::string& folder, const char* name) {
  return (std::filesystem::path(folder) / name).string();
}

// Where durable changes and effects go: the agents' hub, and the keys that callers sign with.
class Effects final : public EffectSink {
 public:
  Effects(AgentHub& hub, KeyRing* keys) : hub_(hub), keys_(keys) {}
  void Deliver(scheduler::Effect effect) override { hub_.Deliver(std::move(effect)); }
  void Observe(const model::Change& change) override {
    hub_.Observe(change);
    if (keys_ != nullptr) keys_->Observe(change);
  }

 private:
  AgentHub& hub_;
  KeyRing* const keys_;
};

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
  // `keys`: null with --auth none. `audit`: null when none is kept.
  ServerImpl(ServerSettings settings, storage::Store& store, const ServerLimits& limits,
             scheduler::State state, std::unique_ptr<KeyRing> keys, std::unique_ptr<AuditLog> audit)
      : settings_(std::move(settings)),
        limits_(limits),
        keys_(std::move(keys)),
        audit_(std::move(audit)),
        authenticator_(keys_.get(), settings_.scope),
        throttle_(settings_.throttle),
        hub_(io_.get_executor(), limits_.channel),
        effects_(hub_, keys_.get()),
        loop_({.state = std::move(state),
               .ids = ids_,
               .store = store,
               .effects = effects_,
               .metrics = metrics_},
              limits_.loop),
        pump_(io_.get_executor(), loop_, limits_.pump),
        channel_{.hub = hub_,
                 .loop = loop_,
                 .pump = pump_,
                 .authenticator = authenticator_,
                 .scope = settings_.scope,
                 .limits = limits_.channel},
        router_({.actions = {loop_, settings_},
                 .channel = channel_,
                 .metrics = metrics_,
                 .authenticator = authenticator_,
                 .keys = KeyEndpoints({loop_, keys_.get(), settings_}),
                 .placement = PlacementEndpoints({loop_, settings_}),
                 .throttle = throttle_,
                 .audit = audit_.get(),
                 .connections = [this] { return http_.connections(); }}),
        http_(io_, router_, limits_.http) {
    hub_.set_loop(loop_);
    if (keys_ != nullptr) {
      keys_->set_on_revoked([this](const std::string& id) { hub_.RevokeKey(id); });
    }
    if (settings_.emulate_agents) {
      emulation_ = std::make_shared<EmulatedAgents>(pump_);
      hub_.set_emulation(emulation_);
    }
  }
  ~ServerImpl() override { Stop(absl::ZeroDuration()); }

  absl::Status CreateDefaultCluster();
  absl::Status CreateAdminKey();
  absl::Status CreateAgentAccess(const std::vector<model::AccessKeyRecord>& keys);
  absl::Status Listen();
  void ResumeEmulated(const Instances& instances);

  uint16_t port() const override { return http_.port(); }
  std::string endpoint() const override { return EndpointOf(settings_, port()); }
  void Stop(absl::Duration grace) override;

 private:
  ServerSettings settings_;
  const ServerLimits limits_;
  const std::unique_ptr<KeyRing> keys_;
  const std::unique_ptr<AuditLog> audit_;
  const Authenticator authenticator_;
  Throttle throttle_;
  Metrics metrics_;
  model::RandomIdSource ids_{RandomRng()};
  net::io_context io_;
  AgentHub hub_;
  Effects effects_;
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

// Gives the loop a command before there is a thread that could await it.
template <class Command>
absl::Status SubmitAndWait(ClusterLoop& loop, Command command) {
  std::promise<absl::Status> done;
  const bool posted =
      loop.Post(std::move(command), [&done](const auto& reply) { done.set_value(reply.status()); });
  if (!posted) return absl::InternalError("the new cluster loop has no room");
  return done.get_future().get();
}

absl::Status ServerImpl::CreateDefaultCluster() {
  return SubmitAndWait(loop_, scheduler::CreateCluster{.name = {kDefaultCluster}});
}

absl::Status ServerImpl::CreateAdminKey() {
  absl::StatusOr<model::AccessKey> key = MakeAdminKey(settings_.data_dir, keys_->box());
  if (!key.ok()) return key.status();
  const std::string id = key->id;
  absl::Status status = SubmitAndWait(loop_, scheduler::CreateAccessKey{.key = *std::move(key)});
  if (!status.ok()) return status;
  spdlog::info("made the access key {} of user admin; its credentials are in {}", id,
               PathIn(settings_.data_dir, kAdminCredentialsFile));
  return absl::OkStatus();
}

absl::Status ServerImpl::CreateAgentAccess(const std::vector<model::AccessKeyRecord>& keys) {
  auto key = MakeAgentKey(settings_.agent_access_dir, keys, keys_->box());
  if (!key.ok()) return key.status();
  if (*key) {
    const std::string id = (*key)->id;
    absl::Status status = SubmitAndWait(loop_, scheduler::CreateAccessKey{.key = **std::move(key)});
    if (!status.ok()) return status;
    spdlog::info("made the access key {} for agents; its credentials are in {}", id,
                 settings_.agent_access_dir);
  }
  return absl::OkStatus();
}

absl::Status ServerImpl::Listen() {
  if (settings_.tls) {
    certificates_.emplace(*settings_.tls, http_, limits_.http);
    if (absl::Status status = certificates_->Load(); !status.ok()) return status;
    if (!settings_.agent_access_dir.empty() && !settings_.tls->self_signed_folder.empty()) {
      const std::string ca = transport::SelfSignedFilesIn(settings_.tls->self_signed_folder).ca;
      if (absl::Status status = ShareAuthority(ca, settings_.agent_access_dir); !status.ok()) {
        return status;
      }
    }
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
  if (absl::Status status = CheckSettings(settings); !status.ok()) return status;
  absl::StatusOr<model::Records> records = store.Load();
  if (!records.ok()) return records.status();
  if (absl::Status status = Hydrate(*records); !status.ok()) return status;
  const bool first_start = records->clusters.empty();
  const std::vector<model::AccessKeyRecord> access_keys(records->access_keys.begin(),
                                                        records->access_keys.end());
  std::unique_ptr<KeyRing> keys;
  if (settings.auth == Auth::kSigV4) {
    absl::StatusOr<std::unique_ptr<KeyRing>> opened = OpenKeyRing(settings.data_dir, access_keys);
    if (!opened.ok()) return opened.status();
    keys = *std::move(opened);
  }
  const bool shares_agent_key = keys != nullptr && !settings.agent_access_dir.empty();
  const bool needs_admin = keys != nullptr && !HasAdmin(access_keys);
  std::unique_ptr<AuditLog> audit;
  if (!settings.data_dir.empty()) {
    absl::StatusOr<std::unique_ptr<AuditLog>> opened =
        AuditLog::Open(PathIn(settings.data_dir, kAuditFile), limits.audit);
    if (!opened.ok()) return opened.status();
    audit = *std::move(opened);
  }
  const Instances emulated = TakeEmulated(*records, settings.emulate_agents);
  scheduler::State state(settings.retention, settings.gpu_policy);
  if (absl::Status status = state.Load(*std::move(records)); !status.ok()) return status;

  auto server = std::make_unique<ServerImpl>(std::move(settings), store, limits, std::move(state),
                                             std::move(keys), std::move(audit));
  if (first_start) {
    if (absl::Status status = server->CreateDefaultCluster(); !status.ok()) return status;
  }
  if (needs_admin) {
    if (absl::Status status = server->CreateAdminKey(); !status.ok()) return status;
  }
  if (shares_agent_key) {
    if (absl::Status status = server->CreateAgentAccess(access_keys); !status.ok()) return status;
  }
  if (absl::Status status = server->Listen(); !status.ok()) return status;
  server->ResumeEmulated(emulated);
  spdlog::info("serving on {}", server->endpoint());
  return server;
}

}  // namespace berth::api
