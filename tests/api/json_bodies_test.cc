// What of a body is refused, what is dropped, and what comes out.
#include <cmath>

#include <catch2/catch.hpp>

#include "api/aws_json.h"
#include "api/decode.h"
#include "api/shape_checks.h"

namespace berth::api {

struct Everything {
  std::optional<std::string> cluster = std::nullopt;
  int64_t count = 1;
  bool exec = false;
};
template <>
inline constexpr auto kFields<Everything> = std::array{
    Field<&Everything::cluster>("cluster"),
    Field<&Everything::count>("count"),
    Field<&Everything::exec>("enableExecuteCommand"),
};

struct Misspelt {
  std::string cluster = {};
};
template <>
inline constexpr auto kFields<Misspelt> = std::array{Field<&Misspelt::cluster>("clutser")};

struct Mistyped {
  int64_t cluster = 0;
};
template <>
inline constexpr auto kFields<Mistyped> = std::array{Field<&Mistyped::cluster>("cluster")};

namespace {

const schema::Shape& InputShape(const char* action) {
  return schema::InputOf(*schema::FindOperation(action));
}

// The normalised text, or the refusal.
std::string Normal(const char* action, const std::string& text) {
  const absl::StatusOr<JsonBody> body = JsonBody::Parse(text, InputShape(action));
  return body.ok() ? ToJson(body->root()) : std::string(body.status().message());
}

struct Case {
  std::string why;
  std::string body;
  std::string outcome;
};

TEST_CASE("a member of the wrong JSON type is refused by name", "[api][json]") {
  const auto c = GENERATE(values<Case>({
      {"string for an integer", R"({"containerDefinitions":[{"memory":"4096"}]})",
       "STRING_VALUE can not be converted to an Integer (containerDefinitions[0].memory)"},
      {"fraction for an integer", R"({"containerDefinitions":[{},{"memory":4096.5}]})",
       "NUMBER_VALUE with a fraction can not be converted to an Integer "
       "(containerDefinitions[1].memory)"},
      {"boolean for an integer", R"({"containerDefinitions":[{"cpu":true}]})",
       "TRUE_VALUE can not be converted to an Integer (containerDefinitions[0].cpu)"},
      {"number for a string", R"({"family":7})",
       "NUMBER_VALUE can not be converted to a String (family)"},
      {"boolean for a string", R"({"family":false})",
       "FALSE_VALUE can not be converted to a String (family)"},
      {"number for a boolean", R"({"enableFaultInjection":1})",
       "NUMBER_VALUE can not be converted to a Boolean (enableFaultInjection)"},
      {"string for a boolean", R"({"enableFaultInjection":"true"})",
       "STRING_VALUE can not be converted to a Boolean (enableFaultInjection)"},
      {"object for a string", R"({"family":{}})",
       "Start of structure or map found where not expected. (family)"},
      {"list for a string", R"({"family":[]})", "Start of list found where not expected. (family)"},
      {"object for a list", R"({"containerDefinitions":{}})",
       "Start of structure or map found where not expected. (containerDefinitions)"},
      {"list for a structure", R"({"runtimePlatform":[]})",
       "Start of list found where not expected. (runtimePlatform)"},
      {"string for a list", R"({"volumes":"v"})",
       "STRING_VALUE can not be converted to a List (volumes)"},
      {"null in a list", R"({"requiresCompatibilities":[null]})",
       "NULL_VALUE can not be converted to a String (requiresCompatibilities[0])"},
      {"number in a map", R"({"containerDefinitions":[{"dockerLabels":{"a":1}}]})",
       "NUMBER_VALUE can not be converted to a String (containerDefinitions[0].dockerLabels[a])"},
      {"a list for the body", "[]", "Start of list found where not expected."},
      {"a string for the body", R"("x")", "STRING_VALUE can not be converted to a Structure"},
      {"null for the body", "null", "NULL_VALUE can not be converted to a Structure"},
  }));
  INFO(c.why);

  CHECK(Normal("RegisterTaskDefinition", c.body) == c.outcome);
}

TEST_CASE("integers keep to their range and lose an empty fraction", "[api][json]") {
  const std::string too_large = "NUMBER_VALUE out of range can not be converted to ";
  const auto c = GENERATE_COPY(values<Case>({
      {"the largest", R"({"count":2147483647})", R"({"count":2147483647})"},
      {"one more", R"({"count":2147483648})", too_large + "an Integer (count)"},
      {"the smallest", R"({"count":-2147483648})", R"({"count":-2147483648})"},
      {"one less", R"({"count":-2147483649})", too_large + "an Integer (count)"},
      {"beyond 64 bits", R"({"count":18446744073709551616})", too_large + "an Integer (count)"},
      {"an exponent", R"({"count":1e1})", R"({"count":10})"},
      {"an empty fraction", R"({"count":3.0})", R"({"count":3})"},
      {"as large as doubles get", R"({"count":1e300})", too_large + "an Integer (count)"},
      {"minus nothing", R"({"count":-0})", R"({"count":0})"},
  }));
  INFO(c.why);

  CHECK(Normal("RunTask", c.body) == c.outcome);

  const std::string longs = R"({"totalResources":[{"longValue":)";
  CHECK(Normal("RegisterContainerInstance", longs + "9223372036854775807}]}") ==
        longs + "9223372036854775807}]}");
  CHECK(Normal("RegisterContainerInstance", longs + "9223372036854775808}]}") ==
        too_large + "a Long (totalResources[0].longValue)");
}

TEST_CASE("what is no JSON text is refused", "[api][json]") {
  const auto c = GENERATE(values<Case>({
      {"cut off", R"({"family":)", "Invalid value."},
      {"nothing but a blank", " ", "The document is empty."},
      {"two texts", "{} {}", "The document root must not be followed by other values."},
      {"a comma too many", R"({"family":"a",})", "Missing a name for object member."},
      {"single quotes", "{'family':'a'}", "Missing a name for object member."},
      {"a comment", "{/**/}", "Missing a name for object member."},
      {"not a number", R"({"count":NaN})", "Invalid value."},
      {"a control character", "{\"family\":\"a\nb\"}", "in string."},
      {"half a surrogate pair", R"({"family":"\ud800"})",
       "The surrogate pair in string is invalid."},
      {"the other half", R"({"family":"\udc00"})", "The surrogate pair in string is invalid."},
      {"the other half, in a name", R"({"\udfff":1})", "The surrogate pair in string is invalid."},
      {"a byte that is not UTF-8", "{\"family\":\"\xff\"}", "Invalid encoding in string."},
      {"a number without end", R"({"count":1e999})", "Number too big to be stored in double."},
      {"a zero byte behind", std::string("{}\0x", 4), "it has a zero byte"},
  }));
  INFO(c.why);

  const absl::StatusOr<JsonBody> body =
      JsonBody::Parse(c.body, InputShape("RegisterTaskDefinition"));

  REQUIRE(!body.ok());
  CHECK_THAT(std::string(body.status().message()), Catch::Contains(c.outcome));
}

// Found by tests/fuzz: RapidJSON alone reads past the end of such a text; ASan sees it.
TEST_CASE("a body that ends within a UTF-8 character is refused", "[api][json]") {
  const auto end =
      GENERATE(values<std::string>({"\xe1", "\xe1\x80", "\xf1", "\xf1\x80\x80", "\xc3"}));

  const absl::StatusOr<JsonBody> body =
      JsonBody::Parse("\"" + std::string(100, '9') + end, InputShape("ListTasks"));

  CHECK_FALSE(body.ok());
}

// Found by tests/fuzz: in RapidJSON's full precision this is undefined; UBSan sees it.
TEST_CASE("zero with an exponent is zero", "[api][json]") {
  CHECK(Normal("RunTask", R"({"count":0e41})") == R"({"count":0})");
}

TEST_CASE("nesting is limited, in members that are unknown too", "[api][json]") {
  const auto nested = [](int depth) {  // the object counts
    return R"({"unknown":)" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}";
  };

  CHECK(Normal("RunTask", nested(kJsonDepthMax - 1)) == "{}");
  CHECK(Normal("RunTask", nested(kJsonDepthMax)) == "{}");
  CHECK(Normal("RunTask", nested(kJsonDepthMax + 1)) ==
        "the body nests deeper than 64 arrays and objects");
  CHECK(Normal("RunTask", std::string(1'000'000, '[')) ==
        "the body nests deeper than 64 arrays and objects");
  CHECK_THAT(Normal("RunTask", R"({"a":)" + std::string(1'000'000, '{')),
             Catch::Contains("not valid JSON"));
}

TEST_CASE("what says nothing is dropped, the rest keeps its order", "[api][json]") {
  const auto c = GENERATE(values<Case>({
      {"unknown members", R"({"b":{"c":[1]},"family":"f","x":null})", R"({"family":"f"})"},
      {"nulls", R"({"family":null,"cpu":"1"})", R"({"cpu":"1"})"},
      {"the earlier of two", R"({"family":"a","cpu":"1","family":"b"})",
       R"({"family":"b","cpu":"1"})"},
      {"the earlier of two in a map",
       R"({"containerDefinitions":[{"dockerLabels":{"k":"1","l":"2","k":"3"}}]})",
       R"({"containerDefinitions":[{"dockerLabels":{"k":"3","l":"2"}}]})"},
      {"blanks", "{ \"family\" :\n\"f\" }", R"({"family":"f"})"},
      {"escapes that need not be", R"({"family":"\u0041\/\u00e9"})", R"({"family":"A/é"})"},
      {"names are case-sensitive", R"({"Family":"f"})", "{}"},
      {"a zero character is a character", R"({"family":"a\u0000b"})", R"({"family":"a\u0000b"})"},
  }));
  INFO(c.why);

  CHECK(Normal("RegisterTaskDefinition", c.body) == c.outcome);
}

TEST_CASE("a union without exactly one known member is left empty for the action", "[api][json]") {
  const auto with = [](const std::string& strategy) {
    return R"({"containerDefinitions":[{"resourceRequirements":[{"sharingStrategy":)" + strategy +
           "}]}]}";
  };
  const auto c = GENERATE(values<Case>({
      {"one", R"({"nvidiaMps":{"memory":1}})", R"({"nvidiaMps":{"memory":1}})"},
      {"none", "{}", "{}"},
      {"null", R"({"nvidiaMps":null})", "{}"},
      {"an unknown one", R"({"mig":{}})", "{}"},
      {"one and an unknown one", R"({"nvidiaMps":{"memory":1},"mig":{}})", "{}"},
      {"one and a null", R"({"nvidiaMps":{"memory":1},"mig":null})",
       R"({"nvidiaMps":{"memory":1}})"},
  }));
  INFO(c.why);

  CHECK(Normal("RegisterTaskDefinition", with(c.body)) == with(c.outcome));
}

TEST_CASE("timestamps are numbers, or strings that hold one", "[api][json]") {
  const auto c = GENERATE(values<Case>({
      {"whole seconds", "1556310237", "1556310237.000"},
      {"a fraction", "1556310237.664", "1556310237.664"},
      {"an exponent", "1.556310237664E9", "1556310237.664"},
      {"a string", R"("1556310237.664")", "1556310237.664"},
      {"an ISO date", R"("2019-04-26T20:23:57Z")",
       "STRING_VALUE can not be converted to a Timestamp"},
      {"an empty string", R"("")", "STRING_VALUE can not be converted to a Timestamp"},
      {"infinity", R"("inf")", "NUMBER_VALUE out of range can not be converted to a Timestamp"},
      {"beyond the year 9999", "1e12",
       "NUMBER_VALUE out of range can not be converted to a Timestamp"},
      {"a boolean", "true", "TRUE_VALUE can not be converted to a Timestamp"},
  }));
  INFO(c.why);

  const std::string outcome =
      Normal("SubmitTaskStateChange", R"({"pullStartedAt":)" + c.body + "}");

  CHECK((outcome == R"({"pullStartedAt":)" + c.outcome + "}" ||
         outcome == c.outcome + " (pullStartedAt)"));
}

TEST_CASE("one canonical text for all ways to write a request", "[api][json]") {
  const auto canonical = [](const std::string& text) {
    const absl::StatusOr<JsonBody> body = JsonBody::Parse(text, InputShape("RunTask"));
    REQUIRE(body.ok());
    return ToCanonicalJson(body->root(), {"clientToken"});
  };

  const std::string one = canonical(
      R"({"taskDefinition":"f","clientToken":"t","tags":[{"value":"v","key":"k"}],"count":1.0})");

  CHECK(one == R"({"count":1,"tags":[{"key":"k","value":"v"}],"taskDefinition":"f"})");
  CHECK(one ==
        canonical(R"({"count":1,"x":1,"tags":[{"key":"k","value":"v"}],"taskDefinition":"f"})"));
  CHECK(one != canonical(R"({"count":2,"tags":[{"key":"k","value":"v"}],"taskDefinition":"f"})"));
}

TEST_CASE("absent members leave fields as they were made", "[api][json]") {
  const auto body = JsonBody::Parse(R"({"enableExecuteCommand":true})", InputShape("RunTask"));
  REQUIRE(body.ok());

  const auto request = Decode<Everything>(body->root());

  CHECK(!request.cluster.has_value());
  CHECK(request.count == 1);
  CHECK(request.exec);
}

TEST_CASE("a table that does not fit the API model is found out", "[api][json]") {
  CHECK(TableFits<Everything>(InputShape("RunTask")));
  CHECK(!TableFits<Misspelt>(InputShape("RunTask")));
  CHECK(!TableFits<Mistyped>(InputShape("RunTask")));
  CHECK(!TableFits<Everything>(InputShape("StopTask")));
}

TEST_CASE("the model's required members and words are checked at any depth", "[api][json]") {
  const auto parsed = [](const std::string& text) {
    return JsonBody::Parse(text, InputShape("RegisterTaskDefinition"));
  };
  const auto whole =
      parsed(R"({"family":"f","containerDefinitions":[{"portMappings":[{"protocol":"sctp"}],)"
             R"("linuxParameters":{"devices":[{"hostPath":"/dev/x","permissions":["mknod"]}]}}]})");
  const auto missing =
      parsed(R"({"family":"f","containerDefinitions":[{"linuxParameters":{"devices":[{}]}}]})");
  const auto unknown = parsed(
      R"({"containerDefinitions":[{"linuxParameters":{"devices":[{"permissions":["exec"]}]}}]})");

  CHECK(FindMissingMember(whole->root()) == std::nullopt);
  CHECK(FindUnknownWord(whole->root()) == std::nullopt);
  CHECK(FindMissingMember(missing->root()) ==
        "containerDefinitions[0].linuxParameters.devices[0].hostPath is missing");
  CHECK(FindUnknownWord(unknown->root()) ==
        "containerDefinitions[0].linuxParameters.devices[0].permissions[0] is 'exec': it should be "
        "one of read, write, mknod");
}

TEST_CASE("a large body of members that nobody knows is read in linear time", "[api][json]") {
  std::string text = R"({"taskDefinition":"f")";
  for (int i = 0; i < 200'000; ++i) text += ",\"unknown" + std::to_string(i) + "\":0";
  text += R"(,"tags":[]})";

  CHECK(Normal("RunTask", text) == R"({"taskDefinition":"f","tags":[]})");
}

}  // namespace
}  // namespace berth::api
