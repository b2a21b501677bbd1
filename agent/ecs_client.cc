#include "agent/ecs_client.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "agent/json.h"

namespace berth::agent {

namespace {

constexpr char kTargetPrefix[] = "AmazonEC2ContainerServiceV20141113.";
constexpr char kContentType[] = "application/x-amz-json-1.1";
constexpr char kUserAgent[] = "Berth Agent";
// The official agent's limit for one exchange.
constexpr absl::Duration kCallMax = absl::Seconds(42);

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

EcsClient::EcsClient(HttpAddress server, std::string region)
    : http_(std::move(server)), region_(std::move(region)) {}

net::awaitable<absl::StatusOr<ApiAnswer>> EcsClient::Call(std::string action, std::string body) {
  HttpRequest request;
  request.method = "POST";
  request.target = "/";
  request.headers = {{"Content-Type", kContentType},
                     {"X-Amz-Target", kTargetPrefix + action},
                     {"User-Agent", kUserAgent}};
  request.body = std::move(body);
  ExchangeLimits limits;
  limits.total = kCallMax;
  absl::StatusOr<HttpResponse> response =
      co_await http_.Exchange(std::move(request), std::move(limits));
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

}  // namespace berth::agent
