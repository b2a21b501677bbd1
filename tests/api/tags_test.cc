// The rules of tags (ecs-api.md 12.2), and that a bad one fails the creation as a whole.
#include "tests/api/api_fixture.h"

namespace berth::api {
namespace {

std::string Tag(const std::string& key, const std::string& value) {
  return R"({"key":")" + key + R"(","value":")" + value + R"("})";
}

std::string ManyTags(int count) {
  std::string tags;
  for (int i = 0; i < count; ++i) tags += (i ? "," : "") + Tag("k" + std::to_string(i), "");
  return tags;
}

std::string Repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST_CASE("tags keep to their rules", "[api]") {
  struct Case {
    std::string why;
    std::string tags;
    std::string refusal;  // empty: accepted
  };
  const auto c = GENERATE(values<Case>({
      {"none", "", ""},
      {"the most", ManyTags(50), ""},
      {"one too many", ManyTags(51), "tags can have at most 50 items."},
      {"the longest key, in characters", Tag(Repeated("é", 128), "v"), ""},
      {"a key too long", Tag(Repeated("é", 129), "v"), "is longer than 128 characters"},
      {"the longest value", Tag("k", Repeated("é", 256)), ""},
      {"a value too long", Tag("k", Repeated("é", 257)), "is longer than 256 characters"},
      {"every sign", Tag("a _.:/=+-@", "a _.:/=+-@"), ""},
      {"a sign that is not allowed", Tag("a", "b#c"), "contains invalid characters"},
      {"no key", R"({"value":"v"})", "a tag has no key"},
      {"an empty key", Tag("", "v"), "a tag has no key"},
      {"no value", R"({"key":"k"})", "the tag 'k' has no value"},
      {"a null value", R"({"key":"k","value":null})", "the tag 'k' has no value"},
      {"an empty value", Tag("k", ""), ""},
      {"twice the same key", Tag("k", "1") + "," + Tag("k", "2"), "the tag key 'k' is given twice"},
      {"keys are case-sensitive", Tag("k", "1") + "," + Tag("K", "2"), ""},
      {"reserved", Tag("aws:x", "1"), "is reserved"},
      {"reserved in any case", Tag("AwS:x", "1"), "is reserved"},
      {"not reserved", Tag("awsx", "1"), ""},
  }));
  INFO(c.why);
  ApiFixture api;

  const ApiResponse response =
      api.Ask("CreateCluster", R"({"clusterName":"tagged","tags":[)" + c.tags + "]}");

  CHECK((response.status == 200) == c.refusal.empty());
  if (!c.refusal.empty()) {
    CHECK(response.error_type == "InvalidParameterException");
    CHECK_THAT(response.body, Catch::Contains(c.refusal));
    CHECK(At(api.Get("DescribeClusters", R"({"clusters":["tagged"]})"), "/failures/0/reason") ==
          "MISSING");
  }
}

}  // namespace
}  // namespace berth::api
