#include "api/access/policy.h"

#include <algorithm>
#include <set>

#include <rapidjson/document.h>
#include <rapidjson/error/en.h>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "api/access/wildcard.h"
#include "api/json_find.h"
#include "model/errors.h"

namespace berth::api {

using model::InvalidParameter;
using rapidjson::Value;

// Reads the document; each step returns what is wrong, or OK.
class PolicyReader {
 public:
  absl::Status Read(const Value& document) {
    if (!document.IsObject()) return Wrong("it is no JSON object");
    if (auto status = CheckNames(document, {"Version", "Id", "Statement"}); !status.ok()) {
      return status;
    }
    const Value* version = FindMember(&document, "Version");
    if (version != nullptr && TextOf(*version) != "2012-10-17" &&
        TextOf(*version) != "2008-10-17") {
      return Wrong("its Version must be \"2012-10-17\" or \"2008-10-17\"");
    }
    const Value* statements = FindMember(&document, "Statement");
    if (statements == nullptr) return Wrong("it has no Statement");
    if (statements->IsObject()) return ReadStatement(*statements);
    if (!statements->IsArray() || statements->Empty()) {
      return Wrong("its Statement must be an object or a list of some");
    }
    if (statements->Size() > kPolicyStatementsMax) {
      return Wrong(absl::StrFormat("it has %d statements; at most %d are possible",
                                   statements->Size(), kPolicyStatementsMax));
    }
    for (const Value& statement : statements->GetArray()) {
      if (auto status = ReadStatement(statement); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  Policy Take() { return std::move(policy_); }

 private:
  absl::Status Wrong(std::string_view what) const {
    const std::string where =
        number_ == 0 ? std::string() : absl::StrFormat(" (statement %d)", number_);
    return InvalidParameter(absl::StrFormat("the policy cannot be used%s: %s", where, what));
  }

  absl::Status CheckNames(const Value& object, std::initializer_list<std::string_view> known) {
    std::set<std::string_view> seen;
    for (const auto& member : object.GetObject()) {
      const std::string_view name = TextOf(member.name);
      if (name == "Condition") {
        return Wrong(
            "Condition is not supported; leave it out, and name what the key may reach by "
            "Resource");
      }
      if (name == "Principal" || name == "NotPrincipal") {
        return Wrong(absl::StrFormat(
            "%s is not for policies of a key: the principal is the key's user", name));
      }
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        return Wrong(absl::StrFormat("it has an element '%s', which policies do not have",
                                     name.substr(0, 64)));
      }
      if (!seen.insert(name).second) return Wrong(absl::StrFormat("%s is given twice", name));
    }
    return absl::OkStatus();
  }

  absl::Status ReadStatement(const Value& json) {
    ++number_;
    if (!json.IsObject()) return Wrong("it is no JSON object");
    if (auto status =
            CheckNames(json, {"Sid", "Effect", "Action", "NotAction", "Resource", "NotResource"});
        !status.ok()) {
      return status;
    }
    Policy::Statement statement;
    const Value* effect = FindMember(&json, "Effect");
    const std::string_view word = effect == nullptr ? std::string_view() : TextOf(*effect);
    if (word != "Allow" && word != "Deny") return Wrong("its Effect must be Allow or Deny");
    statement.deny = word == "Deny";

    if (auto status =
            ReadList(json, "Action", "NotAction", statement.actions, statement.not_action);
        !status.ok()) {
      return status;
    }
    for (std::string& action : statement.actions) {
      if (!IsAction(action)) {
        return Wrong(absl::StrFormat(
            "'%s' is no action; write service:Action, such as ecs:RunTask or ecs:Describe*, or *",
            action.substr(0, 128)));
      }
      absl::AsciiStrToLower(&action);
    }
    if (auto status =
            ReadList(json, "Resource", "NotResource", statement.resources, statement.not_resource);
        !status.ok()) {
      return status;
    }
    for (const std::string& resource : statement.resources) {
      if (resource.find("${") != std::string::npos) {
        return Wrong("variables (${...}) are not supported in Resource");
      }
      if (!resource.starts_with("arn:") && resource.find('*') == std::string::npos) {
        return Wrong(absl::StrFormat("the resource '%s' is neither an ARN nor a pattern with *",
                                     resource.substr(0, 128)));
      }
    }
    policy_.statements_.push_back(std::move(statement));
    return absl::OkStatus();
  }

  // The texts of whichever of the two members is there; exactly one must be.
  absl::Status ReadList(const Value& json, const char* name, const char* not_name,
                        std::vector<std::string>& texts, bool& is_not) {
    const Value* plain = FindMember(&json, name);
    const Value* inverse = FindMember(&json, not_name);
    if ((plain == nullptr) == (inverse == nullptr)) {
      return Wrong(absl::StrFormat("it must have either %s or %s", name, not_name));
    }
    is_not = inverse != nullptr;
    const Value& value = is_not ? *inverse : *plain;
    const char* given = is_not ? not_name : name;
    if (value.IsString()) {
      texts.emplace_back(TextOf(value));
    } else if (value.IsArray() && !value.Empty()) {
      for (const Value& entry : value.GetArray()) {
        if (!entry.IsString())
          return Wrong(absl::StrFormat("its %s has an entry that is no text", given));
        texts.emplace_back(TextOf(entry));
      }
    } else {
      return Wrong(absl::StrFormat("its %s must be a text or a list of texts", given));
    }
    return absl::OkStatus();
  }

  static bool IsAction(std::string_view text) {
    if (text == "*") return true;
    const size_t colon = text.find(':');
    if (colon == 0 || colon == std::string_view::npos || colon + 1 == text.size()) return false;
    return std::all_of(text.begin(), text.end(), [](char c) {
      return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == ':' || c == '-' ||
             c == '*' || c == '?';
    });
  }

  Policy policy_;
  size_t number_ = 0;  // of the statement that is read; 0: before the first
};

namespace {

bool AnyMatches(const std::vector<std::string>& patterns, std::string_view text) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return WildcardMatches(pattern, text); });
}

// Whether one of the patterns stands for all that the resource may turn out to be.
bool AnyCovers(const std::vector<std::string>& patterns, const CallResource& resource) {
  return AnyMatches(patterns, resource.arn);
}

// Whether one of them stands for some of it.
bool AnyTouches(const std::vector<std::string>& patterns, const CallResource& resource) {
  if (!resource.open) return AnyMatches(patterns, resource.arn);
  const std::string_view arn = std::string_view(resource.arn).substr(0, resource.arn.size() - 1);
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return WildcardMatchesNumbered(pattern, arn);
  });
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Policy>> Policy::Compile(std::string_view json) {
  if (json.size() > kPolicyBytesMax) {
    return InvalidParameter(absl::StrFormat("the policy has %d bytes; at most %d are possible",
                                            json.size(), kPolicyBytesMax));
  }
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(
      json.data(), json.size());
  if (document.HasParseError()) {
    return InvalidParameter(absl::StrFormat("the policy is not JSON: %s at byte %d",
                                            rapidjson::GetParseError_En(document.GetParseError()),
                                            document.GetErrorOffset()));
  }
  PolicyReader reader;
  if (absl::Status status = reader.Read(document); !status.ok()) return status;
  return std::make_shared<const Policy>(reader.Take());
}

// Of a resource that is not resolved yet (the latest revision of a family) an Allow must cover all
// that it may be, and a Deny already counts when it touches some.
bool Policy::Statement::IsAbout(std::string_view lower_action, const CallResource& resource) const {
  if (AnyMatches(actions, lower_action) == not_action) return false;
  if (deny == not_resource) return AnyCovers(resources, resource) != not_resource;
  return AnyTouches(resources, resource) != not_resource;
}

Policy::Verdict Policy::Evaluate(std::string_view action, const CallResource& resource) const {
  std::string lower(action);
  absl::AsciiStrToLower(&lower);
  Verdict verdict = Verdict::kNotAllowed;
  for (const Statement& statement : statements_) {
    if (!statement.IsAbout(lower, resource)) continue;
    if (statement.deny) return Verdict::kDenied;
    verdict = Verdict::kAllowed;
  }
  return verdict;
}

}  // namespace berth::api
