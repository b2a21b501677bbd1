// A real agent in this process, with short waits and a data directory of its own.
#pragma once

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <catch2/catch.hpp>

#include "agent/testing.h"
#include "tests/agent/fake_server.h"

namespace berth::agent::testing {

class TempDir {
 public:
  TempDir() {
    std::string pattern = std::filesystem::temp_directory_path() / "berth-agent-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline AgentTiming FastTiming() {
  AgentTiming timing;
  timing.registration.first = absl::Milliseconds(50);
  timing.registration.between_attempts = absl::Milliseconds(20);
  timing.report_batch_window = absl::Milliseconds(100);
  timing.report_retry = {
      .first = absl::Milliseconds(20), .factor = 1.5, .cap = absl::Milliseconds(100)};
  timing.channel.pace.unreachable = timing.report_retry;
  timing.channel.pace.backoff = timing.report_retry;
  timing.channel.pace.drop_jitter = absl::Milliseconds(50);
  timing.unknown_task_patience = absl::Milliseconds(300);
  return timing;
}

class AgentUnderTest {
 public:
  explicit AgentUnderTest(const FakeServer& server) : AgentUnderTest(server.url()) {}
  explicit AgentUnderTest(const std::string& url) {
    settings.server = url;
    settings.data_dir = directory.path();
    settings.runtime = RuntimeKind::kSimulated;
    settings.gpus.kind = GpuOption::Kind::kNone;
  }
  ~AgentUnderTest() { Stop(); }

  void Start() {
    absl::StatusOr<std::unique_ptr<Agent>> created = CreateWithTiming(settings, timing);
    INFO(std::string(created.status().message()));
    REQUIRE(created.ok());
    agent_ = *std::move(created);
    exit_ = std::async(std::launch::async, [agent = agent_.get()] { return agent->Run(); });
  }

  // As abruptly as a kill: nothing is said to anybody.
  void Stop() {
    if (agent_ == nullptr) return;
    agent_->Stop();
    if (exit_.valid()) exit_.wait();
    agent_ = nullptr;
  }

  // The exit of an agent that ends by itself; code -1 when it does not.
  AgentExit WaitForExit() {
    if (exit_.wait_for(std::chrono::seconds(20)) != std::future_status::ready) {
      return {.code = -1, .reason = "it did not end"};
    }
    return exit_.get();
  }

  // Whether the task's record on disk holds the text.
  bool OnDisk(const std::string& task_id, const std::string& text) const {
    std::ifstream file(directory.path() + "/tasks/" + task_id + ".json");
    const std::string record((std::istreambuf_iterator<char>(file)),
                             std::istreambuf_iterator<char>());
    return record.find(text) != std::string::npos;
  }

  TempDir directory;
  AgentSettings settings;
  AgentTiming timing = FastTiming();

 private:
  std::unique_ptr<Agent> agent_;
  std::future<AgentExit> exit_;
};

inline std::string TaskArn(const std::string& id) {
  return "arn:aws:ecs:us-east-1:000000000000:task/default/" + id;
}

// The body of a PayloadMessage with one task. `task` holds members after arn and desiredStatus.
inline std::string Payload(const std::string& message_id, const std::string& task_id,
                           const std::string& desired, const std::string& task = "",
                           int number = 1) {
  return "{\"messageId\":\"" + message_id + "\",\"clusterArn\":\"" + kClusterArn +
         "\",\"containerInstanceArn\":\"" + kInstanceArn +
         "\",\"seqNum\":" + std::to_string(number) + ",\"tasks\":[{\"arn\":\"" + TaskArn(task_id) +
         "\",\"desiredStatus\":\"" + desired + "\"" + (task.empty() ? "" : "," + task) + "}]}";
}

// Members of a task with the containers given as JSON objects.
inline std::string Containers(const std::string& containers, const std::string& more = "") {
  return "\"family\":\"f\",\"version\":\"1\",\"containers\":[" + containers + "]" + more;
}

inline std::string OneContainer(const std::string& more = "") {
  return Containers("{\"name\":\"a\",\"image\":\"i\"" + more + "}");
}

}  // namespace berth::agent::testing
