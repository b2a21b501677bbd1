// Pages of List answers: nothing repeated, nothing skipped, and no token but the right one.
#include <set>

#include "absl/strings/escaping.h"
#include "api/digest.h"
#include "tests/api/api_fixture.h"

namespace berth::api {
namespace {

// Every key of all pages; fails when a token comes twice or a page is larger than asked for.
std::vector<std::string> WalkPages(ApiFixture& api, const std::string& action,
                                   const std::string& list, const std::string& filters, int size) {
  std::vector<std::string> all;
  std::set<std::string> tokens;
  std::string token;
  do {
    std::string body = R"({"maxResults":)" + std::to_string(size);
    if (!filters.empty()) body += "," + filters;
    if (!token.empty()) body += R"(,"nextToken":")" + token + "\"";
    const auto page = api.Get(action, body + "}");
    CHECK(page[list.c_str()].Size() <= static_cast<unsigned>(size));
    for (const auto& entry : page[list.c_str()].GetArray()) all.push_back(entry.GetString());
    token = page.HasMember("nextToken") ? page["nextToken"].GetString() : "";
    if (!token.empty()) REQUIRE(tokens.insert(token).second);
  } while (!token.empty());
  return all;
}

void RegisterFamily(ApiFixture& api, const std::string& family, int revisions) {
  for (int i = 0; i < revisions; ++i) {
    api.Get("RegisterTaskDefinition",
            R"({"family":")" + family +
                R"(","containerDefinitions":[{"name":"c","image":"i","memory":64}]})");
  }
}

TEST_CASE("pages of any size hold every task definition once, in order", "[api]") {
  ApiFixture api;
  RegisterFamily(api, "b", 11);
  RegisterFamily(api, "a", 2);
  RegisterFamily(api, "ab", 1);
  const int size = GENERATE(1, 2, 3, 13, 14, 100);
  INFO("pages of " << size);

  const auto ascending = WalkPages(api, "ListTaskDefinitions", "taskDefinitionArns", "", size);
  auto descending =
      WalkPages(api, "ListTaskDefinitions", "taskDefinitionArns", R"("sort":"DESC")", size);
  const auto family =
      WalkPages(api, "ListTaskDefinitions", "taskDefinitionArns", R"("familyPrefix":"a")", size);

  const auto arn = [](const std::string& name) {
    return "arn:aws:ecs:us-east-1:000000000000:task-definition/" + name;
  };
  REQUIRE(ascending.size() == 14);
  CHECK(ascending.front() == arn("a:1"));
  CHECK(ascending[2] == arn("ab:1"));
  CHECK(ascending[4] == arn("b:2"));
  CHECK(ascending.back() == arn("b:11"));  // by number, not by letter
  std::ranges::reverse(descending);
  CHECK(descending == ascending);
  CHECK(family == std::vector<std::string>{arn("a:1"), arn("a:2")});
}

TEST_CASE("pages of clusters hold each once", "[api]") {
  ApiFixture api;
  for (int i = 0; i < 7; ++i) {
    api.Get("CreateCluster", R"({"clusterName":"c)" + std::to_string(i) + "\"}");
  }

  CHECK(WalkPages(api, "ListClusters", "clusterArns", "", 3).size() == 8);
}

TEST_CASE("pages of families hold each once, those with the prefix and no others", "[api]") {
  ApiFixture api;
  for (const char* family : {"b", "a", "ab", "a-b", "a_b"}) RegisterFamily(api, family, 2);
  const auto deregistered = api.Get("DeregisterTaskDefinition", R"({"taskDefinition":"ab:1"})");
  REQUIRE(At(deregistered, "/taskDefinition/status") == "INACTIVE");
  api.Get("DeregisterTaskDefinition", R"({"taskDefinition":"ab:2"})");
  const int size = GENERATE(1, 2, 4, 5, 100);
  INFO("pages of " << size);
  const auto walk = [&](const std::string& filters) {
    return WalkPages(api, "ListTaskDefinitionFamilies", "families", filters, size);
  };
  using Texts = std::vector<std::string>;

  CHECK(walk("") == Texts{"a", "a-b", "a_b", "ab", "b"});
  CHECK(walk(R"("familyPrefix":"a")") == Texts{"a", "a-b", "a_b", "ab"});
  CHECK(walk(R"("familyPrefix":"ab")") == Texts{"ab"});
  CHECK(walk(R"("status":"ACTIVE")") == Texts{"a", "a-b", "a_b", "b"});
  CHECK(walk(R"("status":"INACTIVE")") == Texts{"ab"});
  CHECK(walk(R"("status":"ALL","familyPrefix":"z")").empty());
}

TEST_CASE("pages of account settings hold each once", "[api]") {
  ApiFixture api;
  const auto names = [&](int size) {
    std::set<std::string> all;
    std::string token;
    do {
      const auto page = api.Get("ListAccountSettings",
                                R"({"effectiveSettings":true,"maxResults":)" +
                                    std::to_string(size) + R"(,"nextToken":")" + token + R"("})");
      for (const auto& setting : page["settings"].GetArray()) {
        CHECK(all.insert(setting["name"].GetString()).second);
      }
      token = page.HasMember("nextToken") ? page["nextToken"].GetString() : "";
    } while (!token.empty());
    return all.size();
  };

  CHECK(names(1) == 11);
  CHECK(names(6) == 11);
  CHECK(names(10) == 11);
}

TEST_CASE("maxResults is from 1 to 100", "[api]") {
  ApiFixture api;
  const std::string action =
      GENERATE(as<std::string>(), "ListClusters", "ListTasks", "ListContainerInstances",
               "ListTaskDefinitions", "ListTaskDefinitionFamilies");
  INFO(action);

  CHECK(api.Ask(action, R"({"maxResults":1})").status == 200);
  CHECK(api.Ask(action, R"({"maxResults":100})").status == 200);
  CHECK(api.Refusal(action, R"({"maxResults":0})") ==
        "InvalidParameterException: maxResults is 0: it should be from 1 to 100");
  CHECK(api.Refusal(action, R"({"maxResults":101})") ==
        "InvalidParameterException: maxResults is 101: it should be from 1 to 100");
}

TEST_CASE("a token is refused where it was not made for", "[api]") {
  ApiFixture api;
  RegisterFamily(api, "a", 3);
  api.Get("CreateCluster", R"({"clusterName":"x"})");
  const auto page = api.Get("ListTaskDefinitions", R"({"maxResults":1,"sort":"ASC"})");
  const std::string token = page["nextToken"].GetString();
  const auto with = [](const std::string& text, const std::string& more = "") {
    return R"({"nextToken":")" + text + "\"" + more + "}";
  };

  CHECK(api.Ask("ListTaskDefinitions", with(token, R"(,"sort":"ASC")")).status == 200);
  CHECK(api.Ask("ListTaskDefinitions", with(token, R"(,"sort":"ASC","maxResults":2)")).status ==
        200);
  CHECK(api.Ask("ListTaskDefinitions", with("")).status == 200);
  for (const std::string& body :
       {with(token), with(token, R"(,"sort":"DESC")"), with(token, R"(,"familyPrefix":"a")"),
        with(token + "A", R"(,"sort":"ASC")"), with(token.substr(1), R"(,"sort":"ASC")"), with("x"),
        with("%%%"), with(std::string(5000, 'A'))}) {
    CHECK_THAT(api.Refusal("ListTaskDefinitions", body),
               Catch::StartsWith("InvalidParameterException: Invalid token"));
  }
  CHECK_THAT(api.Refusal("ListClusters", with(token)),
             Catch::StartsWith("InvalidParameterException: Invalid token"));
}

TEST_CASE("a token that somebody computed is refused when its key makes no sense", "[api]") {
  ApiFixture api;
  const std::string key = GENERATE(as<std::string>(), "a", "a:0", "a:x", "a:99999999999999999999",
                                   "arn:aws:s3:::b", ":", "a b:1");
  const std::string digest =
      Sha256Hex(std::string("ListTaskDefinitions {}") + '\0' + key).substr(0, 16);
  std::string token;
  absl::WebSafeBase64Escape(digest + key, &token);
  INFO(key);

  CHECK_THAT(api.Refusal("ListTaskDefinitions", R"({"nextToken":")" + token + R"("})"),
             Catch::StartsWith("InvalidParameterException: Invalid token"));
}

}  // namespace
}  // namespace berth::api
