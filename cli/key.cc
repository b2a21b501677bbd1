// `berth key`: access keys of a running server, made, listed and revoked over its HTTP endpoints;
// and a new admin key for one that is stopped.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>
#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "absl/time/clock.h"
#include "api/access/first_key.h"
#include "api/access/key_endpoints.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/server_call.h"
#include "cli/server_flags.h"
#include "cli/setting_sources.h"

namespace berth::cli {
namespace {

using rapidjson::Value;

constexpr size_t kPolicyFileMax = 64 * 1024;

constexpr char kRow[] = "{:<20}  {:<16}  {:<8}  {:<7}  {:<20}  {}\n";

constexpr char kFooter[] = R"(
Roles: admin (everything), operator (every ECS action), viewer (Describe, List, Get), agent (what an
agent calls, for its own instance). docs/security.md says how a policy narrows a role.

Examples:
  berth key create --role agent --user node-7
  berth key create --role operator --user ci --policy deploy-only.json --output json
  berth key list --server https://berth.example:8443 --ca-file ca.pem --profile berth-admin
  berth key revoke AKIA2345ABCDEFGHIJKL
  berth key recover --data /var/lib/berth     the server is stopped, every admin's key is lost
)";

struct Settings : ServerCallSettings {
  std::string role = {};
  std::string user = {};
  std::string policy_file = {};
  std::string id = {};
};

void PrintKey(const Settings& settings, const Value& key) {
  if (settings.output == "json") return PrintJson(key);
  for (const auto& member : key.GetObject()) {
    std::cout << fmt::format("{:<16} {}\n", member.name.GetString(),
                             Text(key, member.name.GetString()));
  }
  std::cout.flush();
}

std::string ReadPolicyFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw UsageError(fmt::format("--policy: cannot read {}", path));
  std::ostringstream text;
  text << file.rdbuf();
  if (text.str().size() > kPolicyFileMax) {
    throw UsageError(fmt::format("--policy: {} is too large for a policy", path));
  }
  return text.str();
}

int Create(const Settings& settings) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> json(buffer);
  json.StartObject();
  json.Key("role");
  json.String(settings.role);
  if (!settings.user.empty()) {
    json.Key("user");
    json.String(settings.user);
  }
  if (!settings.policy_file.empty()) {
    json.Key("policy");
    json.String(ReadPolicyFile(settings.policy_file));
  }
  json.EndObject();
  const auto key = CallServer(settings, "POST", api::kKeysPath, buffer.GetString());
  PrintKey(settings, key);
  if (settings.output != "json") {
    std::cerr << "Keep the secret: it is shown this once and cannot be asked for again.\n";
  }
  return kOk;
}

int List(const Settings& settings) {
  const auto answer = CallServer(settings, "GET", api::kKeysPath, "");
  if (settings.output == "json") {
    PrintJson(answer);
    return kOk;
  }
  std::cout << fmt::format(kRow, "ACCESS KEY", "USER", "ROLE", "STATUS", "CREATED", "POLICY");
  for (const Value& key : answer["keys"].GetArray()) {
    std::cout << fmt::format(kRow, Text(key, "accessKeyId"), Text(key, "user"), Text(key, "role"),
                             Text(key, "status"), Text(key, "createdAt"), Text(key, "policy"));
  }
  std::cout.flush();
  return kOk;
}

int Revoke(const Settings& settings) {
  const auto key =
      CallServer(settings, "DELETE", std::string(api::kKeysPath) + "/" + settings.id, "");
  PrintKey(settings, key);
  return kOk;
}

int Recover(const Settings& settings) {
  const std::string& data = settings.credentials.data;
  if (!std::filesystem::exists(std::filesystem::path(data) / kDatabaseFile)) {
    throw UsageError(fmt::format("--data: there is no {} in {}", kDatabaseFile, data));
  }
  const std::unique_ptr<storage::Store> store = OpenStore(data);
  const auto key = api::RecoverAdmin(data, *store, absl::Now());
  if (!key.ok()) throw std::runtime_error(std::string(key.status().message()));
  std::cout << fmt::format("made the access key {} of user {}; its credentials are in {}/{}\n",
                           key->id, key->user, data, api::kAdminCredentialsFile);
  std::cerr << "The admin keys before it are still good: start the server, and revoke those that "
               "may be in other hands (berth key list, berth key revoke).\n";
  return kOk;
}

}  // namespace

Command AddKey(CLI::App& root) {
  CLI::App* command = root.add_subcommand("key", "Make, list and revoke access keys of a server");
  command->footer(std::string(kCredentialsHelp) + kFooter);
  command->require_subcommand(1);
  auto settings = std::make_shared<Settings>();

  CLI::App* create = command->add_subcommand("create", "Make a key, and print its secret once");
  create->footer(std::string(kCredentialsHelp) + kFooter);
  AddServerCallFlags(*create, *settings);
  create->add_option("--role", settings->role, "What the key may do")
      ->check(CLI::IsMember({"admin", "operator", "viewer", "agent"}))
      ->type_name("ROLE")
      ->required();
  create
      ->add_option("--user", settings->user,
                   "Whose it is, for ARNs, refusals and the audit log; the role when absent")
      ->type_name("NAME");
  create
      ->add_option("--policy", settings->policy_file,
                   "JSON policy of IAM's shape that narrows the role")
      ->type_name("FILE");

  CLI::App* list = command->add_subcommand("list", "Print all keys, revoked ones too");
  list->footer(std::string(kCredentialsHelp) + kFooter);
  AddServerCallFlags(*list, *settings);

  CLI::App* revoke = command->add_subcommand(
      "revoke", "End a key: its next call is refused, its agents' channels are closed");
  revoke->footer(std::string(kCredentialsHelp) + kFooter);
  AddServerCallFlags(*revoke, *settings);
  revoke->add_option("id", settings->id, "The access key's id")->type_name("ID")->required();

  CLI::App* recover = command->add_subcommand(
      "recover", "Make an admin key in the data folder of a stopped server, when all are lost");
  recover->footer(std::string(kCredentialsHelp) + kFooter);
  recover->add_option("--data", settings->credentials.data, "The data folder of the stopped server")
      ->envname("BERTH_DATA")
      ->type_name("DIR")
      ->capture_default_str();

  return {command, [settings, create, list, recover] {
            if (create->parsed()) return Create(*settings);
            if (list->parsed()) return List(*settings);
            if (recover->parsed()) return Recover(*settings);
            return Revoke(*settings);
          }};
}

}  // namespace berth::cli
