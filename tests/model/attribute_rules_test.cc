#include "model/attribute_rules.h"

#include <string>

#include <catch2/catch.hpp>

#include "model/errors.h"

namespace berth::model {
namespace {

TEST_CASE("an attribute's name and value keep ECS's characters and lengths", "[instance]") {
  struct Case {
    std::string why;
    Attribute attribute;
    bool passes;
  };
  const std::string longest(128, 'n');
  const auto c = GENERATE_COPY(values<Case>({
      {"a name alone", {.name = "rack"}, true},
      {"every character of a name", {.name = "aZ09-_./\\"}, true},
      {"the shortest", {.name = "r", .value = "v"}, true},
      {"the longest", {.name = longest, .value = longest}, true},
      {"every character of a value", {.name = "r", .value = "aZ09-_./\\@: x"}, true},
      {"an empty value", {.name = "r", .value = ""}, true},
      {"no name", {.name = ""}, false},
      {"a name one too long", {.name = longest + "n"}, false},
      {"a value one too long", {.name = "r", .value = longest + "v"}, false},
      {"a space in a name", {.name = "my rack"}, false},
      {"an at sign in a name", {.name = "a@b"}, false},
      {"a letter beyond ASCII", {.name = "ré"}, false},
      {"a comma in a value", {.name = "r", .value = "a,b"}, false},
      {"a space before a value", {.name = "r", .value = " a"}, false},
      {"a space after a value", {.name = "r", .value = "a "}, false},
      {"a space alone", {.name = "r", .value = " "}, false},
      {"a line break in a value", {.name = "r", .value = "a\nb"}, false},
  }));
  INFO(c.why);

  const absl::Status status = CheckAttribute(c.attribute);

  CHECK(status.ok() == c.passes);
  if (!status.ok()) CHECK(KindOf(status) == ErrorKind::kInvalidParameter);
}

TEST_CASE("names that agents give are reserved, by their beginning", "[instance]") {
  for (const char* name : {"ecs.os-type", "com.amazonaws.ecs.x", "berth.mps-clients-max", "ecs."}) {
    INFO(name);
    CHECK(IsReservedAttribute(name));
  }
  for (const char* name : {"ecs", "ecsx.a", "my.ecs.a", "com.amazon", "berth", "ECS.os-type"}) {
    INFO(name);
    CHECK_FALSE(IsReservedAttribute(name));
  }
}

}  // namespace
}  // namespace berth::model
