// `berth dev`: a server and an agent in one process, to try things out.
#include <filesystem>
#include <iostream>
#include <memory>
#include <string_view>
#include <thread>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "agent/agent.h"
#include "api/server.h"
#include "cli/agent_flags.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/logging.h"
#include "cli/server_flags.h"
#include "cli/stop_signal.h"

namespace berth::cli {
namespace {

constexpr absl::Duration kShutdownGrace = absl::Seconds(5);

// One device of the size that the GPU-sharing guide shows, so that sharing can be tried on a
// laptop.
constexpr char kDevGpus[] = "simulated:1x22587";

constexpr char kFooter[] = R"(
Serves the cluster `default` with this machine in it, on loopback, and prints what to paste next. Its
GPU is a pretended one unless --gpus says otherwise: tasks really run, on Docker, but no container gets
a device. Ctrl-C ends both server and agent; tasks go on running and are found again at the next start.

Examples:
  berth dev
  berth dev --listen 127.0.0.1:9000 --data /tmp/berth --gpus simulated:4x81559
  berth dev --runtime simulated                without Docker: tasks only seem to run
)";

struct Settings {
  explicit Settings(CLI::App& command) : sources(command) {}

  SettingSources sources;
  ServerFlags server;
  AgentFlags agent;
  LogSettings log;
};

void PrintWhatNext(std::string_view endpoint, std::string_view region) {
  std::cout << fmt::format(R"(
Paste this to use it with a current AWS CLI or SDK:

  export AWS_ENDPOINT_URL_ECS={0} AWS_REGION={1} AWS_DEFAULT_REGION={1}
  export AWS_ACCESS_KEY_ID=berth AWS_SECRET_ACCESS_KEY=berth
  aws ecs list-container-instances
  aws ecs register-task-definition --family hello --container-definitions \
    '[{{"name":"hello","image":"busybox","memory":32,"command":["sleep","600"]}}]'
  aws ecs run-task --task-definition hello

Older ones need --endpoint-url {0} and clients/botocore (see its README).
)",
                           endpoint, region)
            << std::endl;
}

int Run(Settings& settings) {
  settings.sources.Apply();
  const api::ServerSettings server_settings = MakeServerSettings(settings.server);
  settings.agent.region = settings.server.region;
  settings.agent.availability_zone = settings.server.availability_zone;
  settings.agent.data = (std::filesystem::path(settings.server.data) / "agent").string();
  agent::AgentSettings agent_settings = MakeAgentSettings(settings.agent);
  StopSignal stop;
  StartLogging(settings.log);

  const std::unique_ptr<storage::Store> store = OpenStore(settings.server.data);
  auto server = api::Server::Start(server_settings, *store);
  if (!server.ok()) throw std::runtime_error(std::string(server.status().message()));
  agent_settings.server = (*server)->endpoint();
  auto agent = agent::Agent::Create(std::move(agent_settings));
  if (!agent.ok()) throw std::runtime_error(std::string(agent.status().message()));

  agent::AgentExit exit;
  std::thread runner([&] {
    exit = (*agent)->Run();
    stop.Cancel();
  });
  std::cout << fmt::format("berth dev is ready on {}", (*server)->endpoint()) << std::endl;
  if (settings.agent.gpus.starts_with("simulated")) {
    std::cout << fmt::format("GPUs: {}: pretended ones, no container gets a device",
                             settings.agent.gpus)
              << std::endl;
  }
  PrintWhatNext((*server)->endpoint(), settings.server.region);

  if (stop.Wait()) (*agent)->Stop();
  runner.join();
  agent->reset();  // closes its connections, which the server would wait for
  (*server)->Stop(kShutdownGrace);
  if (exit.code != kOk) spdlog::error("the agent ended: {}", exit.reason);
  return exit.code;
}

}  // namespace

Command AddDev(CLI::App& root) {
  CLI::App* command = root.add_subcommand(
      "dev", "Run server and agent together on this machine, to try things out");
  command->footer(kFooter);
  auto settings = std::make_shared<Settings>(*command);
  settings->agent.gpus = kDevGpus;
  settings->server.auth = "none";

  AddServerFlags(*command, settings->sources, settings->server);
  AddMachineFlags(*command, settings->sources, settings->agent);
  AddLogFlags(*command, settings->sources, settings->log);
  return {command, [settings] { return Run(*settings); }};
}

}  // namespace berth::cli
