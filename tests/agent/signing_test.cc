// How the agent signs, whose key it takes, and what it says when it is refused.
#include <filesystem>

#include <catch2/catch.hpp>

#include "absl/time/clock.h"
#include "agent/credentials.h"
#include "auth/verify.h"
#include "tests/agent/agent_under_test.h"

namespace berth::agent {
namespace {

using testing::AgentUnderTest;
using testing::ApiRequest;
using testing::FakeServer;

const auth::Credentials kKey{.access_key_id = "AKIA2345ABCDEFGHIJKL",
                             .secret_access_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"};

constexpr char kFile[] = R"(# a comment
[default]
aws_access_key_id = AKIAFIRST
aws_secret_access_key=first-secret

[profile other]
aws_access_key_id = AKIAOTHER
aws_secret_access_key = other-secret
aws_session_token = token==

[incomplete]
aws_access_key_id = AKIALONE
)";

// Empty, or what is wrong with the signature at that time.
std::string Check(const ApiRequest& request, const auth::Credentials& key,
                  absl::Time now = absl::Now()) {
  std::vector<auth::Header> headers(request.headers.begin(), request.headers.end());
  const auth::ReceivedRequest received{
      .method = request.method, .target = request.target, .headers = headers, .body = request.body};
  const auto claim = auth::ReadClaim(received, now);
  if (const auto* refusal = std::get_if<auth::Refusal>(&claim)) return refusal->message;
  if (std::get<auth::Claim>(claim).access_key_id != key.access_key_id) return "another key";
  auth::SigningKeys keys;
  const auto checked = auth::CheckClaim(std::get<auth::Claim>(claim), &key.secret_access_key, keys);
  const auto* refusal = std::get_if<auth::Refusal>(&checked);
  return refusal == nullptr ? "" : refusal->message;
}

bool IsSigned(const ApiRequest& request) {
  for (const auto& [name, value] : request.headers) {
    if (name == "Authorization") return true;
  }
  return false;
}

std::string HttpDate(absl::Time time) {
  return absl::FormatTime("%a, %d %b %Y %H:%M:%S GMT", time, absl::UTCTimeZone());
}

std::string Error(const std::string& type, const std::string& message) {
  return "{\"__type\":\"" + type + "\",\"message\":\"" + message + "\"}";
}

TEST_CASE("every call and the channel's handshake carry a signature that is right",
          "[agent][signing]") {
  FakeServer server;
  AgentUnderTest agent(server);
  agent.settings.credentials = kKey;
  agent.settings.region = "eu-central-1";

  agent.Start();

  REQUIRE(server.Eventually([&] { return server.Handshakes().size() == 1; }));
  for (const ApiRequest& call : server.Calls("")) {
    INFO(call.action);
    CHECK(Check(call, kKey) == "");
  }
  CHECK(Check(server.HandshakeRequests()[0], kKey) == "");
  auth::Credentials wrong = kKey;
  wrong.secret_access_key = "another";
  CHECK(Check(server.HandshakeRequests()[0], wrong) != "");
}

TEST_CASE("without credentials nothing is signed", "[agent][signing]") {
  FakeServer server;
  AgentUnderTest agent(server);

  agent.Start();

  REQUIRE(server.Eventually([&] { return server.Handshakes().size() == 1; }));
  CHECK_FALSE(IsSigned(server.Calls("RegisterContainerInstance")[0]));
  CHECK_FALSE(IsSigned(server.HandshakeRequests()[0]));
}

TEST_CASE("credentials are found in a file by their profile", "[agent][signing]") {
  const auto first = ParseCredentials(kFile, "default");
  REQUIRE(first.ok());
  CHECK(first->access_key_id == "AKIAFIRST");
  CHECK(first->secret_access_key == "first-secret");
  CHECK(first->session_token.empty());

  const auto other = ParseCredentials(kFile, "other");
  REQUIRE(other.ok());
  CHECK(other->secret_access_key == "other-secret");
  CHECK(other->session_token == "token==");
}

TEST_CASE("a credentials file that lacks something says what", "[agent][signing]") {
  CHECK(ParseCredentials(kFile, "absent").status().message() == "there is no section [absent]");
  CHECK(ParseCredentials("", "default").status().message() == "there is no section [default]");
  CHECK(ParseCredentials(kFile, "incomplete").status().message() ==
        "section [incomplete] has no aws_secret_access_key");
}

TEST_CASE("a credentials file is read again when it changes, and kept when it is spoiled",
          "[agent][signing]") {
  const testing::TempDir folder;
  const std::string path = folder.path() + "/credentials";
  const auto write = [&](const std::string& text) {
    std::ofstream(path + ".new") << text;
    std::filesystem::rename(path + ".new", path);
  };
  write("[default]\naws_access_key_id = A\naws_secret_access_key = a\n");
  const auto source = CredentialSource::FromFile(path, "default");
  REQUIRE(source.ok());
  CHECK((*source)->Current().access_key_id == "A");

  write("[default]\naws_access_key_id = B\naws_secret_access_key = b\n");
  CHECK((*source)->Current().access_key_id == "B");
  write("nothing of use");
  CHECK((*source)->Current().access_key_id == "B");
  std::filesystem::remove(path);
  CHECK((*source)->Current().access_key_id == "B");
}

TEST_CASE("a refused key ends the registration with what to do about it", "[agent][signing]") {
  struct Case {
    std::string type;
    bool has_key;
    std::string advice;
  };
  const auto c = GENERATE(values<Case>({
      {"MissingAuthenticationTokenException", false, "give --credentials FILE"},
      {"UnrecognizedClientException", true, "the server has no key AKIA2345ABCDEFGHIJKL"},
      {"InvalidSignatureException", true, "is not the one that the server has"},
      {"AccessDeniedException", true, "an agent needs a key of role agent"},
  }));
  INFO(c.type);
  FakeServer server;
  server.AnswerNext("RegisterContainerInstance", 400, Error(c.type, "refused"));
  AgentUnderTest agent(server);
  if (c.has_key) agent.settings.credentials = kKey;

  agent.Start();
  const AgentExit exit = agent.WaitForExit();

  CHECK(exit.code == 1);
  CHECK_THAT(exit.reason, Catch::Contains(c.type) && Catch::Contains(c.advice));
  CHECK(server.Calls("RegisterContainerInstance").size() == 1);
}

TEST_CASE("a refusal after the registration is tried again, for a key may be mended",
          "[agent][signing]") {
  FakeServer server;
  server.AnswerNext("DiscoverPollEndpoint", 400, Error("AccessDeniedException", "no"));
  server.RefuseNextHandshake(
      400, "{\"type\":\"AccessDeniedException\",\"message\":{\"message\":\"no\"}}");
  AgentUnderTest agent(server);
  agent.settings.credentials = kKey;

  agent.Start();

  CHECK(server.Eventually([&] { return server.Handshakes().size() == 2; }));
  CHECK(server.Calls("DiscoverPollEndpoint").size() >= 2);
}

TEST_CASE("a clock that is wrong is allowed for, by the server's Date", "[agent][signing]") {
  const absl::Duration off = GENERATE(absl::Hours(2), -absl::Hours(2));
  INFO(absl::FormatDuration(off));
  FakeServer server;
  server.SetDate(HttpDate(absl::Now() + off));
  server.AnswerNext("RegisterContainerInstance", 400,
                    Error("InvalidSignatureException",
                          off > absl::ZeroDuration() ? "Signature expired: 1 is now earlier than 2"
                                                     : "Signature not yet current: 2 is still"));
  AgentUnderTest agent(server);
  agent.settings.credentials = kKey;

  agent.Start();

  REQUIRE(server.Eventually([&] { return server.Handshakes().size() == 1; }));
  const auto calls = server.Calls("RegisterContainerInstance");
  REQUIRE(calls.size() == 2);
  CHECK(Check(calls[0], kKey) == "");
  CHECK(Check(calls[1], kKey, absl::Now() + off) == "");
  CHECK(Check(server.HandshakeRequests()[0], kKey, absl::Now() + off) == "");
}

TEST_CASE("an expired signature is no clock's fault when the server's Date is ours",
          "[agent][signing]") {
  FakeServer server;
  server.SetDate(HttpDate(absl::Now()));
  server.AnswerNext("RegisterContainerInstance", 400,
                    Error("InvalidSignatureException", "Signature expired: 1"));
  AgentUnderTest agent(server);
  agent.settings.credentials = kKey;

  agent.Start();

  CHECK(agent.WaitForExit().code == 1);
  CHECK(server.Calls("RegisterContainerInstance").size() == 1);
}

}  // namespace
}  // namespace berth::agent
