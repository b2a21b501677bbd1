// One signed call to a running server's endpoints beside the ECS API, for commands that ask it
// something.
#pragma once

#include <string>

#include <CLI/CLI.hpp>
#include <rapidjson/document.h>

#include "cli/credentials.h"

namespace berth::cli {

struct ServerCallSettings {
  std::string server = "http://127.0.0.1:8080";
  std::string ca_file = {};
  CredentialSources credentials = {.data = "berth-data"};
  std::string output = "table";  // or "json"
  // Where there are no credentials the call goes out unsigned, for a server with --auth none.
  bool may_be_unsigned = false;
};

// Where those credentials come from, for a command's --help.
extern const char kCredentialsHelp[];

// --server, --ca-file, --data, --credentials-file, --profile, --output
void AddServerCallFlags(CLI::App& command, ServerCallSettings& settings);

// The answer's body, which is JSON. Throws when the server cannot be reached or refuses.
rapidjson::Document CallServer(const ServerCallSettings& settings, const std::string& method,
                               const std::string& path, const std::string& body);

// The same with an action of the ECS API: "ListTasks". Waits and tries again while it is throttled.
rapidjson::Document CallAction(const ServerCallSettings& settings, const std::string& action,
                               const std::string& body);

// A member as text; "-" when absent.
std::string Text(const rapidjson::Value& object, const char* name);
void PrintJson(const rapidjson::Value& value);

}  // namespace berth::cli
