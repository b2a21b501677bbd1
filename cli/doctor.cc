// `berth doctor`: what this machine has and lacks.
#include <algorithm>
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "cli/agent_flags.h"
#include "cli/command.h"
#include "cli/doctor_checks.h"
#include "cli/doctor_server.h"
#include "cli/exit_code.h"
#include "cli/setting_values.h"

namespace berth::cli {
namespace {

constexpr char kFooter[] = R"(
Looks only: starts, pulls and changes nothing. With --server it also says whether an agent with these
flags would be let in. Exit codes: 0 `berth dev` can run tasks here, 1 it
cannot, for the reasons printed, 2 wrong usage.

Examples:
  berth doctor
  berth doctor --output json --data /var/lib/berth
  berth doctor --server https://berth.example:8443 --ca-file ca.pem --credentials agent-credentials
)";

struct Settings {
  explicit Settings(CLI::App& command) : sources(command) {}

  SettingSources sources;
  DoctorSettings doctor = {.docker_socket = "/var/run/docker.sock",
                           .data_dir = "berth-data",
                           .listen = "127.0.0.1:8080"};
  AgentFlags access;
  std::string output = "table";
};

const char* ToString(Finding::Verdict verdict) {
  switch (verdict) {
    case Finding::Verdict::kOk:
      return "ok";
    case Finding::Verdict::kAbsent:
      return "absent";
    case Finding::Verdict::kProblem:
      return "problem";
  }
  return "?";
}

void PrintTable(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    std::cout << fmt::format("{:<8} {:<15} {}\n", ToString(finding.verdict), finding.name,
                             finding.found);
    if (!finding.advice.empty()) std::cout << fmt::format("{:<24} -> {}\n", "", finding.advice);
  }
}

void PrintJson(const std::vector<Finding>& findings, bool able) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> json(buffer);
  json.StartObject();
  json.Key("ableToRunTasks");
  json.Bool(able);
  json.Key("findings");
  json.StartArray();
  for (const Finding& finding : findings) {
    json.StartObject();
    json.Key("name");
    json.String(finding.name);
    json.Key("verdict");
    json.String(ToString(finding.verdict));
    json.Key("found");
    json.String(finding.found);
    if (!finding.advice.empty()) {
      json.Key("advice");
      json.String(finding.advice);
    }
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  std::cout << buffer.GetString() << '\n';
}

int Run(Settings& settings) {
  settings.sources.Apply();
  settings.doctor.docker_socket = ParseSocketPath(settings.doctor.docker_socket);
  std::vector<Finding> findings = RunChecks(settings.doctor);
  if (!settings.access.server.empty()) {
    for (Finding& finding : CheckServer(MakeAgentSettings(settings.access))) {
      findings.push_back(std::move(finding));
    }
  }
  const bool able = std::none_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.verdict == Finding::Verdict::kProblem;
  });
  if (settings.output == "json") {
    PrintJson(findings, able);
  } else {
    PrintTable(findings);
  }
  return able ? kOk : kFailure;
}

}  // namespace

Command AddDoctor(CLI::App& root) {
  CLI::App* command = root.add_subcommand("doctor", "Say what this machine has and lacks");
  command->footer(kFooter);
  auto settings = std::make_shared<Settings>(*command);
  SettingSources& sources = settings->sources;
  DoctorSettings& doctor = settings->doctor;

  command->add_option("--output", settings->output, "How to print")
      ->check(CLI::IsMember({"table", "json"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  sources.FromEnvironment(
      command->add_option("--docker-socket", doctor.docker_socket, "Where to look for Docker")
          ->type_name("PATH")
          ->capture_default_str(),
      {"BERTH_DOCKER_SOCKET", "DOCKER_HOST"});
  sources.FromEnvironment(
      command->add_option("--data", doctor.data_dir, "The folder whose disk is looked at")
          ->type_name("DIR")
          ->capture_default_str(),
      {"BERTH_DATA"});
  sources.FromEnvironment(
      command->add_option("--listen", doctor.listen, "The address that should be free")
          ->type_name("HOST:PORT")
          ->capture_default_str(),
      {"BERTH_LISTEN"});
  AddAccessFlags(*command, sources, settings->access);
  return {command, [settings] { return Run(*settings); }};
}

}  // namespace berth::cli
