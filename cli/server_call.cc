#include "cli/server_call.h"

#include <chrono>
#include <future>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <fmt/format.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "absl/time/clock.h"
#include "agent/connect.h"
#include "agent/http_client.h"
#include "auth/sigv4.h"
#include "cli/setting_sources.h"
#include "transport/tls.h"

namespace berth::cli {

namespace net = boost::asio;
using rapidjson::Value;

namespace {

// Any region will do: the server restricts none.
constexpr char kRegion[] = "us-east-1";
constexpr int kThrottledAttemptsMax = 30;
constexpr std::chrono::milliseconds kThrottledPause{1000};

}  // namespace

const char kCredentialsHelp[] = R"(
The credentials are taken from --credentials-file or --profile, else from AWS_ACCESS_KEY_ID and
AWS_SECRET_ACCESS_KEY, else from the file or profile that AWS_SHARED_CREDENTIALS_FILE or AWS_PROFILE
names, else from DIR/admin-credentials, which the first start of `berth server --auth sigv4` writes.
)";

void AddServerCallFlags(CLI::App& command, ServerCallSettings& settings) {
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
                  "An AWS credentials file with a key of the server's")
      ->type_name("FILE");
  command.add_option("--profile", settings.credentials.profile, "Its section")->type_name("NAME");
  command.add_option("--output", settings.output, "How to print the answer")
      ->check(CLI::IsMember({"table", "json"}))
      ->type_name("FORMAT")
      ->capture_default_str();
}

std::string Text(const Value& object, const char* name) {
  const auto member = object.FindMember(name);
  if (member == object.MemberEnd()) return "-";
  if (member->value.IsString()) return member->value.GetString();
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  member->value.Accept(writer);
  return buffer.GetString();
}

namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

agent::HttpResponse Exchange(const ServerCallSettings& settings, const std::string& method,
                             const std::string& path, const Headers& headers,
                             const std::string& body) {
  absl::StatusOr<agent::HttpAddress> address = agent::ParseHttpUrl(settings.server);
  if (!address.ok()) {
    throw UsageError(fmt::format("--server: {}", std::string(address.status().message())));
  }
  const std::optional<auth::Credentials> credentials =
      settings.may_be_unsigned ? LookForCredentials(settings.credentials)
                               : FindCredentials(settings.credentials);
  auth::HttpParts parts{.method = method, .target = address->path + path, .body = body};
  parts.headers.emplace_back("Host", agent::Authority(*address));
  parts.headers.insert(parts.headers.end(), headers.begin(), headers.end());

  agent::HttpRequest request{.method = method, .target = parts.target, .body = body};
  request.headers.assign(parts.headers.begin() + 1, parts.headers.end());  // Host is the client's
  if (credentials) {
    const auto signature = auth::Sign(parts, *credentials, kRegion, absl::Now());
    request.headers.insert(request.headers.end(), signature.begin(), signature.end());
  }
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
  return *std::move(response);
}

// The body of an answer, refusals included.
rapidjson::Document ReadBody(const ServerCallSettings& settings,
                             const agent::HttpResponse& response) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(response.body);
  if (document.HasParseError() || !document.IsObject()) {
    throw std::runtime_error(
        fmt::format("{} answered {} with no JSON object: is it a Berth server?", settings.server,
                    response.status));
  }
  return document;
}

[[noreturn]] void ThrowRefusal(const Value& answer) {
  throw std::runtime_error(fmt::format("{}: {}", Text(answer, "__type"), Text(answer, "message")));
}

}  // namespace

rapidjson::Document CallServer(const ServerCallSettings& settings, const std::string& method,
                               const std::string& path, const std::string& body) {
  Headers headers;
  if (!body.empty()) headers.emplace_back("Content-Type", "application/json");
  const agent::HttpResponse response = Exchange(settings, method, path, headers, body);
  rapidjson::Document answer = ReadBody(settings, response);
  if (response.status != 200) ThrowRefusal(answer);
  return answer;
}

rapidjson::Document CallAction(const ServerCallSettings& settings, const std::string& action,
                               const std::string& body) {
  const Headers headers = {{"Content-Type", "application/x-amz-json-1.1"},
                           {"X-Amz-Target", "AmazonEC2ContainerServiceV20141113." + action}};
  for (int attempt = 1;; ++attempt) {
    const agent::HttpResponse response = Exchange(settings, "POST", "/", headers, body);
    rapidjson::Document answer = ReadBody(settings, response);
    if (response.status == 200) return answer;
    const bool throttled = Text(answer, "__type").ends_with("ThrottlingException");
    if (!throttled || attempt == kThrottledAttemptsMax) ThrowRefusal(answer);
    std::this_thread::sleep_for(kThrottledPause);
  }
}

void PrintJson(const Value& value) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  value.Accept(writer);
  std::cout << buffer.GetString() << std::endl;
}

}  // namespace berth::cli
