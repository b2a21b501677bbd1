// PutAccountSetting, PutAccountSettingDefault, DeleteAccountSetting, ListAccountSettings.
#include <algorithm>
#include <map>

#include "tests/api/api_fixture.h"

namespace berth::api {
namespace {

const std::string kMe = "arn:aws:iam::000000000000:user/tester";  // who asks in ApiFixture
const std::string kRoot = "arn:aws:iam::000000000000:root";

std::string Setting(const std::string& name, const std::string& value, const std::string& principal,
                    const std::string& type = "user") {
  return R"({"name":")" + name + R"(","value":")" + value + R"(","principalArn":")" + principal +
         R"(","type":")" + type + R"("})";
}

std::string Put(const std::string& name, const std::string& value) {
  return R"({"name":")" + name + R"(","value":")" + value + R"("})";
}

TEST_CASE("a setting is put for the caller, or as the default of all, and listed", "[api]") {
  ApiFixture api;

  CHECK(api.Ask("PutAccountSetting", Put("containerInsights", "enabled")).body ==
        R"({"setting":)" + Setting("containerInsights", "enabled", kMe) + "}");
  CHECK(api.Ask("PutAccountSettingDefault", Put("awsvpcTrunking", "enabled")).body ==
        R"({"setting":)" + Setting("awsvpcTrunking", "enabled", kRoot) + "}");

  CHECK(api.Ask("ListAccountSettings", "{}").body ==
        R"({"settings":[)" + Setting("containerInsights", "enabled", kMe) + "]}");
  CHECK(api.Ask("ListAccountSettings", R"({"principalArn":")" + kRoot + R"("})").body ==
        R"({"settings":[)" + Setting("awsvpcTrunking", "enabled", kRoot) + "]}");
  api.Restart();
  CHECK(api.Get("ListAccountSettings", "{}")["settings"].Size() == 1);
}

TEST_CASE("in force is the principal's own value, then the root's, then the default", "[api]") {
  ApiFixture api;
  const auto in_force = [&] {
    const auto listed =
        api.Get("ListAccountSettings", R"({"name":"containerInsights","effectiveSettings":true})");
    CHECK(At(listed, "/settings/0/principalArn") == kMe);
    return At(listed, "/settings/0/value");
  };
  CHECK(in_force() == "disabled");
  api.Get("PutAccountSettingDefault", Put("containerInsights", "enabled"));
  CHECK(in_force() == "enabled");
  api.Get("PutAccountSetting", Put("containerInsights", "enhanced"));
  CHECK(in_force() == "enhanced");

  // Deleting answers with what then holds.
  const std::string remove = R"({"name":"containerInsights"})";
  CHECK(api.Ask("DeleteAccountSetting", remove).body ==
        R"({"setting":)" + Setting("containerInsights", "enabled", kMe) + "}");
  CHECK(api.Ask("DeleteAccountSetting", remove).status == 200);
  CHECK(in_force() == "enabled");
  CHECK(api.Ask("DeleteAccountSetting",
                R"({"name":"containerInsights","principalArn":")" + kRoot + R"("})")
            .body == R"({"setting":)" + Setting("containerInsights", "disabled", kRoot) + "}");
  CHECK(in_force() == "disabled");
}

TEST_CASE("the effective settings are all there are, in pages of at most ten", "[api]") {
  ApiFixture api;

  const auto first = api.Get("ListAccountSettings", R"({"effectiveSettings":true})");
  REQUIRE(first["settings"].Size() == 10);
  const auto second = api.Get("ListAccountSettings", R"({"effectiveSettings":true,"nextToken":")" +
                                                         At(first, "/nextToken") + R"("})");

  REQUIRE(second["settings"].Size() == 1);
  CHECK(At(second, "/nextToken") == "(absent)");
  std::vector<std::string> names;
  std::map<std::string, std::string> values;
  for (const auto* page : {&first, &second}) {
    for (const auto& setting : (*page)["settings"].GetArray()) {
      names.emplace_back(setting["name"].GetString());
      values[names.back()] = setting["value"].GetString();
    }
  }
  CHECK(std::ranges::is_sorted(names));
  CHECK(values == std::map<std::string, std::string>{{"awsvpcTrunking", "disabled"},
                                                     {"containerInsights", "disabled"},
                                                     {"containerInstanceLongArnFormat", "enabled"},
                                                     {"defaultLogDriverMode", "non-blocking"},
                                                     {"fargateEventWindows", "disabled"},
                                                     {"fargateFIPSMode", "disabled"},
                                                     {"fargateTaskRetirementWaitPeriod", "7"},
                                                     {"guardDutyActivate", "off"},
                                                     {"serviceLongArnFormat", "enabled"},
                                                     {"tagResourceAuthorization", "on"},
                                                     {"taskLongArnFormat", "enabled"}});
  CHECK(api.Ask("ListAccountSettings", R"({"effectiveSettings":true,"name":"guardDutyActivate"})")
            .body ==
        R"({"settings":[)" + Setting("guardDutyActivate", "off", kMe, "aws_managed") + "]}");
}

TEST_CASE("a page of account settings holds at most ten", "[api]") {
  ApiFixture api;

  CHECK(api.Ask("ListAccountSettings", R"({"maxResults":1})").status == 200);
  CHECK(api.Ask("ListAccountSettings", R"({"maxResults":10})").status == 200);
  for (const std::string size : {"0", "11"}) {
    CHECK(api.Refusal("ListAccountSettings", R"({"maxResults":)" + size + "}") ==
          "InvalidParameterException: maxResults is " + size + ": it should be from 1 to 10");
  }
}

TEST_CASE("settings are found by name, and by value beside it", "[api]") {
  ApiFixture api;
  api.Get("PutAccountSetting", Put("containerInsights", "enabled"));
  api.Get("PutAccountSetting", Put("awsvpcTrunking", "enabled"));
  const auto count = [&](const std::string& body) {
    return api.Get("ListAccountSettings", body)["settings"].Size();
  };

  CHECK(count("{}") == 2);
  CHECK(count(R"({"name":"awsvpcTrunking"})") == 1);
  CHECK(count(R"({"name":"awsvpcTrunking","value":"enabled"})") == 1);
  CHECK(count(R"({"name":"awsvpcTrunking","value":"disabled"})") == 0);
  CHECK(count(R"({"name":"dualStackIPv6"})") == 0);
  CHECK_THAT(api.Refusal("ListAccountSettings", R"({"value":"enabled"})"),
             Catch::StartsWith("InvalidParameterException: value is given without name"));
}

TEST_CASE("settings that are none, values that cannot be, and others' settings are refused",
          "[api]") {
  struct Case {
    std::string action;
    std::string body;
    std::string refusal;
  };
  const std::string names =
      "x should be one of [serviceLongArnFormat,taskLongArnFormat,containerInstanceLongArnFormat,"
      "containerLongArnFormat,awsvpcTrunking,containerInsights,dualStackIPv6,fargateFIPSMode,"
      "tagResourceAuthorization,fargateTaskRetirementWaitPeriod,guardDutyActivate,"
      "defaultLogDriverMode,fargateEventWindows]";
  const auto c = GENERATE_COPY(values<Case>({
      {"PutAccountSetting", Put("x", "enabled"), names},
      {"PutAccountSettingDefault", Put("x", "enabled"), names},
      {"DeleteAccountSetting", R"({"name":"x"})", names},
      {"ListAccountSettings", R"({"name":"x"})", names},
      {"PutAccountSetting", R"({"name":"awsvpcTrunking"})", "value is missing"},
      {"PutAccountSetting", R"({"value":"enabled"})", "name is missing"},
      {"PutAccountSetting", Put("awsvpcTrunking", "on"),
       "the value of awsvpcTrunking is 'on': it should be one of [enabled,disabled]"},
      {"PutAccountSetting", Put("containerInsights", ""), "[enabled,disabled,enhanced]"},
      {"PutAccountSetting", Put("fargateTaskRetirementWaitPeriod", "8"), "[0,7,14]"},
      {"PutAccountSetting", Put("tagResourceAuthorization", "enabled"), "[on,off]"},
      {"PutAccountSetting", Put("defaultLogDriverMode", "x"), "[blocking,non-blocking]"},
      {"PutAccountSetting", Put("taskLongArnFormat", "disabled"), "[enabled]"},
      {"PutAccountSetting", Put("guardDutyActivate", "on"), "guardDutyActivate is managed by AWS"},
      {"PutAccountSetting",
       R"({"name":"awsvpcTrunking","value":"enabled",)"
       R"("principalArn":"arn:aws:iam::000000000000:user/other"})",
       "principalArn is 'arn:aws:iam::000000000000:user/other': it should be your own"},
      {"ListAccountSettings", R"({"principalArn":"arn:aws:iam::000000000000:user/other"})",
       "it should be your own"},
      {"DeleteAccountSetting", R"({"name":"awsvpcTrunking","principalArn":"arn:aws:iam::1:root"})",
       "it should be your own"},
  }));
  INFO(c.action << " " << c.body);
  ApiFixture api;

  const std::string refusal = api.Refusal(c.action, c.body);

  CHECK_THAT(refusal, Catch::StartsWith("InvalidParameterException: "));
  CHECK_THAT(refusal, Catch::Contains(c.refusal));
}

TEST_CASE("the root sets for itself, which is the default of all", "[api]") {
  ApiFixture api;
  api.caller.principal_arn = kRoot;
  api.Get("PutAccountSetting", Put("containerInsights", "enabled"));
  CHECK_THAT(
      api.Refusal("PutAccountSetting",
                  R"({"name":"awsvpcTrunking","value":"enabled","principalArn":")" + kMe + R"("})"),
      Catch::StartsWith("InvalidParameterException: principalArn is"));

  api.caller.principal_arn = kMe;

  CHECK(api.Get("ListAccountSettings", "{}")["settings"].Empty());
  CHECK(
      At(api.Get("ListAccountSettings", R"({"effectiveSettings":true,"name":"containerInsights"})"),
         "/settings/0/value") == "enabled");
}

TEST_CASE("a new cluster has the containerInsights of its account, unless it has its own",
          "[api]") {
  ApiFixture api;
  const auto make = [&](const std::string& body) {
    return At(api.Get("CreateCluster", body), "/cluster/settings/0/value");
  };
  api.Get("PutAccountSettingDefault", Put("containerInsights", "enabled"));

  CHECK(make(R"({"clusterName":"a"})") == "enabled");
  CHECK(
      make(R"({"clusterName":"b","settings":[{"name":"containerInsights","value":"disabled"}]})") ==
      "disabled");
  CHECK(make(R"({"clusterName":"t","tags":[{"key":"k","value":"v"}]})") == "enabled");
  api.Get("PutAccountSetting", Put("containerInsights", "enhanced"));
  CHECK(make(R"({"clusterName":"c"})") == "enhanced");

  // What is there stays as it is, and is the same request's under any default.
  CHECK(make(R"({"clusterName":"a"})") == "enabled");
  CHECK(make(R"({"clusterName":"t","tags":[{"key":"k","value":"v"}]})") == "enabled");
  CHECK(make("{}") == "disabled");
  CHECK(At(api.Get("DescribeClusters", R"({"clusters":["a"],"include":["SETTINGS"]})"),
           "/clusters/0/settings/0/value") == "enabled");
  CHECK_THAT(
      api.Refusal("CreateCluster", R"({"clusterName":"a","settings":[{"name":"containerInsights",)"
                                   R"("value":"enhanced"}]})"),
      Catch::Contains("inconsistent"));
  CHECK_THAT(
      api.Refusal("CreateCluster", R"({"clusterName":"t","tags":[{"key":"k","value":"w"}]})"),
      Catch::Contains("inconsistent"));
}

}  // namespace
}  // namespace berth::api
