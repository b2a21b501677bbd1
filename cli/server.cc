// `berth server`: the control plane alone.
#include "api/server.h"

#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/logging.h"
#include "cli/server_flags.h"
#include "cli/stop_signal.h"

namespace berth::cli {
namespace {

// How long requests under way may still take once a signal came.
constexpr absl::Duration kShutdownGrace = absl::Seconds(10);

constexpr char kFooter[] = R"help(
Prints one line on stdout once it serves: "berth server is ready on http://127.0.0.1:8080".
SIGINT or SIGTERM ends it in good order; a second one ends it at once. Everything acknowledged is in
DIR/berth.db, also after kill -9. The first start makes an admin's access key and writes it to
DIR/admin-credentials; `berth key` makes others with it.

Examples:
  berth server --listen 127.0.0.1:8080 --data /var/lib/berth
  berth server --listen 127.0.0.1:0 --data "$(mktemp -d)" --auth none
  berth server --auth none --emulate-agents    test ECS code without machines or keys
  berth server --listen 0.0.0.0:8443 --tls-self-signed --public-endpoint https://berth.example:8443
  berth server --config /etc/berth.toml        with:  [server]
                                                      data = "/var/lib/berth"
)help";

struct Settings {
  explicit Settings(CLI::App& command) : sources(command) {}

  SettingSources sources;
  ServerFlags server;
  LogSettings log;
};

int Run(Settings& settings) {
  settings.sources.Apply();
  const api::ServerSettings server_settings = MakeServerSettings(settings.server);
  StopSignal stop;
  StartLogging(settings.log);

  const std::unique_ptr<storage::Store> store = OpenStore(settings.server.data);
  auto server = api::Server::Start(server_settings, *store);
  if (!server.ok()) throw std::runtime_error(std::string(server.status().message()));
  std::cout << fmt::format("berth server is ready on {}", (*server)->endpoint()) << std::endl;
  if (server_settings.tls) {
    if (const std::string hint = TlsHint(*server_settings.tls); !hint.empty()) {
      std::cout << hint << std::endl;
    }
  }

  stop.Wait();
  (*server)->Stop(kShutdownGrace);
  return kOk;
}

}  // namespace

Command AddServer(CLI::App& root) {
  CLI::App* command = root.add_subcommand("server", "Run the control plane");
  command->footer(kFooter);
  auto settings = std::make_shared<Settings>(*command);
  SettingSources& sources = settings->sources;
  ServerFlags& flags = settings->server;

  AddServerFlags(*command, sources, flags);
  AddTlsFlags(*command, sources, flags.tls);
  sources.FromEnvironment(
      command
          ->add_option(
              "--auth", flags.auth,
              "How callers prove who they are: sigv4 (signed with an access key) or none (on "
              "loopback only)")
          ->check(CLI::IsMember({"none", "sigv4"}))
          ->type_name("KIND")
          ->capture_default_str(),
      {"BERTH_AUTH"});
  sources.FromEnvironment(
      command->add_flag("--insecure-http", flags.insecure_http,
                        "Serve plain HTTP on addresses that others reach: for trusted networks"),
      {"BERTH_INSECURE_HTTP"});
  sources.FromEnvironment(
      command
          ->add_option("--throttle", flags.throttle,
                       "Calls per second and at once of each access key, by class, such as "
                       "mutate=1000:2000,read=off; or off")
          ->type_name("LIMITS"),
      {"BERTH_THROTTLE"});
  sources.FromEnvironment(
      command
          ->add_option(
              "--agent-access", flags.agent_access,
              "Keep a key of role agent in this folder (credentials), made at first start, "
              "and ca.pem with --tls-self-signed: for agents that share it")
          ->type_name("DIR"),
      {"BERTH_AGENT_ACCESS"});
  sources.FromEnvironment(
      command->add_flag("--audit-reads", flags.audit_reads,
                        "Keep reads in DIR/audit.log too, not only changes and refusals"),
      {"BERTH_AUDIT_READS"});
  sources.FromEnvironment(
      command
          ->add_option("--public-endpoint", flags.public_endpoint,
                       "URL that agents are told to connect to; made from --listen when absent")
          ->type_name("URL"),
      {"BERTH_PUBLIC_ENDPOINT"});
  sources.FromEnvironment(
      command->add_flag(
          "--emulate-agents", flags.emulate_agents,
          "Give instances that a plain SDK call registers an agent inside the server: "
          "their tasks reach RUNNING and STOPPED, but no container runs"),
      {"BERTH_EMULATE_AGENTS"});
  AddLogFlags(*command, sources, settings->log);
  return {command, [settings] { return Run(*settings); }};
}

}  // namespace berth::cli
