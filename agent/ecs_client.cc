#include "agent/ecs_client.h"

#include <spdlog/spdlog.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "agent/json.h"
#include "auth/sigv4.h"

namespace berth::agent {

namespace {

constexpr char kTargetPrefix[] = "AmazonEC2ContainerServiceV20141113.";
constexpr char kContentType[] = "application/x-amz-json-1.1";
constexpr char kUserAgent[] = "Berth Agent";
// The official agent's limit for one exchange.
constexpr absl::Duration kCallMax = absl::Seconds(42);
// Signatures are good for five minutes either way. A date that differs by less than this explains
// no refusal.
constexpr absl::Duration kSkewMin = absl::Minutes(4);
constexpr char kHttpDate[] = "%a, %d %b %Y %H:%M:%S GMT";

bool Says(std::string_view text, const char* words) {
  return text.find(words) != std::string_view::npos;
}

}  // namespace

std::string Describe(const ApiAnswer& answer) {
  const std::string type =
      answer.type.empty() ? absl::StrFormat("HTTP status %d", answer.status) : answer.type;
  return answer.message.empty() ? type : absl::StrCat(type, ": ", answer.message);
}

bool IsTransient(const ApiAnswer& answer) {
  return answer.status >= 500 || answer.status == 429 || answer.type == "ThrottlingException" ||
         answer.type == "LimitExceededException";
}

EcsClient::EcsClient(ServerAccess access)
    : access_(std::move(access)), http_(access_.address, access_.tls) {}

EcsClient::Headers EcsClient::SignGet(const std::string& host, const std::string& target) const {
  if (access_.credentials == nullptr) return {};
  const auth::HttpParts parts{.method = "GET", .target = target, .headers = {{"Host", host}}};
  return auth::Sign(parts, access_.credentials->Current(), access_.region,
                    absl::Now() + clock_offset_);
}

net::awaitable<absl::StatusOr<HttpResponse>> EcsClient::Post(const std::string& action,
                                                             const std::string& body) {
  HttpRequest request;
  request.method = "POST";
  request.target = "/";
  request.headers = {{"Content-Type", kContentType}, {"X-Amz-Target", kTargetPrefix + action}};
  request.body = body;
  if (access_.credentials != nullptr) {
    auth::HttpParts parts{.method = request.method,
                          .target = access_.address.path + request.target,
                          .headers = request.headers,
                          .body = request.body};
    parts.headers.emplace_back("Host", Authority(access_.address));
    for (auto& header : auth::Sign(parts, access_.credentials->Current(), access_.region,
                                   absl::Now() + clock_offset_)) {
      request.headers.push_back(std::move(header));
    }
  }
  request.headers.emplace_back("User-Agent", kUserAgent);
  ExchangeLimits limits;
  limits.total = kCallMax;
  co_return co_await http_.Exchange(std::move(request), std::move(limits));
}

net::awaitable<absl::StatusOr<ApiAnswer>> EcsClient::Call(std::string action, std::string body) {
  absl::StatusOr<HttpResponse> response = co_await Post(action, body);
  if (response.ok() && response->status != 200 && LearnClockSkew(response->body, response->date)) {
    response = co_await Post(action, body);
  }
  if (!response.ok()) co_return response.status();
  ApiAnswer answer;
  answer.status = response->status;
  answer.body = std::move(response->body);
  if (answer.ok()) co_return answer;
  json::Document document;
  if (json::Parse(answer.body, document)) {
    answer.type = json::StringOr(document, "__type");
    answer.type = answer.type.substr(answer.type.find('#') + 1);
    answer.message = json::StringOr(document, "message", json::StringOr(document, "Message"));
  }
  co_return answer;
}

bool EcsClient::LearnClockSkew(std::string_view refusal, const std::string& date) {
  if (access_.credentials == nullptr) return false;
  if (!Says(refusal, "Signature expired") && !Says(refusal, "Signature not yet current")) {
    return false;
  }
  absl::Time server_time;
  if (!absl::ParseTime(kHttpDate, date, &server_time, nullptr)) return false;
  const absl::Duration offset = server_time - absl::Now();
  if (absl::AbsDuration(offset - clock_offset_) < kSkewMin) return false;
  if (clock_offset_ == absl::ZeroDuration()) {
    spdlog::warn(
        "this machine's clock differs from the server's by {}, which is allowed for when requests "
        "are signed; set the clock (NTP) all the same",
        absl::FormatDuration(absl::Trunc(offset, absl::Seconds(1))));
  }
  clock_offset_ = offset;
  return true;
}

std::string EcsClient::Advice(std::string_view refusal) const {
  const std::string from = access_.credentials == nullptr ? "" : access_.credentials->Describe();
  if (Says(refusal, "MissingAuthenticationToken")) {
    return "the server takes signed requests only: give --credentials FILE, with a key that `berth "
           "key create --role agent` made, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
  }
  if (access_.credentials == nullptr) return "";
  if (Says(refusal, "UnrecognizedClient")) {
    return absl::StrFormat(
        "the server has no key %s, or has revoked it; it is from %s (--credentials)",
        access_.credentials->Current().access_key_id, from);
  }
  if (Says(refusal, "InvalidSignature") && !Says(refusal, "Signature expired") &&
      !Says(refusal, "Signature not yet current")) {
    return absl::StrFormat("the secret of key %s in %s is not the one that the server has",
                           access_.credentials->Current().access_key_id, from);
  }
  if (Says(refusal, "AccessDenied")) {
    return absl::StrFormat(
        "the key %s of %s may not do that: an agent needs a key of role agent, which acts for "
        "the instances that were registered with it, or with a key of the same user that is "
        "revoked (--credentials; to replace a key, make one for the same user, then revoke the "
        "old one)",
        access_.credentials->Current().access_key_id, from);
  }
  return "";
}

}  // namespace berth::agent
