// Which requests pass the check, and in which words the others are refused (ecs-api.md 1.4).
#include <functional>
#include <string>

#include <catch2/catch.hpp>

#include "auth/hmac.h"
#include "tests/auth/signed_request.h"

namespace berth::auth {
namespace {

constexpr char kMismatch[] =
    "invalid: The request signature we calculated does not match the signature you provided. Check "
    "your AWS Secret Access Key and signing method. Consult the service documentation for details.";

using Change = std::function<void(HttpParts&)>;

}  // namespace

TEST_CASE("a request passes as its client signed it", "[verify]") {
  CHECK(Verdict(Signed(Call())) == "fine");
  CHECK(Verdict(Signed(Call(), kNow, kKey, "eu-west-3")) == "fine");

  SECTION("again within the window, as the algorithm has it") {
    const HttpParts request = Signed(Call());
    CHECK(Verdict(request) == "fine");
    CHECK(Verdict(request, kNow + absl::Minutes(4)) == "fine");
  }
  SECTION("with a body of any bytes, and with none") {
    HttpParts request = Call();
    request.body = std::string("\0\xFF{", 3);
    CHECK(Verdict(Signed(request)) == "fine");
    request.body.clear();
    CHECK(Verdict(Signed(request)) == "fine");
  }
  SECTION("with the payload's hash among the headers") {
    HttpParts request = Call();
    request.headers.emplace_back("x-amz-content-sha256", Sha256Hex(request.body));
    CHECK(Verdict(Signed(request)) == "fine");
  }
  SECTION("with headers that a proxy added and nobody signed") {
    HttpParts request = Signed(Call());
    request.headers.emplace_back("X-Forwarded-For", "192.0.2.1");
    request.headers.emplace_back("X-Amzn-Trace-Id", "Root=1-2-3");
    CHECK(Verdict(request) == "fine");
  }
  SECTION("with header names in any spelling and more blanks in a value") {
    HttpParts request = Signed(Call());
    for (auto& [name, value] : request.headers) {
      if (name == "X-Amz-Target") name = "x-AMZ-target";
      if (name == "Content-Type") value = "  " + value + " ";
    }
    CHECK(Verdict(request) == "fine");
  }
  SECTION("an agent's handshake, whose blank became a plus on the way") {
    HttpParts request{.method = "GET",
                      .target = "/acs/ws?clusterArn=default&dockerVersion=DockerVersion%3A%2020.1",
                      .headers = {{"Host", "127.0.0.1:8080"}}};
    request = Signed(request);
    request.target = "/acs/ws?clusterArn=default&dockerVersion=DockerVersion%3A+20.1";
    CHECK(Verdict(request) == "fine");
  }
}

TEST_CASE("what was changed after signing is refused", "[verify]") {
  struct Case {
    std::string why;
    Change change;
    std::string verdict;
  };
  const auto c = GENERATE(values<Case>({
      {"the body", [](HttpParts& r) { r.body = "{ }"; }, kMismatch},
      {"the body, to nothing", [](HttpParts& r) { r.body.clear(); }, kMismatch},
      {"the method", [](HttpParts& r) { r.method = "GET"; }, kMismatch},
      {"the path", [](HttpParts& r) { r.target = "/x"; }, kMismatch},
      {"the query", [](HttpParts& r) { r.target = "/?a=b"; }, kMismatch},
      {"the action", [](HttpParts& r) { Edit(r, "X-Amz-Target", "ListTasks", "StopTask"); },
       kMismatch},
      {"the host", [](HttpParts& r) { HeaderOf(r, "Host") = "127.0.0.1:8081"; }, kMismatch},
      {"the date", [](HttpParts& r) { HeaderOf(r, "X-Amz-Date") = "20260102T030406Z"; }, kMismatch},
      {"the content type", [](HttpParts& r) { HeaderOf(r, "Content-Type") = "text/plain"; },
       kMismatch},
      {"a signed header is gone", [](HttpParts& r) { Remove(r, "Content-Type"); }, kMismatch},
      {"a signed header has become two",
       [](HttpParts& r) { r.headers.emplace_back("Content-Type", "x"); }, kMismatch},
      {"the region of the scope",
       [](HttpParts& r) { Edit(r, "Authorization", "us-east-1", "us-east-2"); }, kMismatch},
      {"the key id",
       [](HttpParts& r) { Edit(r, "Authorization", "AKIABERTHTESTKEY2345/", "AKIAOTHER/"); },
       "fine"},
      {"the signature's first digit",
       [](HttpParts& r) {
         char& digit = HeaderOf(r, "Authorization")[HeaderOf(r, "Authorization").size() - 64];
         digit = digit == '0' ? '1' : '0';
       },
       kMismatch},
      {"the signature's last digit",
       [](HttpParts& r) {
         char& digit = HeaderOf(r, "Authorization").back();
         digit = digit == '0' ? '1' : '0';
       },
       kMismatch},
  }));
  INFO(c.why);
  HttpParts request = Signed(Call());

  c.change(request);

  // The secret is looked up by the key's id, which is why that may differ here.
  CHECK(Verdict(request) == c.verdict);
}

TEST_CASE("a clock may be off by five minutes and no more", "[verify]") {
  const HttpParts request = Signed(Call());

  CHECK(Verdict(request, kNow + absl::Minutes(5)) == "fine");
  CHECK(Verdict(request, kNow - absl::Minutes(5)) == "fine");
  CHECK(Verdict(request, kNow + absl::Minutes(5) + absl::Seconds(1)) ==
        "invalid: Signature expired: 20260102T030405Z is now earlier than 20260102T030406Z "
        "(20260102T030906Z - 5 min.)");
  CHECK(Verdict(request, kNow - absl::Minutes(5) - absl::Seconds(1)) ==
        "invalid: Signature not yet current: 20260102T030405Z is still later than "
        "20260102T030404Z (20260102T025904Z + 5 min.)");
}

TEST_CASE("a request without X-Amz-Date may have a Date", "[verify]") {
  // Signed by hand, as no client of ours does so.
  HttpParts request = Call();
  request.headers.emplace_back("Date", "Fri, 02 Jan 2026 03:04:05 GMT");
  const auto headers = CanonicalHeaders(request.headers);
  const Scope scope{.date = "20260102", .region = "us-east-1"};
  const std::string canonical = CanonicalRequest({.method = request.method,
                                                  .target = request.target,
                                                  .headers = headers,
                                                  .payload_hash = Sha256Hex(request.body)});
  const std::string signature = Signature(DeriveSigningKey(kKey.secret_access_key, scope),
                                          StringToSign("20260102T030405Z", scope, canonical));
  request.headers.emplace_back(
      "Authorization", "AWS4-HMAC-SHA256 Credential=" + kKey.access_key_id + "/" +
                           scope.ToString() + ", SignedHeaders=" + SignedHeaderNames(headers) +
                           ", Signature=" + signature);

  CHECK(Verdict(request) == "fine");
  HeaderOf(request, "Date") = "Fri, 02 Jan 2026 03:04:06 GMT";
  CHECK(Verdict(request) == kMismatch);
  HeaderOf(request, "Date") = "yesterday";
  CHECK(Verdict(request) ==
        "incomplete: the Date header is neither an HTTP date nor YYYYMMDD'T'HHMMSS'Z'");
  Remove(request, "Date");
  CHECK(Verdict(request) ==
        "incomplete: Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' "
        "header.");
}

TEST_CASE("what matters has to be signed", "[verify]") {
  const auto without = [](const std::string& name, const std::string& value = "x") {
    HttpParts request = Signed(Call());
    request.headers.emplace_back(name, value);
    return request;
  };
  HttpParts request = Call();
  Remove(request, "Host");
  request = Signed(request);
  request.headers.emplace_back("Host", "127.0.0.1:8080");
  CHECK(Verdict(request) == "invalid: 'Host' must be a 'SignedHeader' in the AWS Authorization.");

  request = Call();
  Remove(request, "X-Amz-Target");
  request = Signed(request);
  request.headers.emplace_back("X-Amz-Target", "AmazonEC2ContainerServiceV20141113.StopTask");
  CHECK(Verdict(request) ==
        "invalid: 'x-amz-target' must be a 'SignedHeader' in the AWS Authorization.");

  CHECK(Verdict(without("X-Amz-Security-Token")) ==
        "invalid: 'x-amz-security-token' must be a 'SignedHeader' in the AWS Authorization.");
  CHECK(Verdict(without("x-amz-content-sha256", Sha256Hex("{}"))) ==
        "invalid: 'x-amz-content-sha256' must be a 'SignedHeader' in the AWS Authorization.");
  request = Signed(Call());
  Edit(request, "Authorization", ";x-amz-date", "");
  CHECK(Verdict(request) ==
        "invalid: 'x-amz-date' must be a 'SignedHeader' in the AWS Authorization.");
}

TEST_CASE("the payload is hashed here, whatever its sender says of it", "[verify]") {
  const auto with_hash = [](const std::string& hash) {
    HttpParts request = Call();
    request.headers.emplace_back("x-amz-content-sha256", hash);
    return Signed(request);
  };

  CHECK(Verdict(with_hash(Sha256Hex("{ }"))) == kMismatch);
  CHECK(Verdict(with_hash("UNSIGNED-PAYLOAD")) ==
        "invalid: x-amz-content-sha256 is UNSIGNED-PAYLOAD; the body has to be signed: give its "
        "SHA-256");
  CHECK(Verdict(with_hash("STREAMING-AWS4-HMAC-SHA256-PAYLOAD")) == kMismatch);
}

TEST_CASE("a key that is not there is refused as AWS does it", "[verify]") {
  constexpr char kUnrecognized[] =
      "unrecognized: The security token included in the request is invalid.";

  CHECK(Verdict(Signed(Call()), kNow, nullptr) == kUnrecognized);

  SECTION("even when it is signed with what stands in for the missing secret") {
    Credentials guess = kKey;
    guess.secret_access_key = std::string(40, '0');
    CHECK(Verdict(Signed(Call(), kNow, guess), kNow, nullptr) == kUnrecognized);
    CHECK(Verdict(Signed(Call(), kNow, guess)) == kMismatch);
  }
  SECTION("and so is a session token, as keys of ours have none") {
    Credentials token = kKey;
    token.session_token = "token";
    CHECK(Verdict(Signed(Call(), kNow, token)) == kUnrecognized);
  }
}

TEST_CASE("a wrong secret is refused, before and after the right one was used", "[verify]") {
  Credentials wrong = kKey;
  wrong.secret_access_key.back() = '5';

  CHECK(Verdict(Signed(Call(), kNow, wrong)) == kMismatch);
  CHECK(Verdict(Signed(Call())) == "fine");
  CHECK(Verdict(Signed(Call(), kNow, wrong)) == kMismatch);
}

TEST_CASE("a signing key that was forgotten is not used again", "[verify]") {
  const HttpParts request = Signed(Call());
  const auto read =
      ReadClaim({request.method, request.target, request.headers, request.body}, kNow);
  const Claim claim = std::get<Claim>(read);
  SigningKeys keys;
  const std::string other = "another secret";

  REQUIRE(keys.Matches(claim, kKey.secret_access_key));
  keys.Forget(claim.access_key_id);

  CHECK_FALSE(keys.Matches(claim, other));
  CHECK(keys.Matches(claim, kKey.secret_access_key));
}

}  // namespace berth::auth
