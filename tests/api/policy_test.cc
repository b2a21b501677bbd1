// Policies of IAM's shape: which are accepted, and what they allow.
#include "api/access/policy.h"

#include <string>

#include <catch2/catch.hpp>

#include "api/access/wildcard.h"
#include "model/errors.h"

namespace berth::api {
namespace {

using Verdict = Policy::Verdict;

std::shared_ptr<const Policy> Compiled(const std::string& json) {
  auto policy = Policy::Compile(json);
  INFO(json << " " << policy.status());
  REQUIRE(policy.ok());
  return *policy;
}

std::string Statement(const std::string& members) {
  return R"({"Version":"2012-10-17","Statement":[{)" + members + "}]}";
}

std::string RefusalOf(const std::string& json) {
  const auto policy = Policy::Compile(json);
  REQUIRE_FALSE(policy.ok());
  CHECK(model::KindOf(policy.status()) == model::ErrorKind::kInvalidParameter);
  return std::string(policy.status().message());
}

constexpr char kArn[] = "arn:aws:ecs:us-east-1:000000000000:";

CallResource Of(const std::string& rest) { return {.arn = kArn + rest}; }

}  // namespace

TEST_CASE("wildcards stand for any text and any character", "[policy]") {
  struct Case {
    std::string pattern, text;
    bool matches;
  };
  const auto c = GENERATE(values<Case>({
      {"", "", true},           {"", "a", false},     {"*", "", true},          {"*", "abc", true},
      {"a*", "abc", true},      {"a*", "ba", false},  {"*c", "abc", true},      {"a*c", "ac", true},
      {"a*c", "abcbc", true},   {"a*c", "ab", false}, {"?", "", false},         {"?", "a", true},
      {"a?c", "abc", true},     {"a?c", "ac", false}, {"*a*b*", "xaxbx", true}, {"**", "x", true},
      {"a*b*c", "abbb", false}, {"abc", "abc", true}, {"abc", "ABC", false},    {"a", "*", false},
      {"*?", "", false},
  }));
  INFO(c.pattern << " on " << c.text);

  CHECK(WildcardMatches(c.pattern, c.text) == c.matches);
}

TEST_CASE("a pattern can stand for a text with a number after it", "[policy]") {
  struct Case {
    std::string pattern, text;
    bool matches;
  };
  const auto c = GENERATE(values<Case>({
      {"web:3", "web:", true},
      {"web:*", "web:", true},
      {"web:?", "web:", true},
      {"web:1?*", "web:", true},
      {"web:x", "web:", false},
      {"web:*x", "web:", false},
      {"api:*", "web:", false},
      {"*", "web:", true},
      {"*:3", "web:", true},
      {"w?b:3", "web:", true},
      {"*/api:*", "a/web:", false},
      {"*b:1*2", "web:", true},
      {"web3", "web:", false},
      {"", "web:", false},
  }));
  INFO(c.pattern << " on " << c.text << "N");

  CHECK(WildcardMatchesNumbered(c.pattern, c.text) == c.matches);
}

TEST_CASE("a pattern of many stars costs no more than its length", "[policy]") {
  std::string pattern;
  for (int i = 0; i < 500; ++i) pattern += "*a";
  CHECK_FALSE(WildcardMatches(pattern + "b", std::string(2000, 'a')));
  CHECK_FALSE(WildcardMatchesNumbered(pattern + "b", std::string(2000, 'a')));
}

TEST_CASE("what is not allowed is not allowed, and a deny wins", "[policy]") {
  const auto policy = Compiled(R"({"Statement":[
    {"Effect":"Allow","Action":["ecs:Describe*","ecs:StopTask"],"Resource":"*"},
    {"Effect":"Allow","Action":"ecs:RunTask","Resource":[
      "arn:aws:ecs:*:*:cluster/dev*","arn:aws:ecs:*:*:task-definition/web:*"]},
    {"Effect":"Deny","Action":"ecs:*","Resource":"arn:aws:ecs:*:*:*/prod*"}]})");
  struct Case {
    std::string why, action;
    CallResource resource;
    Verdict verdict;
  };
  const auto c = GENERATE_COPY(values<Case>({
      {"an allowed read", "ecs:DescribeTasks", Of("task/dev/1"), Verdict::kAllowed},
      {"actions know no case", "ECS:describetasks", Of("task/dev/1"), Verdict::kAllowed},
      {"a read that is not named", "ecs:ListTasks", Of("cluster/dev"), Verdict::kNotAllowed},
      {"on one resource of a list", "ecs:RunTask", Of("cluster/dev-2"), Verdict::kAllowed},
      {"on another", "ecs:RunTask", Of("cluster/qa"), Verdict::kNotAllowed},
      {"denied though allowed", "ecs:StopTask", Of("task/prod/1"), Verdict::kDenied},
      {"denied where nothing allows", "ecs:RunTask", Of("cluster/prod"), Verdict::kDenied},
      {"resources know case", "ecs:RunTask", Of("cluster/DEV"), Verdict::kNotAllowed},
      {"another service's action", "iam:CreateAccessKey", {.arn = "*"}, Verdict::kNotAllowed},
  }));
  INFO(c.why);

  CHECK(policy->Evaluate(c.action, c.resource) == c.verdict);
}

TEST_CASE("NotAction and NotResource mean all the others", "[policy]") {
  const auto policy = Compiled(R"({"Statement":[
    {"Effect":"Allow","NotAction":"ecs:Delete*","NotResource":"arn:aws:ecs:*:*:cluster/prod"},
    {"Effect":"Deny","Action":"ecs:StopTask","NotResource":"arn:aws:ecs:*:*:task/dev/*"}]})");

  CHECK(policy->Evaluate("ecs:RunTask", Of("cluster/dev")) == Verdict::kAllowed);
  CHECK(policy->Evaluate("ecs:RunTask", Of("cluster/prod")) == Verdict::kNotAllowed);
  CHECK(policy->Evaluate("ecs:DeleteCluster", Of("cluster/dev")) == Verdict::kNotAllowed);
  CHECK(policy->Evaluate("ecs:StopTask", Of("task/dev/1")) == Verdict::kAllowed);
  CHECK(policy->Evaluate("ecs:StopTask", Of("task/qa/1")) == Verdict::kDenied);
}

TEST_CASE("a revision that is not resolved yet cannot slip past a policy", "[policy]") {
  const CallResource latest{.arn = std::string(kArn) + "task-definition/web:*", .open = true};
  const std::string revision3 = R"("arn:aws:ecs:*:*:task-definition/web:3")";
  const std::string allow_all = R"({"Effect":"Allow","Action":"*","Resource":"*"},)";
  const auto with = [&](const std::string& more) {
    return Compiled(R"({"Statement":[)" + allow_all + more + "]}")->Evaluate("ecs:RunTask", latest);
  };

  CHECK(Compiled(Statement(R"("Effect":"Allow","Action":"*","Resource":)" + revision3))
            ->Evaluate("ecs:RunTask", latest) == Verdict::kNotAllowed);
  CHECK(Compiled(Statement(R"("Effect":"Allow","Action":"*","NotResource":)" + revision3))
            ->Evaluate("ecs:RunTask", latest) == Verdict::kNotAllowed);
  CHECK(with(R"({"Effect":"Deny","Action":"*","Resource":)" + revision3 + "}") == Verdict::kDenied);
  CHECK(with(R"({"Effect":"Deny","Action":"*","NotResource":)" + revision3 + "}") ==
        Verdict::kDenied);
  CHECK(
      with(
          R"({"Effect":"Deny","Action":"*","Resource":"arn:aws:ecs:*:*:task-definition/api:*"})") ==
      Verdict::kAllowed);
}

TEST_CASE("a deny of one resource does not touch calls about none", "[policy]") {
  const auto policy = Compiled(R"({"Statement":[
    {"Effect":"Allow","Action":"*","Resource":"*"},
    {"Effect":"Deny","Action":"*","Resource":"arn:aws:ecs:*:*:cluster/prod"}]})");

  CHECK(policy->Evaluate("ecs:ListClusters", {.arn = "*"}) == Verdict::kAllowed);
}

TEST_CASE("a policy that would mean more than is understood is refused", "[policy]") {
  const std::string rest = R"("Action":"ecs:*","Resource":"*")";
  struct Case {
    std::string why, json, message;
  };
  const auto c = GENERATE_COPY(values<Case>({
      {"no JSON", "{", "the policy is not JSON: Missing a name for object member. at byte 1"},
      {"no object", "[]", "the policy cannot be used: it is no JSON object"},
      {"no statement", "{}", "the policy cannot be used: it has no Statement"},
      {"an empty list", R"({"Statement":[]})",
       "the policy cannot be used: its Statement must be an object or a list of some"},
      {"another version", R"({"Version":"2020-01-01","Statement":[]})",
       "the policy cannot be used: its Version must be \"2012-10-17\" or \"2008-10-17\""},
      {"a condition", Statement(R"("Effect":"Allow",)" + rest + R"(,"Condition":{})"),
       "the policy cannot be used (statement 1): Condition is not supported; leave it out, and "
       "name "
       "what the key may reach by Resource"},
      {"a principal", Statement(R"("Effect":"Allow","Principal":"*",)" + rest),
       "the policy cannot be used (statement 1): Principal is not for policies of a key: the "
       "principal is the key's user"},
      {"an unknown element", Statement(R"("Effect":"Allow","Resources":"*",)" + rest),
       "the policy cannot be used (statement 1): it has an element 'Resources', which policies do "
       "not have"},
      {"an element twice", Statement(R"("Effect":"Allow","Effect":"Deny",)" + rest),
       "the policy cannot be used (statement 1): Effect is given twice"},
      {"no effect", Statement(rest),
       "the policy cannot be used (statement 1): its Effect must be Allow or Deny"},
      {"another effect", Statement(R"("Effect":"allow",)" + rest),
       "the policy cannot be used (statement 1): its Effect must be Allow or Deny"},
      {"no action", Statement(R"("Effect":"Allow","Resource":"*")"),
       "the policy cannot be used (statement 1): it must have either Action or NotAction"},
      {"both", Statement(R"("Effect":"Allow","NotAction":"*",)" + rest),
       "the policy cannot be used (statement 1): it must have either Action or NotAction"},
      {"no resource", Statement(R"("Effect":"Allow","Action":"*")"),
       "the policy cannot be used (statement 1): it must have either Resource or NotResource"},
      {"an action without a service",
       Statement(R"("Effect":"Allow","Action":"RunTask","Resource":"*")"),
       "the policy cannot be used (statement 1): 'RunTask' is no action; write service:Action, "
       "such "
       "as ecs:RunTask or ecs:Describe*, or *"},
      {"an action that is no text", Statement(R"("Effect":"Allow","Action":[1],"Resource":"*")"),
       "the policy cannot be used (statement 1): its Action has an entry that is no text"},
      {"an empty list of actions", Statement(R"("Effect":"Allow","Action":[],"Resource":"*")"),
       "the policy cannot be used (statement 1): its Action must be a text or a list of texts"},
      {"a resource that is no ARN", Statement(R"("Effect":"Allow","Action":"*","Resource":"prod")"),
       "the policy cannot be used (statement 1): the resource 'prod' is neither an ARN nor a "
       "pattern with *"},
      {"a variable",
       Statement(
           R"("Effect":"Allow","Action":"*","Resource":"arn:aws:ecs:*:*:task/${aws:username}/*")"),
       "the policy cannot be used (statement 1): variables (${...}) are not supported in Resource"},
  }));
  INFO(c.why);

  CHECK(RefusalOf(c.json) == c.message);
}

TEST_CASE("policies are limited in size", "[policy]") {
  const auto of_size = [](size_t bytes) {
    std::string json = Statement(R"("Effect":"Allow","Action":"*","Resource":"*")");
    return json + std::string(bytes - json.size(), ' ');
  };

  CHECK(Policy::Compile(of_size(kPolicyBytesMax)).ok());
  CHECK(RefusalOf(of_size(kPolicyBytesMax + 1)) ==
        "the policy has 10241 bytes; at most 10240 are possible");

  const auto statements = [](size_t count) {
    std::string json = R"({"Statement":[)";
    for (size_t i = 0; i < count; ++i) {
      json += std::string(i == 0 ? "" : ",") + R"({"Effect":"Deny","Action":"*","Resource":"*"})";
    }
    return json + "]}";
  };
  CHECK(Policy::Compile(statements(kPolicyStatementsMax)).ok());
  CHECK(RefusalOf(statements(kPolicyStatementsMax + 1)) ==
        "the policy cannot be used: it has 101 statements; at most 100 are possible");
}

}  // namespace berth::api
