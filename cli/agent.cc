// `berth agent`: joins this machine to a cluster.
#include "agent/agent.h"

#include <memory>
#include <thread>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "cli/agent_flags.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/logging.h"
#include "cli/stop_signal.h"

namespace berth::cli {
namespace {

constexpr int64_t kInstancesMax = 10'000;
constexpr int64_t kCpuUnitsMax = 1 << 20;

constexpr char kFooter[] = R"(
The names of the official ECS agent work as environment variables where they mean the same. Containers
go on running when the agent ends; started again with the same --data it finds them.

Exit codes: 0 stopped by a signal, 1 failed (restart it), 2 wrong usage, 5 refused for good (do not).

Examples:
  berth agent --server http://127.0.0.1:8080 --cluster default
  berth agent --server https://berth.example:8443 --ca-file ca.pem --credentials agent-credentials
  berth agent --server http://127.0.0.1:8080 --gpus simulated:2x22587 --data /var/lib/berth-agent
  berth agent --server http://127.0.0.1:8080 --runtime simulated --gpus simulated:8x81559 --instances 100
  ECS_CLUSTER=gpu ECS_INSTANCE_ATTRIBUTES='{"rack":"a"}' berth agent --server http://127.0.0.1:8080
)";

struct Settings {
  explicit Settings(CLI::App& command) : sources(command) {}

  SettingSources sources;
  AgentFlags agent;
  LogSettings log;
};

int Run(Settings& settings) {
  settings.sources.Apply();
  if (!settings.agent.server.starts_with("http://") &&
      !settings.agent.server.starts_with("https://")) {
    throw UsageError(
        "--server: give the server's URL, such as https://berth.example:8443 or "
        "http://127.0.0.1:8080");
  }
  agent::AgentSettings agent_settings = MakeAgentSettings(settings.agent);
  StopSignal stop;
  StartLogging(settings.log);

  auto agent = agent::Agent::Create(std::move(agent_settings));
  if (!agent.ok()) throw std::runtime_error(std::string(agent.status().message()));

  agent::AgentExit exit;
  std::thread runner([&] {
    exit = (*agent)->Run();
    stop.Cancel();
  });
  if (stop.Wait()) (*agent)->Stop();
  runner.join();
  if (exit.code != kOk) spdlog::error("the agent ended: {}", exit.reason);
  return exit.code;
}

}  // namespace

Command AddAgent(CLI::App& root) {
  CLI::App* command = root.add_subcommand("agent", "Run tasks on this machine");
  command->footer(kFooter);
  auto settings = std::make_shared<Settings>(*command);
  SettingSources& sources = settings->sources;
  AgentFlags& flags = settings->agent;

  AddAccessFlags(*command, sources, flags);
  sources.FromEnvironment(command->add_option("--cluster", flags.cluster, "The cluster to join")
                              ->type_name("NAME")
                              ->capture_default_str(),
                          {"BERTH_CLUSTER", "ECS_CLUSTER"});
  sources.FromEnvironment(
      command->add_option("--data", flags.data, "Folder of the state file; made when absent")
          ->type_name("DIR")
          ->capture_default_str(),
      {"BERTH_AGENT_DATA", "ECS_DATADIR"});
  AddMachineFlags(*command, sources, flags);
  command
      ->add_option("--instances", flags.instances,
                   "How many instances this process plays (--runtime simulated)")
      ->check(CLI::Range(int64_t{1}, kInstancesMax))
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--availability-zone", flags.availability_zone,
                   "Zone of this machine; the server's when absent")
      ->type_name("ZONE");
  command
      ->add_option("--instance-id", flags.instance_id,
                   "ec2InstanceId, unique in the cluster; from the machine's id when absent")
      ->type_name("ID");
  command
      ->add_option("--instance-type", flags.instance_type,
                   "The attribute ecs.instance-type; berth.host when absent")
      ->type_name("TYPE");
  command->add_option("--cpu", flags.cpu_units, "CPU units offered; 1024 for each core when absent")
      ->check(CLI::Range(int64_t{128}, kCpuUnitsMax))
      ->type_name("UNITS");
  command
      ->add_option("--memory", flags.memory_mib,
                   "MiB offered; the machine's less the reserved when absent")
      ->check(CLI::Range(int64_t{16}, kMemoryMibMax))
      ->type_name("MIB");
  AddLogFlags(*command, sources, settings->log);
  return {command, [settings] { return Run(*settings); }};
}

}  // namespace berth::cli
