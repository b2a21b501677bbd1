// A whole server on a free port of loopback, with a store in memory, and a client for its API.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <rapidjson/document.h>

#include "api/limits.h"
#include "api/server.h"
#include "storage/memory_store.h"
#include "tests/api/raw_client.h"

namespace berth::api {

class ServerFixture {
 public:
  explicit ServerFixture(ServerLimits limits = {}, bool emulate_agents = false)
      : limits_(limits), emulate_agents_(emulate_agents) {
    Start();
  }

  void Start() { Start(store); }
  void Start(storage::Store& with) {
    ServerSettings settings;
    settings.listen_port = 0;
    settings.emulate_agents = emulate_agents_;
    auto started = Server::Start(settings, with, limits_);
    INFO(started.status());
    REQUIRE(started.ok());
    server = *std::move(started);
  }
  void Restart() {
    server.reset();
    Start();
  }
  uint16_t port() const { return server->port(); }

  // An answer that must succeed, as JSON.
  rapidjson::Document Ask(const std::string& action, const std::string& body) {
    RawClient client(port());
    const RawResponse response = client.Ask(Call(action, body));
    INFO(action << " " << body << " -> " << response.status << " " << response.body);
    REQUIRE(response.status == 200);
    rapidjson::Document document;
    document.Parse(response.body.c_str());
    REQUIRE_FALSE(document.HasParseError());
    return document;
  }

  // Registers an instance that any small task fits on; returns its ARN. `gpu_memory`: of each GPU.
  std::string RegisterInstance(int gpus = 0, int gpu_memory = 22587) {
    std::string devices, memory;
    for (int i = 0; i < gpus; ++i) {
      const std::string id = "GPU-" + std::to_string(i);
      devices += (i == 0 ? "" : ",") + ("{\"id\":\"" + id + "\",\"type\":\"GPU\"}");
      memory += ",{\"name\":\"GPU_MEMORY:" + id +
                "\",\"type\":\"INTEGER\",\"integerValue\":" + std::to_string(gpu_memory) + "}";
    }
    const auto answer =
        Ask("RegisterContainerInstance",
            "{\"totalResources\":[{\"name\":\"CPU\",\"type\":\"INTEGER\",\"integerValue\":1000000},"
            "{\"name\":\"MEMORY\",\"type\":\"INTEGER\",\"integerValue\":1000000}" +
                memory + "],\"platformDevices\":[" + devices +
                "],\"attributes\":[{\"name\":\"ecs.capability.gpu-sharing-mps\"}]}");
    return answer["containerInstance"]["containerInstanceArn"].GetString();
  }
  void RegisterDefinition(const std::string& family, const std::string& more_of_container = "") {
    Ask("RegisterTaskDefinition", "{\"family\":\"" + family +
                                      "\",\"containerDefinitions\":[{\"name\":\"web\",\"image\":"
                                      "\"img\",\"memory\":16" +
                                      more_of_container + "}]}");
  }
  // The ARNs of the tasks, all of which must be placed.
  std::vector<std::string> RunTasks(const std::string& family, int count) {
    const auto answer = Ask("RunTask", "{\"taskDefinition\":\"" + family +
                                           "\",\"count\":" + std::to_string(count) + "}");
    std::vector<std::string> arns;
    for (const auto& task : answer["tasks"].GetArray()) arns.push_back(task["taskArn"].GetString());
    REQUIRE(arns.size() == static_cast<size_t>(count));
    return arns;
  }
  std::string LastStatus(const std::string& task) {
    const auto answer = Ask("DescribeTasks", "{\"tasks\":[\"" + task + "\"]}");
    return answer["tasks"][0]["lastStatus"].GetString();
  }
  // Whether its agent has acknowledged it.
  bool IsAccepted(const std::string& task) {
    const auto answer = Ask("DescribeTasks", "{\"tasks\":[\"" + task + "\"]}");
    const auto& described = answer["tasks"][0];
    return described.HasMember("connectivity") &&
           described["connectivity"].GetString() == std::string("CONNECTED");
  }
  bool AgentConnected(const std::string& instance) {
    const auto answer =
        Ask("DescribeContainerInstances", "{\"containerInstances\":[\"" + instance + "\"]}");
    return answer["containerInstances"][0]["agentConnected"].GetBool();
  }

  storage::MemoryStore store;
  std::unique_ptr<Server> server;

 private:
  ServerLimits limits_;
  bool emulate_agents_;
};

// Asks again until it is so, or long enough.
template <class Condition>
bool Eventually(Condition condition) {
  for (const absl::Time end = absl::Now() + absl::Seconds(20); absl::Now() < end;) {
    if (condition()) return true;
    absl::SleepFor(absl::Milliseconds(2));
  }
  return false;
}

}  // namespace berth::api
