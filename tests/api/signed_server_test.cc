// A whole server that asks for signatures: the first key, keys over HTTP, restarts, open paths.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <catch2/catch.hpp>
#include <rapidjson/document.h>

#include "absl/time/clock.h"
#include "api/server.h"
#include "auth/sigv4.h"
#include "storage/memory_store.h"
#include "tests/api/raw_client.h"

namespace berth::api {
namespace {

namespace fs = std::filesystem;

class SignedServer {
 public:
  SignedServer() {
    std::string name = (fs::temp_directory_path() / "berth-signed-XXXXXX").string();
    folder = ::mkdtemp(name.data());
    REQUIRE(Start() == absl::OkStatus());
    admin = AdminInFile();
  }
  ~SignedServer() {
    server.reset();
    fs::remove_all(folder);
  }

  absl::Status Start() {
    ServerSettings settings;
    settings.listen_port = 0;
    settings.auth = Auth::kSigV4;
    settings.data_dir = folder;
    settings.throttle = throttle;
    auto started = Server::Start(settings, store);
    if (!started.ok()) return started.status();
    server = *std::move(started);
    return absl::OkStatus();
  }
  auth::Credentials AdminInFile() const {
    std::ifstream file(fs::path(folder) / "admin-credentials");
    auth::Credentials credentials;
    for (std::string line; std::getline(file, line);) {
      const size_t equals = line.find(" = ");
      if (line.starts_with("aws_access_key_id"))
        credentials.access_key_id = line.substr(equals + 3);
      if (line.starts_with("aws_secret")) credentials.secret_access_key = line.substr(equals + 3);
    }
    return credentials;
  }

  RawResponse Send(const auth::Credentials& key, const std::string& method, const std::string& path,
                   const std::string& body, const std::string& action = "") {
    const std::string host = "127.0.0.1:" + std::to_string(server->port());
    auth::HttpParts parts{
        .method = method, .target = path, .headers = {{"Host", host}}, .body = body};
    if (!action.empty()) {
      parts.headers.emplace_back("X-Amz-Target", "AmazonEC2ContainerServiceV20141113." + action);
    }
    const auto added = auth::Sign(parts, key, "us-east-1", absl::Now());
    parts.headers.insert(parts.headers.end(), added.begin(), added.end());
    std::string text = method + " " + path + " HTTP/1.1\r\n";
    for (const auto& [name, value] : parts.headers) text += name + ": " + value + "\r\n";
    text += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    RawClient client(server->port());
    return client.Ask(text);
  }
  RawResponse Call(const auth::Credentials& key, const std::string& action,
                   const std::string& body = "{}") {
    return Send(key, "POST", "/", body, action);
  }
  // Of a call: "OK", or the error's type.
  std::string CodeOf(const RawResponse& response) {
    if (response.status == 200) return "OK";
    rapidjson::Document document;
    document.Parse(response.body.c_str());
    return document["__type"].GetString();
  }
  auth::Credentials Create(const std::string& members) {
    const RawResponse response = Send(admin, "POST", "/berth/v1/keys", "{" + members + "}");
    INFO(response.body);
    REQUIRE(response.status == 200);
    rapidjson::Document document;
    document.Parse(response.body.c_str());
    return {.access_key_id = document["accessKeyId"].GetString(),
            .secret_access_key = document["secretAccessKey"].GetString()};
  }

  std::string folder;
  ThrottleLimits throttle = {};
  storage::MemoryStore store;
  std::unique_ptr<Server> server;
  auth::Credentials admin;
};

}  // namespace

TEST_CASE("the first start makes an admin whose key works, and the next makes none", "[auth]") {
  SignedServer f;
  CHECK(f.CodeOf(f.Call(f.admin, "ListClusters")) == "OK");

  f.server.reset();
  REQUIRE(f.Start() == absl::OkStatus());

  CHECK(f.AdminInFile().access_key_id == f.admin.access_key_id);
  CHECK(f.CodeOf(f.Call(f.admin, "ListClusters")) == "OK");
}

TEST_CASE("when no admin is left the next start makes one", "[auth]") {
  SignedServer f;
  const auth::Credentials viewer = f.Create(R"("role":"viewer")");
  const std::string path = "/berth/v1/keys/" + f.admin.access_key_id;
  REQUIRE(f.CodeOf(f.Send(f.admin, "DELETE", path, "")) == "OK");
  CHECK(f.CodeOf(f.Call(f.admin, "ListClusters")) == "UnrecognizedClientException");

  f.server.reset();
  REQUIRE(f.Start() == absl::OkStatus());

  const auth::Credentials next = f.AdminInFile();
  CHECK(next.access_key_id != f.admin.access_key_id);
  CHECK(f.CodeOf(f.Call(next, "ListClusters")) == "OK");
  CHECK(f.CodeOf(f.Call(viewer, "ListClusters")) == "OK");
}

TEST_CASE("calls without a signature are refused before they are read", "[auth]") {
  SignedServer f;
  RawClient client(f.server->port());

  const RawResponse response = client.Ask(Call("NoSuchAction", "{"));

  CHECK(response.status == 400);
  CHECK(f.CodeOf(response) == "MissingAuthenticationTokenException");
  CHECK(response.headers.at("x-amzn-errortype") == "MissingAuthenticationTokenException");
}

TEST_CASE("keys over HTTP are checked as they are made", "[auth]") {
  SignedServer f;
  struct Case {
    std::string why, body, message;
  };
  const auto c = GENERATE(values<Case>({
      {"no JSON", "{", "the body is no JSON object"},
      {"no role", "{}", "role is ''; it must be admin, operator, viewer or agent"},
      {"another role", R"({"role":"root"})",
       "role is 'root'; it must be admin, operator, viewer or agent"},
      {"an unknown member", R"({"role":"viewer","name":"x"})",
       "name is not a member of a key; there are role, user and policy"},
      {"a user that could not stand in an ARN", R"({"role":"viewer","user":"a/b"})",
       "user must be 1 to 64 letters, digits and characters of _+=,.@-"},
      {"a policy that is none", R"({"role":"viewer","policy":{}})",
       "the policy cannot be used: it has no Statement"},
  }));
  INFO(c.why);

  const RawResponse response = f.Send(f.admin, "POST", "/berth/v1/keys", c.body);

  CHECK(response.status == 400);
  rapidjson::Document document;
  document.Parse(response.body.c_str());
  CHECK(document["message"].GetString() == c.message);
}

TEST_CASE("keys are listed newest last and without their secrets", "[auth]") {
  SignedServer f;
  const auth::Credentials key = f.Create(
      R"("role":"operator","user":"ci","policy":{"Statement":{"Effect":"Allow","Action":"*","Resource":"*"}})");

  const RawResponse response = f.Send(f.admin, "GET", "/berth/v1/keys", "");

  CHECK(response.headers.at("content-type") == "application/json");
  CHECK(response.body.find("ecret") == std::string::npos);
  rapidjson::Document document;
  document.Parse(response.body.c_str());
  REQUIRE(document["keys"].Size() == 2);
  CHECK(document["keys"][0]["accessKeyId"].GetString() == f.admin.access_key_id);
  const auto& listed = document["keys"][1];
  CHECK(listed["accessKeyId"].GetString() == key.access_key_id);
  CHECK(listed["user"].GetString() == std::string("ci"));
  CHECK(listed["status"].GetString() == std::string("ACTIVE"));
  CHECK(listed["policy"]["Statement"]["Effect"].GetString() == std::string("Allow"));
}

TEST_CASE("whoever may read may ask about placement, an agent may not", "[auth]") {
  SignedServer f;
  const auth::Credentials viewer = f.Create(R"("role":"viewer")");
  const auth::Credentials agent = f.Create(R"("role":"agent")");
  const auth::Credentials elsewhere =
      f.Create(R"("role":"viewer","policy":{"Statement":{"Effect":"Allow","Action":"ecs:Get*",)"
               R"("Resource":"arn:aws:ecs:us-east-1:000000000000:cluster/other"}})");
  const auto explain = [&](const auth::Credentials& key) {
    return f.CodeOf(f.Send(key, "POST", "/berth/v1/explain", R"({"group":"g"})"));
  };
  const auto plan = [&](const auth::Credentials& key) {
    return f.CodeOf(f.Send(key, "POST", "/berth/v1/plan", R"({"taskDefinition":"none"})"));
  };

  CHECK(explain(f.admin) == "OK");
  CHECK(explain(viewer) == "OK");
  CHECK(explain(agent) == "AccessDeniedException");
  CHECK(explain(elsewhere) == "AccessDeniedException");
  CHECK(explain({.access_key_id = "AKIANONE", .secret_access_key = "x"}) ==
        "UnrecognizedClientException");
  CHECK(plan(viewer) == "ClientException");  // it may ask, and there is no such definition
  CHECK(plan(agent) == "AccessDeniedException");
  CHECK(plan(elsewhere) == "AccessDeniedException");
}

TEST_CASE("paths of keys have their methods", "[auth]") {
  SignedServer f;

  const RawResponse put = f.Send(f.admin, "PUT", "/berth/v1/keys", "");
  CHECK(put.status == 405);
  CHECK(put.headers.at("allow") == "GET, POST");
  CHECK(f.Send(f.admin, "GET", "/berth/v1/keys/AKIA", "").headers.at("allow") == "DELETE");
  CHECK(f.CodeOf(f.Send(f.admin, "DELETE", "/berth/v1/keys/AKIANONE", "")) ==
        "ResourceNotFoundException");
  CHECK(f.Send(f.admin, "GET", "/berth/v1/keyses", "").status == 404);
}

TEST_CASE("a key file that others may read keeps the server from starting", "[auth]") {
  SignedServer f;
  f.server.reset();
  fs::permissions(fs::path(f.folder) / "secrets.key", fs::perms::others_read,
                  fs::perm_options::add);

  const absl::Status status = f.Start();

  CHECK(std::string(status.message()).find("has mode 0604") != std::string::npos);
}

TEST_CASE("throttled calls say so and are counted", "[auth]") {
  SignedServer f;
  f.server.reset();
  f.throttle.rates = {{{0.001, 1}, {0, 0}, {0, 0}}};
  REQUIRE(f.Start() == absl::OkStatus());

  CHECK(f.CodeOf(f.Call(f.admin, "CreateCluster")) == "OK");
  const RawResponse refused = f.Call(f.admin, "CreateCluster");
  CHECK(refused.status == 400);
  CHECK(refused.body == R"({"__type":"ThrottlingException","message":"Rate exceeded"})");
  CHECK(f.CodeOf(f.Call(f.admin, "ListClusters")) == "OK");
  RawClient client(f.server->port());
  CHECK(client.Ask(Get("/metrics")).body.find("berth_throttled_total{class=\"mutate\"} 1\n") !=
        std::string::npos);
}

TEST_CASE("without signatures there are no keys to make", "[auth]") {
  storage::MemoryStore store;
  ServerSettings settings;
  settings.listen_port = 0;
  auto server = Server::Start(settings, store);
  REQUIRE(server.ok());
  RawClient client((*server)->port());

  const RawResponse response = client.Ask(Post(R"({"role":"admin"})", "", "/berth/v1/keys"));

  CHECK(response.status == 400);
  CHECK(response.body.find("UnsupportedFeatureException") != std::string::npos);
}

TEST_CASE("signatures in the clear on an outside address have to be asked for", "[auth]") {
  storage::MemoryStore store;
  ServerSettings settings;
  settings.listen_host = "0.0.0.0";
  settings.listen_port = 0;
  settings.auth = Auth::kSigV4;
  settings.data_dir = "/nowhere";

  CHECK(std::string(Server::Start(settings, store).status().message()).find("--insecure-http") !=
        std::string::npos);
}

}  // namespace berth::api
