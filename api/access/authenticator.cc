#include "api/access/authenticator.h"

#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_format.h"
#include "api/errors.h"
#include "auth/verify.h"

namespace berth::api {
namespace {

absl::Status ErrorOf(const auth::Refusal& refusal) {
  switch (refusal.problem) {
    case auth::Problem::kMissingToken:
      return MakeApiError(ApiError::kMissingAuthenticationToken, refusal.message);
    case auth::Problem::kIncompleteSignature:
      return MakeApiError(ApiError::kIncompleteSignature, refusal.message);
    case auth::Problem::kUnrecognizedClient:
      return MakeApiError(ApiError::kUnrecognizedClient, refusal.message);
    case auth::Problem::kInvalidSignature:
      break;
  }
  return MakeApiError(ApiError::kInvalidSignature, refusal.message);
}

}  // namespace

std::string UserArn(const model::ArnScope& scope, std::string_view user) {
  return absl::StrFormat("arn:%s:iam::%s:user/%s", scope.partition, scope.account, user);
}

std::string RootArn(const model::ArnScope& scope) {
  return absl::StrFormat("arn:%s:iam::%s:root", scope.partition, scope.account);
}

absl::StatusOr<Caller> Authenticator::Check(const HttpRequest& request) const {
  if (ring_ == nullptr) return Caller{.principal_arn = RootArn(scope_)};
  const auto read = auth::ReadClaim({.method = request.method,
                                     .target = request.target,
                                     .headers = request.headers,
                                     .body = request.body},
                                    clock_());
  if (const auto* refusal = std::get_if<auth::Refusal>(&read)) return ErrorOf(*refusal);
  const auth::Claim& claim = std::get<auth::Claim>(read);
  const std::shared_ptr<const KeyRing::Key> key = ring_->Find(claim.access_key_id);
  const auto checked =
      auth::CheckClaim(claim, key == nullptr ? nullptr : &key->secret, ring_->signing_keys());
  if (const auto* refusal = std::get_if<auth::Refusal>(&checked)) return ErrorOf(*refusal);
  return Caller{.principal_arn = UserArn(scope_, key->record->user),
                .access_key = key->record->id,
                .role = key->record->role,
                .policy = key->policy};
}

bool Authenticator::IsStillGood(const Caller& caller) const {
  return ring_ == nullptr || ring_->Find(caller.access_key) != nullptr;
}

std::string Authenticator::ClaimedKey(const HttpRequest& request) {
  constexpr std::string_view kCredential = "Credential=";
  constexpr size_t kShownMax = 20;
  for (const auto& [name, value] : request.headers) {
    const size_t begin = value.find(kCredential);
    if (begin == std::string::npos) continue;
    const std::string id = value.substr(begin + kCredential.size(), kShownMax);
    return id.substr(0, id.find('/'));
  }
  return {};
}

}  // namespace berth::api
