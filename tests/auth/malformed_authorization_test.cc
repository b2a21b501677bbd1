// Authorization headers that are none, or that claim what cannot be.
#include <string>

#include <catch2/catch.hpp>

#include "tests/auth/signed_request.h"

namespace berth::auth {

TEST_CASE("a malformed Authorization header is refused in words", "[verify]") {
  const std::string scope = "20260102/us-east-1/ecs/aws4_request";
  const std::string credential = "Credential=AKIA/" + scope;
  const std::string names = "SignedHeaders=content-type;host;x-amz-date;x-amz-target";
  const std::string signature = "Signature=" + std::string(64, 'a');
  const std::string twice =
      "' is not one of Credential=, SignedHeaders= and Signature=, each given once, in the "
      "Authorization header";
  struct Case {
    std::string why, header, verdict;
  };
  const std::string start = "AWS4-HMAC-SHA256 ";
  const std::string rest = ", " + names + ", " + signature;
  const auto c = GENERATE_COPY(values<Case>({
      {"another scheme", "Basic dXNlcjpwYXNz",
       "incomplete: the Authorization header must begin with 'AWS4-HMAC-SHA256 '"},
      {"another algorithm", "AWS4-ECDSA-P256-SHA256 " + credential + rest,
       "incomplete: the Authorization header must begin with 'AWS4-HMAC-SHA256 '"},
      {"the algorithm alone", "AWS4-HMAC-SHA256",
       "incomplete: the Authorization header must begin with 'AWS4-HMAC-SHA256 '"},
      {"no credential", start + names + ", " + signature,
       "incomplete: Authorization header requires 'Credential' parameter."},
      {"no signed headers", start + credential + ", " + signature,
       "incomplete: Authorization header requires 'SignedHeaders' parameter."},
      {"no signature", start + credential + ", " + names,
       "incomplete: Authorization header requires 'Signature' parameter."},
      {"a parameter twice", start + credential + ", " + credential + rest,
       "incomplete: '" + credential + twice},
      {"an unknown parameter", start + "X=1, " + credential + rest, "incomplete: 'X=1" + twice},
      {"nothing between commas", start + credential + ",," + names, "incomplete: '" + twice},
      {"too few parts of a credential", start + "Credential=AKIA/20260102/us-east-1/ecs" + rest,
       "incomplete: Credential must have exactly 5 slash-delimited elements, e.g. "
       "keyid/date/region/service/term, got 'AKIA/20260102/us-east-1/ecs'"},
      {"too many", start + credential + "/x" + rest,
       "incomplete: Credential must have exactly 5 slash-delimited elements, e.g. "
       "keyid/date/region/service/term, got 'AKIA/" +
           scope + "/x'"},
      {"no key id", start + "Credential=/" + scope + rest,
       "incomplete: the access key id in Credential is not made of letters and digits"},
      {"a key id with a line break in it", start + "Credential=A\x01/" + scope + rest,
       "incomplete: the access key id in Credential is not made of letters and digits"},
      {"a key id that is too long",
       start + "Credential=" + std::string(129, 'A') + "/" + scope + rest,
       "incomplete: the access key id in Credential is not made of letters and digits"},
      {"no date", start + "Credential=AKIA/2026-1-2/us-east-1/ecs/aws4_request" + rest,
       "incomplete: the date in Credential is no YYYYMMDD, got '2026-1-2'"},
      {"no region", start + "Credential=AKIA/20260102//ecs/aws4_request" + rest,
       "invalid: Credential should be scoped to a valid region."},
      {"a region of other characters",
       start + "Credential=AKIA/20260102/us east/ecs/aws4_request" + rest,
       "invalid: Credential should be scoped to a valid region."},
      {"another service", start + "Credential=AKIA/20260102/us-east-1/s3/aws4_request" + rest,
       "invalid: Credential should be scoped to correct service: 'ecs'."},
      {"another terminator", start + "Credential=AKIA/20260102/us-east-1/ecs/aws5_request" + rest,
       "invalid: Credential should be scoped with a valid terminator: 'aws4_request'."},
      {"headers out of order", start + credential + ", SignedHeaders=x-amz-date;host, " + signature,
       "incomplete: SignedHeaders must name headers in lower case, sorted, each once, separated by "
       "';'"},
      {"a header twice", start + credential + ", SignedHeaders=host;host, " + signature,
       "incomplete: SignedHeaders must name headers in lower case, sorted, each once, separated by "
       "';'"},
      {"upper case", start + credential + ", SignedHeaders=Host, " + signature,
       "incomplete: SignedHeaders must name headers in lower case, sorted, each once, separated by "
       "';'"},
      {"an empty name", start + credential + ", SignedHeaders=;host, " + signature,
       "incomplete: SignedHeaders must name headers in lower case, sorted, each once, separated by "
       "';'"},
      {"a short signature", start + credential + ", " + names + ", Signature=abc",
       "incomplete: Signature is not 64 hexadecimal digits in lower case"},
      {"a signature in upper case",
       start + credential + ", " + names + ", Signature=" + std::string(64, 'A'),
       "incomplete: Signature is not 64 hexadecimal digits in lower case"},
      {"a header that is too long", start + std::string(kAuthorizationBytesMax, 'x'),
       "incomplete: the Authorization header is longer than 4096 bytes"},
      {"the date of another day",
       start + "Credential=AKIA/20260103/us-east-1/ecs/aws4_request" + rest,
       "invalid: Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date "
       "from HTTP: '20260103' != '20260102', from '20260102T030405Z'."},
  }));
  INFO(c.why);
  HttpParts request = Signed(Call());

  HeaderOf(request, "Authorization") = c.header;

  CHECK(Verdict(request) == c.verdict);
}

TEST_CASE("the number of signed headers is limited", "[verify]") {
  const auto with = [](size_t headers) {
    HttpParts request{.method = "GET", .target = "/", .headers = {{"Host", "h"}}};
    // x-amz-date and host are two more.
    for (size_t i = 2; i < headers; ++i) {
      request.headers.emplace_back("h" + std::to_string(100 + i), "v");
    }
    return Signed(request);
  };

  CHECK(Verdict(with(kSignedHeadersMax)) == "fine");
  CHECK(Verdict(with(kSignedHeadersMax + 1)) ==
        "incomplete: SignedHeaders names more than 64 headers");
}

TEST_CASE("without an Authorization header there is no token", "[verify]") {
  CHECK(Verdict(Call()) == "missing: Missing Authentication Token");
  HttpParts request = Signed(Call());
  HeaderOf(request, "Authorization") = "  ";
  CHECK(Verdict(request) == "missing: Missing Authentication Token");
}

TEST_CASE("headers that decide something may not come twice", "[verify]") {
  for (const std::string name :
       {"Authorization", "Host", "X-Amz-Date", "x-amz-target", "Date", "X-AMZ-SECURITY-TOKEN"}) {
    INFO(name);
    HttpParts request = Signed(Call());
    request.headers.emplace_back(name, "x");
    request.headers.emplace_back(name, "x");
    std::string lower = name;
    std::transform(lower.begin(), lower.end(), lower.begin(), ::tolower);
    CHECK(Verdict(request) == "incomplete: the header " + lower + " is given more than once");
  }
}

TEST_CASE("a date that is none is refused", "[verify]") {
  for (const std::string date : {"2026-01-02T03:04:05Z", "20260102T030405", "20261302T030405Z",
                                 "20260102T030405ZZ", "20260102T030460Z"}) {
    HttpParts request = Signed(Call());
    HeaderOf(request, "X-Amz-Date") = date;
    CHECK(Verdict(request) == "incomplete: Date must be in ISO-8601 'basic format'. Got '" + date +
                                  "'. See http://en.wikipedia.org/wiki/ISO_8601");
  }
}

}  // namespace berth::auth
