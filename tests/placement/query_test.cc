// The cluster query language, rule by rule: what it takes, what that means, and how it refuses.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "model/errors.h"
#include "query_facts.h"

namespace berth::placement {
namespace {

std::string Refusal(const std::string& text) {
  const auto query = Query::Compile(text);
  REQUIRE_FALSE(query.ok());
  CHECK(model::KindOf(query.status()) == model::ErrorKind::kInvalidParameter);
  return std::string(query.status().message());
}

bool Matches(const std::string& text, const Facts& facts) {
  const auto query = Query::Compile(text);
  INFO(text << ": " << query.status().ToString());
  REQUIRE(query.ok());
  CHECK((*query)->text() == text);
  return (*query)->Matches(FakeInstance(facts));
}

Facts Example() {
  return {.attributes = {{"stack", "blue"},
                         {"ecs.instance-type", "t2.small"},
                         {"ecs.availability-zone", "us-east-1a"},
                         {"marked", std::nullopt}},
          .connected = true,
          .agent_version = "1.75.0",
          .ec2_instance_id = "i-abcd1234",
          .registered_at = absl::FromUnixMillis(1529360908'500),  // 2018-06-18T22:28:28.5Z
          .running_tasks = 3,
          .groups = {"family:db", "service:web"}};
}

struct Case {
  std::string text;
  bool matches;
};

void CheckAll(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    INFO(c.text);
    CHECK(Matches(c.text, Example()) == c.matches);
  }
}

TEST_CASE("attributes are compared as text", "[query]") {
  CheckAll({{"attribute:stack == blue", true},
            {"attribute:stack == Blue", false},
            {"attribute:stack equals blue", true},
            {"attribute:stack != blue", false},
            {"attribute:stack not_equals green", true},
            {"attribute:stack > blu", true},
            {"attribute:stack > blue", false},
            {"attribute:stack >= blue", true},
            {"attribute:stack < c", true},
            {"attribute:stack <= blud", false},
            {"attribute:stack greater_than a", true},
            {"attribute:stack greater_than_equal blue", true},
            {"attribute:stack less_than a", false},
            {"attribute:stack less_than_equal blue", true},
            {"attribute:stack > 9", true},
            {"attribute:stack in [green, blue]", true},
            {"attribute:stack in [green]", false},
            {"attribute:stack !in [green,red]", true},
            {"attribute:stack not_in [ green , blue ]", false},
            {"attribute:stack =~ bl.*", true},
            {"attribute:stack matches bl", false},
            {"attribute:stack !~ bl", true},
            {"attribute:stack not_matches b.u.", false},
            {"attribute:stack exists", true},
            {"attribute:stack !exists", false},
            {"attribute:stack not_exists", false}});
}

TEST_CASE("what an instance lacks is only ever absent", "[query]") {
  CheckAll({{"attribute:none == blue", false},
            {"attribute:none != blue", false},
            {"attribute:none > a", false},
            {"attribute:none <= z", false},
            {"attribute:none in [blue]", false},
            {"attribute:none !in [blue]", false},
            {"attribute:none =~ .*", false},
            {"attribute:none !~ x", false},
            {"attribute:none exists", false},
            {"attribute:none !exists", true},
            {"attribute:none not_exists", true},
            {"not(attribute:none == blue)", true}});
}

TEST_CASE("an attribute without a value has the empty one", "[query]") {
  CheckAll({{"attribute:marked exists", true},
            {"attribute:marked == ''", true},
            {"attribute:marked != x", true},
            {"attribute:marked =~ ''", true},
            {"attribute:marked < a", true}});
}

TEST_CASE("an agent is connected or not, as a word", "[query]") {
  CheckAll({{"agentConnected == true", true},
            {"agentConnected == false", false},
            {"agentConnected != false", true},
            {"agentConnected in [true, yes]", true},
            {"agentConnected !in [true]", false},
            {"agentConnected =~ t.*", true},
            {"agentConnected !~ t.*", false}});
}

TEST_CASE("versions are compared number by number", "[query]") {
  CheckAll({{"agentVersion == 1.75.0", true},
            {"agentVersion == 1.75", true},
            {"agentVersion == 01.75", true},
            {"agentVersion != 1.75.1", true},
            {"agentVersion > 1.9.9", true},
            {"agentVersion >= 1.75.0.0", true},
            {"agentVersion < 1.100", true},
            {"agentVersion <= 1.74.99999999999999999999999999", false},
            {"agentVersion < 99999999999999999999999999", true}});

  Facts facts;
  facts.agent_version = "v1.2.3-dev (*abc)";
  CHECK(Matches("agentVersion == 1.2.3", facts));
  facts.agent_version = "";
  CHECK_FALSE(Matches("agentVersion == 1.2.3", facts));
  CHECK_FALSE(Matches("agentVersion != 1.2.3", facts));
  CHECK_FALSE(Matches("agentVersion < 9", facts));
}

TEST_CASE("a machine's id is text", "[query]") {
  CheckAll({{"ec2InstanceId == i-abcd1234", true},
            {"ec2InstanceId != i-abcd1234", false},
            {"ec2InstanceId in ['i-abcd1234', 'i-wxyx7890']", true},
            {"ec2InstanceId !in [\"i-abcd1234\"]", false},
            {"ec2InstanceId =~ 'i-[a-d]+[0-9]{4}'", true},
            {"ec2InstanceId !~ 'i-.*'", false}});
}

TEST_CASE("moments may be written in four ways, and are compared by the second", "[query]") {
  CheckAll({{"registeredAt == 2018-06-18T22:28:28+00:00", true},
            {"registeredAt == 2018-06-18T22:28:28Z", true},
            {"registeredAt == 2018-06-18T22:28:28", true},
            {"registeredAt == 2018-06-18T22:28:28.500000+00:00", true},
            {"registeredAt == 2018-06-19T00:28:28+02:00", true},
            {"registeredAt == 2018-06-18T20:58:28-01:30", true},
            {"registeredAt != 2018-06-18T22:28:28Z", false},
            {"registeredAt > 2018-06-18", true},
            {"registeredAt > 2018-06-18T22:28:28Z", false},
            {"registeredAt >= 2018-06-18T22:28:28Z", true},
            {"registeredAt < 2018-06-19", true},
            {"registeredAt <= 2018-06-18", false},
            {"registeredAt > 1969-12-31T23:59:59", true}});
}

TEST_CASE("running tasks are counted", "[query]") {
  CheckAll({{"runningTasksCount == 3", true},
            {"runningTasksCount != 3", false},
            {"runningTasksCount > 2", true},
            {"runningTasksCount >= 4", false},
            {"runningTasksCount < 10", true},
            {"runningTasksCount <= 3", true},
            {"runningTasksCount > -1", true}});
}

TEST_CASE("a group matches when any task's does", "[query]") {
  CheckAll({{"task:group == family:db", true},
            {"task:group == service:web", true},
            {"task:group == database", false},
            {"not(task:group == database)", true},
            {"not(task:group == family:db)", false},
            {"task:group in [a, service:web]", true},
            {"task:group =~ service:.*", true},
            // Another task than the one named is one too: anti-affinity is written with not().
            {"task:group != family:db", true}});

  CHECK_FALSE(Matches("task:group != family:db", Facts{.groups = {"family:db"}}));
  CHECK_FALSE(Matches("task:group != family:db", Facts{}));
  CHECK(Matches("not(task:group == family:db)", Facts{}));
}

TEST_CASE("not binds more than and, and more than or", "[query]") {
  const std::string t = "attribute:stack exists";
  const std::string f = "attribute:stack !exists";
  CheckAll({{t + " or " + t + " and " + f, true},
            {"(" + t + " or " + t + ") and " + f, false},
            {f + " and " + f + " or " + t, true},
            {f + " and (" + f + " or " + t + ")", false},
            {"not " + f + " and " + t, true},
            {"not " + t + " or " + t, true},
            {"not (" + t + " or " + t + ")", false},
            {"!" + f, true},
            {"! " + f, true},
            {"!!" + t, true},
            {"not not " + t, true},
            {"not(" + f + ")", true},
            {"!(" + f + ")&&!(" + f + ")", true},
            {"(" + f + ")or(" + t + ")", true},
            {"(" + f + ")||(" + t + ")", true},
            {t + " && " + f + " || " + t, true},
            {"(((" + t + ")))", true}});
}

TEST_CASE("the examples of the guide are understood", "[query]") {
  CheckAll(
      {{"attribute:ecs.instance-type == t2.small", true},
       {"attribute:ecs.availability-zone in [us-east-1a, us-east-1b]", true},
       {"attribute:ecs.instance-type =~ g2.* and attribute:ecs.availability-zone != us-east-1d",
        false},
       {"attribute:ecs.instance-type =~ t2.*", true},
       {"attribute:ecs.instance-type =~ t2", false},
       {"not(task:group == database)", true},
       {"ec2InstanceId in ['i-abcd1234', 'i-wxyx7890']", true},
       {"(runningTasksCount > 1 or agentConnected == false) and attribute:stack exists", true}});
}

TEST_CASE("blanks are free where words do not meet, and values may be quoted", "[query]") {
  CheckAll({{"attribute:stack==blue", true},
            {"  attribute:stack  ==\t'blue'\n", true},
            {"attribute:stack == \"blue\"", true},
            {"attribute:stack in[blue]", true},
            {"attribute:stack in ['blue',\"red\"]", true},
            {"attribute:stack equals'blue'", true},
            {"attribute:stack != 'it is; (not) [this], one'", true},
            {"attribute:stack != \"it's\"", true},
            {"attribute:stack != a:/.-*[", true},
            {"attribute:stack == 'blue'and attribute:marked exists", true}});
}

TEST_CASE("what is no query is refused with the place and what would be right", "[query]") {
  struct Wrong {
    std::string text;
    int character;
    std::string what;
  };
  const std::vector<Wrong> wrongs = {
      {"", 1, "a subject"},
      {"   ", 4, "a subject"},
      {"stack == blue", 1, "a subject (attribute:<name>, agentConnected"},
      {"Attribute:stack == blue", 1, "a subject"},
      {"attribute: stack == blue", 12, "the name of an attribute is expected, but 'stack == blue'"},
      {"attribute:stack", 16, "an operator (==, !=, >, >="},
      {"attribute:stack = blue", 17, "an operator"},
      {"attribute:stack EQUALS blue", 17, "an operator"},
      {"attribute:stack inside [a]", 17, "an operator"},
      {"attribute:stack ==", 19, "a value is expected, but the expression ends"},
      {"attribute:stack == ,", 20, "a value is expected, but ',' stands there"},
      {"attribute:stack == blue green", 25, "and, && or, || or the end"},
      {"attribute:stack == blue&&attribute:x exists", 24, "a blank is needed before &&"},
      {"attribute:stack == blue||attribute:stack == green", 24, "a blank is needed before ||"},
      {"attribute:stack =~ b||attribute:stack =~ g", 21, "a blank is needed before ||"},
      {"attribute:stack in [a&&b]", 22, "a blank is needed before &&"},
      {"attribute:stack == 'blue", 20, "this quotation has no end"},
      {"attribute:stack in blue", 20, "a list in [ and ]"},
      {"attribute:stack in []", 21, "a value"},
      {"attribute:stack in [a,]", 23, "a value"},
      {"attribute:stack in [a b]", 23, ", or ]"},
      {"attribute:stack in [a", 22, ", or ]"},
      {"(attribute:stack exists", 24, "and, && or, || or )"},
      {"attribute:stack exists)", 23, "and, && or, || or the end"},
      {"attribute:stack exists and", 27, "a subject"},
      {"attribute:stack exists AND attribute:x exists", 24, "and, && or, || or the end"},
      {"attribute:(stack) exists", 11, "the name of an attribute"},
      {"attribute:stack (==) blue", 17, "an operator"},
      {"attribute:stack == (blue)", 20, "a value"},
      {"agentConnected > true", 16, "> cannot be asked of this subject, only ==, !=, =~, !~"},
      {"agentConnected exists", 16, "exists cannot be asked"},
      {"agentVersion =~ 1.*", 14, "=~ cannot be asked of this subject, only ==, !=, >, >=, <, <="},
      {"agentVersion in [1]", 14, "in cannot be asked"},
      {"agentVersion > 1.x", 16, "a version is expected, such as 1.75.0"},
      {"agentVersion > 1.", 16, "a version"},
      {"agentVersion > '1.2 '", 17, "a version"},
      {"ec2InstanceId > i", 15, "> cannot be asked"},
      {"ec2InstanceId exists", 15, "exists cannot be asked"},
      {"registeredAt exists", 14, "exists cannot be asked"},
      {"registeredAt > yesterday", 16, "a date is expected, such as 2018-06-18"},
      {"registeredAt > 2018-02-30", 16, "a date"},
      {"registeredAt > 2018-13-01", 16, "a date"},
      {"registeredAt > 2018-6-18", 16, "a date"},
      {"registeredAt > 2018-06-18T24:00:00", 16, "a date"},
      {"registeredAt > 2018-06-18T22:28", 16, "a date"},
      {"registeredAt > 2018-06-18T22:28:28+0000", 16, "a date"},
      {"registeredAt > 2018-06-18T22:28:28.Z", 16, "a date"},
      {"runningTasksCount > many", 21, "a whole number"},
      {"runningTasksCount > 1.5", 21, "a whole number"},
      {"runningTasksCount > 99999999999999999999", 21, "a whole number"},
      {"runningTasksCount in [1]", 19, "in cannot be asked"},
      {"task:group > a", 12, "> cannot be asked"},
      {"task:family == a", 1, "a subject"},
      {"attribute:stack =~ 'a(b'", 22, "in the regular expression a group is not closed"},
      {"ec2InstanceId =~ i-[a-d]+", 20, "in the regular expression a class is not closed"},
      {"attribute:stack =~ *", 20, "in the regular expression a quantifier has nothing before it"},
      {"attribute:\xC3\xA4 exists", 11, "the name of an attribute"},
      {"attribute:x == \xC3\xA4\xE2\x82\xAC b", 19, "and, && or, || or the end"},
      {"attribute:x =~ '\xC3\xA4\xE2\x82\xAC(?i)'", 19, "flags such as (?i) are not taken"},
  };
  for (const Wrong& wrong : wrongs) {
    INFO(wrong.text);
    const std::string refusal = Refusal(wrong.text);
    CHECK_THAT(refusal, Catch::Contains("'" + wrong.text + "'"));
    CHECK_THAT(refusal, Catch::Contains("at character " + std::to_string(wrong.character) + ": "));
    CHECK_THAT(refusal, Catch::Contains(wrong.what));
  }
}

TEST_CASE("a query has at most 2000 characters", "[query]") {
  const auto of_length = [](size_t length, const std::string& unit) {
    std::string text = "attribute:a == '";
    for (size_t i = text.size() + 1; i < length; ++i) text += unit;
    return text + "'";
  };

  CHECK(Query::Compile(of_length(2000, "x")).ok());
  CHECK(Query::Compile(of_length(2000, "\xC3\xA4")).ok());
  CHECK(Refusal(of_length(2001, "x")) ==
        "the expression has 2001 characters; at most 2000 are allowed");
}

TEST_CASE("a query is at most 50 deep", "[query]") {
  const auto nested = [](int depth) {
    return std::string(depth, '(') + "attribute:a exists" + std::string(depth, ')');
  };
  const auto negated = [](int depth) { return std::string(depth, '!') + "attribute:a exists"; };

  CHECK(Query::Compile(nested(50)).ok());
  CHECK(Query::Compile(negated(50)).ok());
  CHECK_THAT(Refusal(nested(51)), Catch::Contains("more than 50 deep"));
  CHECK_THAT(Refusal(negated(51)), Catch::Contains("more than 50 deep"));
  CHECK_THAT(Refusal(std::string(1999, '!')), Catch::Contains("more than 50 deep"));
}

TEST_CASE("the regular expressions of a query share one bound", "[query]") {
  const std::string large = "attribute:a =~ 'a{800}'";
  std::string text = large;
  for (int i = 1; i < 8; ++i) text += " or " + large;

  CHECK(Query::Compile(text).ok());
  CHECK_THAT(Refusal(text + " or " + large), Catch::Contains("the pattern is too large"));
}

}  // namespace
}  // namespace berth::placement
