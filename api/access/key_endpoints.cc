#include "api/access/key_endpoints.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "api/access/authenticator.h"
#include "api/access/authorize.h"
#include "api/access/key_ring.h"
#include "api/cluster_loop.h"
#include "api/errors.h"
#include "api/json_find.h"
#include "api/json_writer.h"
#include "auth/new_key.h"
#include "model/errors.h"

namespace berth::api {
namespace {

constexpr size_t kUserLengthMax = 64;

struct NewKey {
  std::string user = {};
  model::KeyRole role = model::KeyRole::kViewer;
  std::string policy = {};
};

std::string TextOfTime(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

// Without the secret, which is told once.
void WriteKey(JsonWriter& json, const model::AccessKey& key) {
  json.String("accessKeyId", key.id);
  json.String("user", key.user);
  json.String("role", model::ToString(key.role));
  json.String("status", IsRevoked(key) ? "REVOKED" : "ACTIVE");
  json.String("createdAt", TextOfTime(key.created_at));
  if (IsRevoked(key)) json.String("revokedAt", TextOfTime(key.revoked_at));
  if (!key.policy.empty()) json.Raw("policy", key.policy);
}

bool IsUserName(std::string_view text) {
  return !text.empty() && text.size() <= kUserLengthMax &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return absl::ascii_isalnum(c) ||
                  std::string_view("_+=,.@-").find(static_cast<char>(c)) != std::string_view::npos;
         });
}

std::string Rewritten(const rapidjson::Value& value) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  value.Accept(writer);
  return {buffer.GetString(), buffer.GetSize()};
}

// A policy comes as an object, or as a text that holds one; it is kept as one line.
absl::StatusOr<std::string> ReadPolicy(const rapidjson::Value& value) {
  const std::string text = value.IsString() ? std::string(TextOf(value)) : Rewritten(value);
  if (auto policy = Policy::Compile(text); !policy.ok()) return policy.status();
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(text);
  return Rewritten(document);
}

absl::StatusOr<NewKey> ReadNewKey(const std::string& body) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(body);
  if (document.HasParseError() || !document.IsObject()) {
    return SerializationError("the body is no JSON object");
  }
  for (const auto& member : document.GetObject()) {
    const std::string_view name = TextOf(member.name);
    if (name != "user" && name != "role" && name != "policy") {
      return model::InvalidParameter(absl::StrFormat(
          "%s is not a member of a key; there are role, user and policy", name.substr(0, 64)));
    }
  }
  NewKey key;
  const rapidjson::Value* role = FindMember(&document, "role");
  const std::string_view word = role == nullptr ? std::string_view() : TextOf(*role);
  const std::optional<model::KeyRole> parsed = model::ParseKeyRole(word);
  if (!parsed) {
    return model::InvalidParameter(absl::StrFormat(
        "role is '%s'; it must be admin, operator, viewer or agent", word.substr(0, 64)));
  }
  key.role = *parsed;
  const rapidjson::Value* user = FindMember(&document, "user");
  key.user = user == nullptr ? std::string(word) : std::string(TextOf(*user));
  if (!IsUserName(key.user)) {
    return model::InvalidParameter(absl::StrFormat(
        "user must be 1 to %d letters, digits and characters of _+=,.@-", kUserLengthMax));
  }
  if (const rapidjson::Value* policy = FindMember(&document, "policy")) {
    absl::StatusOr<std::string> text = ReadPolicy(*policy);
    if (!text.ok()) return text.status();
    key.policy = *std::move(text);
  }
  return key;
}

}  // namespace

bool KeyEndpoints::Owns(std::string_view path) {
  constexpr std::string_view kPath = kKeysPath;
  return path == kPath || (path.starts_with(kPath) && path[kPath.size()] == '/');
}

std::string_view KeyEndpoints::ActionOf(std::string_view method, std::string_view path) {
  const bool all = path == kKeysPath;
  if (all && method == "POST") return kCreateKeyAction;
  if (all && method == "GET") return kListKeysAction;
  if (!all && method == "DELETE") return kRevokeKeyAction;
  return {};
}

const char* KeyEndpoints::AllowedMethods(std::string_view path) {
  return path == kKeysPath ? "GET, POST" : "DELETE";
}

ApiResponse KeyEndpoints::Refused(const absl::Status& error, std::string resource) const {
  ApiResponse response = ErrorResponse(error, parts_.settings.scope);
  response.resources.push_back(std::move(resource));
  return response;
}

net::awaitable<ApiResponse> KeyEndpoints::Respond(std::string_view action, std::string path,
                                                  std::string body, Caller caller) {
  if (parts_.ring == nullptr) {
    co_return Refused(
        model::Unsupported("this server runs with --auth none and has no access keys; with --auth "
                           "sigv4 its first start makes one for its admin"),
        "*");
  }
  if (action == kCreateKeyAction) co_return co_await Create(std::move(body), std::move(caller));
  if (action == kListKeysAction) co_return co_await List(std::move(caller));
  co_return co_await Revoke(path.substr(sizeof(kKeysPath)), std::move(caller));
}

net::awaitable<ApiResponse> KeyEndpoints::Create(std::string body, Caller caller) {
  const model::ArnScope& scope = parts_.settings.scope;
  absl::StatusOr<NewKey> wanted = ReadNewKey(body);
  // Whoever may make no key need not know what is wrong with this one.
  const std::vector<CallResource> about = {
      {.arn = wanted.ok() ? UserArn(scope, wanted->user) : std::string("*")}};
  if (absl::Status status = Authorize(caller, kCreateKeyAction, about, scope); !status.ok()) {
    co_return Refused(status, about[0].arn);
  }
  if (!wanted.ok()) co_return Refused(wanted.status(), about[0].arn);

  const auth::Credentials made = auth::NewAccessKey();
  scheduler::CreateAccessKey command{.key = {.id = made.access_key_id,
                                             .user = wanted->user,
                                             .role = wanted->role,
                                             .policy = wanted->policy,
                                             .sealed_secret = parts_.ring->box().Seal(
                                                 made.secret_access_key, made.access_key_id)}};
  auto created = co_await parts_.loop.Submit(std::move(command));
  if (!created.ok()) co_return Refused(created.status(), about[0].arn);
  JsonWriter json;
  json.BeginObject();
  WriteKey(json, **created);
  json.String("secretAccessKey", made.secret_access_key);
  json.EndObject();
  co_return ApiResponse{.body = json.Take(), .resources = {about[0].arn}};
}

net::awaitable<ApiResponse> KeyEndpoints::Revoke(std::string id, Caller caller) {
  const model::ArnScope& scope = parts_.settings.scope;
  const std::shared_ptr<const KeyRing::Key> key = parts_.ring->Find(id);
  const std::vector<CallResource> about = {
      {.arn = key == nullptr ? std::string("*") : UserArn(scope, key->record->user)}};
  if (absl::Status status = Authorize(caller, kRevokeKeyAction, about, scope); !status.ok()) {
    co_return Refused(status, about[0].arn);
  }
  scheduler::RevokeAccessKey command{.id = std::move(id)};
  auto revoked = co_await parts_.loop.Submit(std::move(command));
  if (!revoked.ok()) co_return Refused(revoked.status(), about[0].arn);
  JsonWriter json;
  json.BeginObject();
  WriteKey(json, **revoked);
  json.EndObject();
  co_return ApiResponse{.body = json.Take(), .resources = {UserArn(scope, (*revoked)->user)}};
}

net::awaitable<ApiResponse> KeyEndpoints::List(Caller caller) {
  const std::vector<CallResource> about = {{.arn = "*"}};
  if (absl::Status status = Authorize(caller, kListKeysAction, about, parts_.settings.scope);
      !status.ok()) {
    co_return Refused(status, "*");
  }
  scheduler::ListAccessKeys command;
  auto listed = co_await parts_.loop.Submit(std::move(command));
  if (!listed.ok()) co_return Refused(listed.status(), "*");
  JsonWriter json;
  json.BeginObject();
  json.BeginArray("keys");
  for (const model::AccessKeyRecord& key : listed->keys) {
    json.BeginObject();
    WriteKey(json, *key);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  co_return ApiResponse{.body = json.Take(), .resources = {"*"}};
}

}  // namespace berth::api
