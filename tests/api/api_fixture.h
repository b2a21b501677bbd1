// The API without sockets: Dispatch on a real cluster loop, a real scheduler and a store in memory.
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <catch2/catch.hpp>
#include <rapidjson/document.h>
#include <rapidjson/pointer.h>

#include "api/cluster_loop.h"
#include "api/dispatch.h"
#include "api/hydrate.h"
#include "storage/memory_store.h"
#include "tests/api/shape_fit.h"

namespace berth::api {

class ApiFixture {
 public:
  explicit ApiFixture(ServerSettings with = DefaultSettings()) : settings(std::move(with)) {
    Start();
    REQUIRE(Ask("CreateCluster", "{}").status == 200);
  }
  ~ApiFixture() { Stop(); }

  static ServerSettings DefaultSettings() {
    ServerSettings defaults;
    defaults.public_endpoint = "http://127.0.0.1:8080";
    return defaults;
  }
  static ServerSettings Emulating() {
    ServerSettings emulating = DefaultSettings();
    emulating.emulate_agents = true;
    return emulating;
  }

  // The answer, which must be well-formed: of the action's output shape, or of an error's form.
  ApiResponse Ask(const std::string& action, const std::string& body) {
    return AskTarget("AmazonEC2ContainerServiceV20141113." + action, body);
  }
  ApiResponse AskTarget(const std::string& target, const std::string& body) {
    ApiResponse response = Begin(target, body).get();
    CheckWellFormed(ActionName(target), response);
    return response;
  }
  // The answers, in order, to requests that are under way at the same time.
  std::vector<ApiResponse> AskAtOnce(const std::string& action,
                                     const std::vector<std::string>& bodies) {
    std::vector<std::future<ApiResponse>> begun;
    for (const std::string& body : bodies) {
      begun.push_back(Begin("AmazonEC2ContainerServiceV20141113." + action, body));
    }
    std::vector<ApiResponse> responses;
    for (std::future<ApiResponse>& response : begun) responses.push_back(response.get());
    return responses;
  }

  // An answer that must succeed, as JSON.
  rapidjson::Document Get(const std::string& action, const std::string& body) {
    const ApiResponse response = Ask(action, body);
    INFO(action << " " << body.substr(0, 2000) << " -> " << response.body);
    REQUIRE(response.status == 200);
    rapidjson::Document document;
    document.Parse(response.body.data(), response.body.size());
    return document;
  }
  // "ClientException: the message" of an answer that must fail.
  std::string Refusal(const std::string& action, const std::string& body) {
    const ApiResponse response = Ask(action, body);
    INFO(action << " " << body.substr(0, 2000) << " -> " << response.body.substr(0, 2000));
    REQUIRE(response.status != 200);
    rapidjson::Document document;
    document.Parse(response.body.data(), response.body.size());
    return response.error_type + ": " + document["message"].GetString();
  }

  template <class Command>
  absl::StatusOr<typename Command::Reply> Submit(Command command) {
    return net::co_spawn(io_, loop_->Submit(std::move(command)), net::use_future).get();
  }

  // Ends the server's inside and starts it anew from the store.
  void Restart() {
    Stop();
    Start();
  }

  storage::MemoryStore store;
  ServerSettings settings;
  Caller caller = {.principal_arn = "arn:aws:iam::000000000000:user/tester"};  // of every call

 private:
  class NoEffects : public EffectSink {
   public:
    void Deliver(scheduler::Effect) override {}
    void Observe(const model::Change&) override {}
  };

  std::future<ApiResponse> Begin(const std::string& target, const std::string& body) {
    ApiRequest request{.target = target,
                       .body = body,
                       .request_id = "11111111-2222-4333-8444-555555555555",
                       .caller = caller};
    return net::co_spawn(io_, Dispatch(std::move(request), *context_), net::use_future);
  }

  void Start() {
    absl::StatusOr<model::Records> records = store.Load();
    REQUIRE(records.ok());
    REQUIRE(Hydrate(*records) == absl::OkStatus());
    scheduler::State state;
    REQUIRE(state.Load(*std::move(records)) == absl::OkStatus());
    loop_ = std::make_unique<ClusterLoop>(ClusterLoop::Parts{.state = std::move(state),
                                                             .ids = ids_,
                                                             .store = store,
                                                             .effects = effects_,
                                                             .metrics = metrics_});
    context_.emplace(ActionContext{*loop_, settings});
    io_.restart();
    work_.emplace(io_.get_executor());
    thread_ = std::thread([this] { io_.run(); });
  }
  void Stop() {
    loop_->Stop();
    work_.reset();
    thread_.join();
    loop_.reset();
  }

  NoEffects effects_;
  Metrics metrics_;
  model::RandomIdSource ids_{model::Rng(7)};
  net::io_context io_;
  std::unique_ptr<ClusterLoop> loop_;
  std::optional<ActionContext> context_;
  std::optional<net::executor_work_guard<net::io_context::executor_type>> work_;
  std::thread thread_;
};

// The text at a JSON pointer; what is no string comes as JSON.
inline std::string At(const rapidjson::Document& document, const char* pointer) {
  const rapidjson::Value* value = rapidjson::Pointer(pointer).Get(document);
  return value == nullptr ? "(absent)" : JsonText(*value);
}

// A RegisterContainerInstance body: an instance with room for much and these GPUs. `more` begins
// with a comma.
inline std::string Machine(const std::string& devices = "[]", const std::string& more = "") {
  return R"({"totalResources":[{"name":"CPU","type":"INTEGER","integerValue":32768},)"
         R"({"name":"MEMORY","type":"INTEGER","integerValue":131072},)"
         R"({"name":"PORTS","type":"STRINGSET","stringSetValue":["22","2375"]}],)"
         R"("platformDevices":)" +
         devices + more + "}";
}
inline std::string Gpu(const std::string& id, int memory_mib) {
  return R"({"id":")" + id + R"(","type":"GPU","gpuInfo":{"memoryInMiB":)" +
         std::to_string(memory_mib) + "}}";
}

}  // namespace berth::api
