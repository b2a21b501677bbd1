// `berth key`: access keys of a running server, made, listed and revoked over its HTTP endpoints;
// and a new admin key for one that is stopped.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <fmt/format.h>
#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "absl/time/clock.h"
#include "agent/connect.h"
#include "agent/http_client.h"
#include "api/access/first_key.h"
#include "api/access/key_endpoints.h"
#include "auth/sigv4.h"
#include "cli/command.h"
#include "cli/credentials.h"
#include "cli/exit_code.h"
#include "cli/server_flags.h"
#include "cli/setting_sources.h"
#include "transport/tls.h"

namespace berth::cli {

namespace net = boost::asio;

namespace {

using rapidjson::Value;

// Any region will do: the server restricts none.
constexpr char kRegion[] = "us-east-1";
constexpr size_t kPolicyFileMax = 64 * 1024;

constexpr char kRow[] = "{:<20}  {:<16}  {:<8}  {:<7}  {:<20}  {}\n";

constexpr char kFooter[] = R"(
The credentials of an admin are taken from --credentials-file or --profile, else from
AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, else from the file or profile that
AWS_SHARED_CREDENTIALS_FILE or AWS_PROFILE names, else from DIR/admin-credentials, which the first
start of `berth server --auth sigv4` writes.

Roles: admin (everything), operator (every ECS action), viewer (Describe, List, Get), agent (what an
agent calls, for its own instance). docs/security.md says how a policy narrows a role.

Examples:
  berth key create --role agent --user node-7
  berth key create --role operator --user ci --policy deploy-only.json --output json
  berth key list --server https://berth.example:8443 --ca-file ca.pem --profile berth-admin
  berth key revoke AKIA2345ABCDEFGHIJKL
  berth key recover --data /var/lib/berth     the server is stopped, every admin's key is lost
)";

struct Settings {
  std::string server = "http://127.0.0.1:8080";
  std::string ca_file = {};
  CredentialSources credentials = {.data = "berth-data"};
  std::string output = "table";
  std::string role = {};
  std::string user = {};
  std::string policy_file = {};
  std::string id = {};
};

std::string Text(const Value& object, const char* name) {
  const auto member = object.FindMember(name);
  if (member == object.MemberEnd()) return "-";
  if (member->value.IsString()) return member->value.GetString();
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  member->value.Accept(writer);
  return buffer.GetString();
}

// The answer's body, which is JSON. Throws when the server cannot be reached or refuses.
rapidjson::Document CallServer(const Settings& settings, const std::string& method,
                               const std::string& path, const std::string& body) {
  absl::StatusOr<agent::HttpAddress> address = agent::ParseHttpUrl(settings.server);
  if (!address.ok()) {
    throw UsageError(fmt::format("--server: {}", std::string(address.status().message())));
  }
  const auth::Credentials credentials = FindCredentials(settings.credentials);
  auth::HttpParts parts{.method = method, .target = address->path + path, .body = body};
  parts.headers.emplace_back("Host", agent::Authority(*address));
  if (!body.empty()) parts.headers.emplace_back("Content-Type", "application/json");
  const auto signature = auth::Sign(parts, credentials, kRegion, absl::Now());

  agent::HttpRequest request{.method = method, .target = parts.target, .body = body};
  request.headers.assign(parts.headers.begin() + 1, parts.headers.end());  // Host is the client's
  request.headers.insert(request.headers.end(), signature.begin(), signature.end());
  net::io_context io;
  transport::TlsContextPtr tls;
  if (address->tls) {
    absl::StatusOr<transport::TlsContextPtr> made = transport::MakeClientTls(settings.ca_file);
    if (!made.ok()) {
      throw UsageError(fmt::format("--ca-file: {}", std::string(made.status().message())));
    }
    tls = *std::move(made);
  }
  agent::HttpClient client(*std::move(address), std::move(tls));
  auto future = net::co_spawn(io, client.Exchange(std::move(request), {}), net::use_future);
  // Not to the end of all work: the client keeps its connection for another exchange.
  while (future.wait_for(std::chrono::seconds(0)) != std::future_status::ready) io.run_one();
  absl::StatusOr<agent::HttpResponse> response = future.get();
  if (!response.ok()) throw std::runtime_error(std::string(response.status().message()));

  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(response->body);
  if (document.HasParseError() || !document.IsObject()) {
    throw std::runtime_error(
        fmt::format("{} answered {} with no JSON object: is it a Berth server?", settings.server,
                    response->status));
  }
  if (response->status != 200) {
    throw std::runtime_error(
        fmt::format("{}: {}", Text(document, "__type"), Text(document, "message")));
  }
  return document;
}

void PrintJson(const Value& value) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  value.Accept(writer);
  std::cout << buffer.GetString() << std::endl;
}

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

void AddCommonFlags(CLI::App& command, Settings& settings) {
  command.add_option("--server", settings.server, "URL of the server")
      ->envname("BERTH_SERVER")
      ->type_name("URL")
      ->capture_default_str();
  command
      .add_option("--ca-file", settings.ca_file,
                  "Certificates of authorities to trust beside the system's, in PEM")
      ->envname("BERTH_CA_FILE")
      ->type_name("FILE");
  command
      .add_option("--data", settings.credentials.data,
                  "The server's data folder, for its admin-credentials")
      ->envname("BERTH_DATA")
      ->type_name("DIR")
      ->capture_default_str();
  command
      .add_option("--credentials-file", settings.credentials.file,
                  "An AWS credentials file with an admin's key")
      ->type_name("FILE");
  command.add_option("--profile", settings.credentials.profile, "Its section")->type_name("NAME");
  command.add_option("--output", settings.output, "How to print the answer")
      ->check(CLI::IsMember({"table", "json"}))
      ->type_name("FORMAT")
      ->capture_default_str();
}

}  // namespace

Command AddKey(CLI::App& root) {
  CLI::App* command = root.add_subcommand("key", "Make, list and revoke access keys of a server");
  command->footer(kFooter);
  command->require_subcommand(1);
  auto settings = std::make_shared<Settings>();

  CLI::App* create = command->add_subcommand("create", "Make a key, and print its secret once");
  create->footer(kFooter);
  AddCommonFlags(*create, *settings);
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
  list->footer(kFooter);
  AddCommonFlags(*list, *settings);

  CLI::App* revoke = command->add_subcommand(
      "revoke", "End a key: its next call is refused, its agents' channels are closed");
  revoke->footer(kFooter);
  AddCommonFlags(*revoke, *settings);
  revoke->add_option("id", settings->id, "The access key's id")->type_name("ID")->required();

  CLI::App* recover = command->add_subcommand(
      "recover", "Make an admin key in the data folder of a stopped server, when all are lost");
  recover->footer(kFooter);
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
