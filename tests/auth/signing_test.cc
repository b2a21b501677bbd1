// Signing, against the published test suite of Signature Version 4 (get-vanilla and the like) and
// against what botocore made of requests of ours.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "auth/canonical_request.h"
#include "auth/hmac.h"
#include "auth/sigv4.h"

namespace berth::auth {
namespace {

using Headers = std::vector<Header>;

struct Vector {
  std::string name;
  std::string method;
  std::string target;
  Headers headers;  // besides host and x-amz-date
  std::string body;
  std::string signature;
};

TEST_CASE("the published vectors of Signature Version 4 come out", "[sigv4]") {
  const auto vector = GENERATE(values<Vector>({
      {"get-vanilla",
       "GET",
       "/",
       {},
       "",
       "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
      {"get-vanilla-query-order-key-case",
       "GET",
       "/?Param2=value2&Param1=value1",
       {},
       "",
       "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
      {"get-unreserved",
       "GET",
       "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
       {},
       "",
       "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"},
      {"get-relative-relative",
       "GET",
       "/example1/example2/../..",
       {},
       "",
       "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
      {"get-slashes",
       "GET",
       "//example//",
       {},
       "",
       "9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84"},
      {"get-utf8",
       "GET",
       "/\xE1\x88\xB4",
       {},
       "",
       "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
      {"get-header-value-trim",
       "GET",
       "/",
       {{"My-Header1", " value1"}, {"My-Header2", " \"a   b   c\""}},
       "",
       "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"},
      {"get-header-key-duplicate",
       "GET",
       "/",
       {{"My-Header1", "value2"}, {"My-Header1", "value2"}, {"My-Header1", "value1"}},
       "",
       "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"},
      {"post-vanilla",
       "POST",
       "/",
       {},
       "",
       "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
      {"post-x-www-form-urlencoded",
       "POST",
       "/",
       {{"Content-Type", "application/x-www-form-urlencoded"}},
       "Param1=value1",
       "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
  }));
  INFO(vector.name);
  Headers headers = vector.headers;
  headers.emplace_back("Host", "example.amazonaws.com");
  headers.emplace_back("X-Amz-Date", "20150830T123600Z");
  const Headers canonical = CanonicalHeaders(headers);
  const Scope scope{.date = "20150830", .region = "us-east-1", .service = "service"};

  const std::string request = CanonicalRequest({.method = vector.method,
                                                .target = vector.target,
                                                .headers = canonical,
                                                .payload_hash = Sha256Hex(vector.body)});
  const std::string signature =
      Signature(DeriveSigningKey("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", scope),
                StringToSign("20150830T123600Z", scope, request));

  CHECK(signature == vector.signature);
}

TEST_CASE("requests to Berth are signed as botocore signs them", "[sigv4]") {
  const Headers call = {{"Host", "127.0.0.1:8080"},
                        {"Content-Type", "application/x-amz-json-1.1"},
                        {"X-Amz-Target", "AmazonEC2ContainerServiceV20141113.ListTasks"}};
  struct Case {
    std::string why;
    HttpParts request;
    std::string region;
    std::string token;
    std::string signed_headers;
    std::string signature;
  };
  const auto c = GENERATE_REF(values<Case>({
      {"a call",
       {"POST", "/", call, R"({"cluster":"default"})"},
       "eu-west-3",
       "",
       "content-type;host;x-amz-date;x-amz-target",
       "63c17502c628c9f1b03a864d03d006d5dea1339c730412ac1bf51af53a39d0dc"},
      {"with a session token",
       {"POST", "/", call, "{}"},
       "eu-west-3",
       "to/ken+",
       "content-type;host;x-amz-date;x-amz-security-token;x-amz-target",
       "cf8437e95686c01b70c42d50b4f347aaee107b8102d9bd9c6b1a52d02b3a5b35"},
      {"an agent's handshake",
       {"GET",
        "/acs/ws?agentHash=1a2b&clusterArn=default&dockerVersion=DockerVersion%3A%2020.10.24"
        "&protocolVersion=2",
        {{"Host", "127.0.0.1:8080"}},
        ""},
       "us-east-1",
       "",
       "host;x-amz-date",
       "228515d2613eab5860c59a1480b38c43a0b1052111d4edb69e4cd7a3f5dc79ec"},
      {"the same with a plus for the blank, as the agent sends it",
       {"GET",
        "/acs/ws?agentHash=1a2b&clusterArn=default&dockerVersion=DockerVersion%3A+20.10.24"
        "&protocolVersion=2",
        {{"Host", "127.0.0.1:8080"}},
        ""},
       "us-east-1",
       "",
       "host;x-amz-date",
       "228515d2613eab5860c59a1480b38c43a0b1052111d4edb69e4cd7a3f5dc79ec"},
      {"a path that was encoded",
       {"DELETE", "/berth/v1/keys/a%20b", {{"Host", "127.0.0.1:8080"}}, ""},
       "us-east-1",
       "",
       "host;x-amz-date",
       "2485228ac10489114c2f8ac84dbded030eb196c6059b8eebd4074f9a8916537f"},
  }));
  INFO(c.why);
  const Credentials credentials{.access_key_id = "AKIABERTHTESTKEY2345",
                                .secret_access_key = "secretsecretsecretsecretsecretsecret1234",
                                .session_token = c.token};
  const absl::Time now =
      absl::FromCivil(absl::CivilSecond(2026, 1, 2, 3, 4, 5), absl::UTCTimeZone());

  const Headers added = Sign(c.request, credentials, c.region, now);

  Headers expected = {{"X-Amz-Date", "20260102T030405Z"}};
  if (!c.token.empty()) expected.emplace_back("X-Amz-Security-Token", c.token);
  expected.emplace_back("Authorization",
                        "AWS4-HMAC-SHA256 Credential=AKIABERTHTESTKEY2345/20260102/" + c.region +
                            "/ecs/aws4_request, SignedHeaders=" + c.signed_headers +
                            ", Signature=" + c.signature);
  CHECK(added == expected);
}

TEST_CASE("a query is signed decoded, encoded anew and sorted", "[sigv4]") {
  struct Case {
    std::string why, query, canonical;
  };
  const auto c = GENERATE(values<Case>({
      {"empty", "", ""},
      {"a name alone", "a", "a="},
      {"sorted by name, then by value", "b=2&a=2&a=1", "a=1&a=2&b=2"},
      {"a real plus stays one", "v=1%2B2", "v=1%2B2"},
      {"lower-case hex becomes upper-case", "v=%c3%a9", "v=%C3%A9"},
      {"a slash is encoded", "arn=a/b:c", "arn=a%2Fb%3Ac"},
      {"a broken escape stands for itself", "v=%zz%2", "v=%25zz%252"},
      {"empty members fall away", "&&a=1&", "a=1"},
      {"an equals sign in a value", "a==b", "a=%3Db"},
  }));
  INFO(c.why);

  CHECK(CanonicalQuery(c.query) == c.canonical);
}

}  // namespace
}  // namespace berth::auth
