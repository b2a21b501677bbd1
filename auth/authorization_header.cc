#include "auth/authorization_header.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace berth::auth {
namespace {

constexpr size_t kSignatureDigits = 64;
constexpr size_t kScopeParts = 5;  // key id/date/region/service/aws4_request
constexpr size_t kDateDigits = 8;
// So much of what was sent is quoted back.
constexpr size_t kQuotedMax = 128;

Refusal Incomplete(std::string message) {
  return {.problem = Problem::kIncompleteSignature, .message = std::move(message)};
}
Refusal Wrong(std::string message) {
  return {.problem = Problem::kInvalidSignature, .message = std::move(message)};
}

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHexDigit(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f'); }
bool IsLowerOrDigit(char c) { return IsDigit(c) || (c >= 'a' && c <= 'z'); }
bool IsKeyIdCharacter(char c) { return IsLowerOrDigit(c) || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsRegionCharacter(char c) { return IsLowerOrDigit(c) || c == '-'; }
// What a header's name may consist of (RFC 9110), in lower case.
bool IsNameCharacter(char c) {
  return IsLowerOrDigit(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

template <class Predicate>
bool ConsistsOf(std::string_view text, Predicate predicate) {
  return !text.empty() && std::all_of(text.begin(), text.end(), predicate);
}

// Credential, SignedHeaders and Signature, each at most once, in any order.
struct Parameters {
  std::string_view credential;
  std::string_view signed_headers;
  std::string_view signature;
};

std::variant<Parameters, Refusal> SplitParameters(std::string_view header) {
  constexpr std::string_view kName = kAlgorithm;
  if (!header.starts_with(kName) || header.size() == kName.size() ||
      (header[kName.size()] != ' ' && header[kName.size()] != '\t')) {
    return Incomplete(absl::StrFormat("the Authorization header must begin with '%s '", kName));
  }
  Parameters parameters;
  for (const std::string_view part : Split(header.substr(kName.size() + 1), ',')) {
    const std::string_view text = Trimmed(part);
    const size_t equals = std::min(text.find('='), text.size());
    const std::string_view name = text.substr(0, equals);
    std::string_view* target = name == "Credential"      ? &parameters.credential
                               : name == "SignedHeaders" ? &parameters.signed_headers
                               : name == "Signature"     ? &parameters.signature
                                                         : nullptr;
    if (target == nullptr || equals == text.size() || !target->empty()) {
      return Incomplete(
          absl::StrFormat("'%s' is not one of Credential=, SignedHeaders= and Signature=, each "
                          "given once, in the Authorization header",
                          text.substr(0, kQuotedMax)));
    }
    *target = text.substr(equals + 1);
  }
  const auto missing = [](const char* name) {
    return Incomplete(absl::StrFormat("Authorization header requires '%s' parameter.", name));
  };
  if (parameters.credential.empty()) return missing("Credential");
  if (parameters.signed_headers.empty()) return missing("SignedHeaders");
  if (parameters.signature.empty()) return missing("Signature");
  return parameters;
}

std::variant<Authorization, Refusal> ReadCredential(std::string_view credential) {
  const std::vector<std::string_view> parts = Split(credential, '/');
  if (parts.size() != kScopeParts) {
    return Incomplete(
        absl::StrFormat("Credential must have exactly 5 slash-delimited elements, e.g. "
                        "keyid/date/region/service/term, got '%s'",
                        credential.substr(0, kQuotedMax)));
  }
  if (!ConsistsOf(parts[0], IsKeyIdCharacter) || parts[0].size() > kAccessKeyIdBytesMax) {
    return Incomplete("the access key id in Credential is not made of letters and digits");
  }
  if (!ConsistsOf(parts[1], IsDigit) || parts[1].size() != kDateDigits) {
    return Incomplete(absl::StrFormat("the date in Credential is no YYYYMMDD, got '%s'",
                                      parts[1].substr(0, kQuotedMax)));
  }
  if (!ConsistsOf(parts[2], IsRegionCharacter) || parts[2].size() > kRegionBytesMax) {
    return Wrong("Credential should be scoped to a valid region.");
  }
  if (parts[3] != kService) return Wrong("Credential should be scoped to correct service: 'ecs'.");
  if (parts[4] != kTerminator) {
    return Wrong("Credential should be scoped with a valid terminator: 'aws4_request'.");
  }
  return Authorization{
      .access_key_id = std::string(parts[0]),
      .scope = {.date = std::string(parts[1]), .region = std::string(parts[2])},
  };
}

}  // namespace

std::variant<Authorization, Refusal> ParseAuthorization(std::string_view header) {
  if (header.size() > kAuthorizationBytesMax) {
    return Incomplete(absl::StrFormat("the Authorization header is longer than %d bytes",
                                      kAuthorizationBytesMax));
  }
  auto split = SplitParameters(header);
  if (auto* refusal = std::get_if<Refusal>(&split)) return std::move(*refusal);
  const Parameters& parameters = std::get<Parameters>(split);

  auto read = ReadCredential(parameters.credential);
  if (std::holds_alternative<Refusal>(read)) return read;
  Authorization& authorization = std::get<Authorization>(read);

  const std::vector<std::string_view> names = Split(parameters.signed_headers, ';');
  if (names.size() > kSignedHeadersMax) {
    return Incomplete(
        absl::StrFormat("SignedHeaders names more than %d headers", kSignedHeadersMax));
  }
  for (const std::string_view name : names) {
    const bool in_order = authorization.signed_headers.empty() ||
                          std::string_view(authorization.signed_headers.back()) < name;
    if (!ConsistsOf(name, IsNameCharacter) || !in_order) {
      return Incomplete(
          "SignedHeaders must name headers in lower case, sorted, each once, separated by ';'");
    }
    authorization.signed_headers.emplace_back(name);
  }

  if (!ConsistsOf(parameters.signature, IsHexDigit) ||
      parameters.signature.size() != kSignatureDigits) {
    return Incomplete("Signature is not 64 hexadecimal digits in lower case");
  }
  authorization.signature = parameters.signature;
  return read;
}

}  // namespace berth::auth
