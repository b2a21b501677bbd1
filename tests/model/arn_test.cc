#include "model/arn.h"

#include <catch2/catch.hpp>

#include "model/errors.h"

namespace berth::model {
namespace {

const ArnScope kScope = {.partition = "aws", .region = "eu-west-1", .account = "123456789012"};
const ClusterName kCluster = {"default"};
const std::string kHex = "0123456789abcdef0123456789abcdef";
const std::string kUuid = "01234567-89ab-cdef-0123-456789abcdef";
const std::string kPrefix = "arn:aws:ecs:eu-west-1:123456789012:";

struct Case {
  std::string why;
  std::string text;
  std::string parsed = {};  // empty: refused
  std::string refusal = {};
};

template <class Parse, class Show>
void CheckAll(const std::vector<Case>& cases, const Parse& parse, const Show& show) {
  for (const Case& c : cases) {
    INFO(c.why << ": " << c.text);
    const auto result = parse(c.text);
    CHECK(result.ok() == c.refusal.empty());
    if (result.ok()) {
      CHECK(show(*result) == c.parsed);
    } else {
      CHECK(std::string(result.status().message()) == c.refusal);
      CHECK(KindOf(result.status()) == ErrorKind::kInvalidParameter);
    }
  }
}

TEST_CASE("new ARNs are of the long form", "[arn]") {
  CHECK(ClusterArn(kScope, kCluster) == kPrefix + "cluster/default");
  CHECK(TaskArn(kScope, kCluster, TaskId{kHex}) == kPrefix + "task/default/" + kHex);
  CHECK(InstanceArn(kScope, kCluster, InstanceId{kHex}) ==
        kPrefix + "container-instance/default/" + kHex);
  CHECK(TaskDefinitionArn(kScope, {.family = "web", .revision = 12}) ==
        kPrefix + "task-definition/web:12");
  CHECK(ContainerArn(kScope, kCluster, TaskId{kHex}, kUuid) ==
        kPrefix + "container/default/" + kHex + "/" + kUuid);
}

TEST_CASE("an ARN is cut into six pieces, the last with all that is left", "[arn]") {
  const std::optional<Arn> arn = ParseArn("arn:aws-cn:ecs:cn-north-1:42:task-definition/web:3");

  REQUIRE(arn.has_value());
  CHECK(arn->partition == "aws-cn");
  CHECK(arn->service == "ecs");
  CHECK(arn->region == "cn-north-1");
  CHECK(arn->account == "42");
  CHECK(arn->resource == "task-definition/web:3");
}

TEST_CASE("what is no ARN is not taken for one", "[arn]") {
  for (const char* text : {"", "arn", "arn:", "arn:aws:ecs:r:1", "arn:aws:ecs:r:1:",
                           "arn::ecs:r:1:x", "arn:aws::r:1:x", "ARN:aws:ecs:r:1:x", "default"}) {
    INFO(text);
    CHECK_FALSE(ParseArn(text).has_value());
  }
  CHECK(ParseArn("arn:aws:s3:::bucket").has_value());  // region and account may be empty
}

TEST_CASE("a cluster is named by its name or its ARN", "[arn]") {
  const std::string long_name(255, 'a');
  const std::string too_long(256, 'a');
  const std::string must_match = "Cluster must match ^[a-zA-Z0-9\\-_]{1,255}$, but was ";
  CheckAll(
      {
          {"a name", "my-Cluster_1", "my-Cluster_1"},
          {"the longest name", long_name, long_name},
          {"one more", too_long, "", must_match + too_long},
          {"empty", "", "", must_match},
          {"a bad character", "a b", "", must_match + "a b"},
          {"an ARN", kPrefix + "cluster/prod", "prod"},
          {"another partition", "arn:aws-us-gov:ecs:eu-west-1:123456789012:cluster/prod", "prod"},
          {"a bad name in an ARN", kPrefix + "cluster/a.b", "", must_match + "a.b"},
          {"an empty name in an ARN", kPrefix + "cluster/", "", must_match},
          {"another account", "arn:aws:ecs:eu-west-1:999999999999:cluster/prod", "",
           "Identifier is for 999999999999. Your accountId is 123456789012"},
          {"another kind", kPrefix + "task/default/" + kHex, "", "Unsupported resource type: task"},
          {"another service", "arn:aws:s3:eu-west-1:123456789012:cluster/prod", "",
           "Invalid identifier: arn:aws:s3:eu-west-1:123456789012:cluster/prod"},
          {"no resource", kPrefix + "cluster", "", "Invalid identifier: " + kPrefix + "cluster"},
          {"too many pieces", kPrefix + "cluster/a/b", "",
           "Invalid identifier: " + kPrefix + "cluster/a/b"},
          {"half an ARN", "arn:aws:ecs", "", "Invalid identifier: arn:aws:ecs"},
      },
      [](const std::string& text) { return ParseCluster(kScope, text); },
      [](const ClusterName& name) { return name.value; });
}

TEST_CASE("a task is named by its id, or its ARN of either form", "[arn]") {
  const std::string invalid = "Task Identifier is invalid";
  CheckAll(
      {
          {"an id", kHex, kHex},
          {"an id of old", kUuid, kUuid},
          {"the long form", kPrefix + "task/default/" + kHex, kHex},
          {"the old form", kPrefix + "task/" + kUuid, kUuid},
          {"the old form with a new id", kPrefix + "task/" + kHex, kHex},
          {"another cluster", kPrefix + "task/other/" + kHex, "",
           "Identifier is for cluster other. Your cluster is default"},
          {"another account", "arn:aws:ecs:eu-west-1:1:task/default/" + kHex, "",
           "Identifier is for 1. Your accountId is 123456789012"},
          {"another kind", kPrefix + "container-instance/default/" + kHex, "",
           "Unsupported resource type: container-instance"},
          {"empty", "", "", invalid},
          {"a digit short", kHex.substr(1), "", invalid},
          {"a digit more", kHex + "0", "", invalid},
          {"upper case", "0123456789ABCDEF0123456789ABCDEF", "", invalid},
          {"no hex digit", "g" + kHex.substr(1), "", invalid},
          {"hyphens at the wrong places", "0123456-789ab-cdef-0123-456789abcdef", "", invalid},
          {"a bad id in an ARN", kPrefix + "task/default/x", "", invalid},
          {"no id", kPrefix + "task", "", "Invalid identifier: " + kPrefix + "task"},
          {"too many pieces", kPrefix + "task/default/" + kHex + "/x", "",
           "Invalid identifier: " + kPrefix + "task/default/" + kHex + "/x"},
      },
      [](const std::string& text) { return ParseTask(kScope, kCluster, text); },
      [](const TaskId& id) { return id.value; });
}

TEST_CASE("a container instance is named by its id, or its ARN of either form", "[arn]") {
  CheckAll(
      {
          {"an id", kHex, kHex},
          {"the long form", kPrefix + "container-instance/default/" + kHex, kHex},
          {"the old form", kPrefix + "container-instance/" + kUuid, kUuid},
          {"another cluster", kPrefix + "container-instance/other/" + kHex, "",
           "Identifier is for cluster other. Your cluster is default"},
          {"another kind", kPrefix + "task/default/" + kHex, "", "Unsupported resource type: task"},
          {"no id", "i-123", "", "Invalid identifier: i-123"},
          {"empty", "", "", "Invalid identifier: "},
      },
      [](const std::string& text) { return ParseInstance(kScope, kCluster, text); },
      [](const InstanceId& id) { return id.value; });
}

TEST_CASE("a task definition is named by family, family and revision, or ARN", "[arn]") {
  CheckAll(
      {
          {"a family", "web", "web"},
          {"a revision", "web:7", "web:7"},
          {"an ARN", kPrefix + "task-definition/web:7", "web:7"},
          {"an ARN without a revision", kPrefix + "task-definition/web", "web"},
          {"the largest revision", "web:9223372036854775807", "web:9223372036854775807"},
          {"blank", "", "", "Task Definition can not be blank."},
          {"revision 0", "web:0", "", "Invalid revision number. Number: 0"},
          {"a negative one", "web:-1", "", "Invalid revision number. Number: -1"},
          {"no number", "web:latest", "", "Invalid revision number. Number: latest"},
          {"a number and more", "web:7x", "", "Invalid revision number. Number: 7x"},
          {"an empty one", "web:", "", "Invalid revision number. Number: "},
          {"beyond 64 bits", "web:9223372036854775808", "",
           "Invalid revision number. Number: 9223372036854775808"},
          {"a bad family", "a/b", "", "Invalid identifier: a/b"},
          {"no family", ":7", "", "Invalid identifier: :7"},
          {"another account", "arn:aws:ecs:eu-west-1:1:task-definition/web:7", "",
           "Identifier is for 1. Your accountId is 123456789012"},
          {"another kind", kPrefix + "cluster/default", "", "Unsupported resource type: cluster"},
          {"too many pieces", kPrefix + "task-definition/a/b:1", "",
           "Invalid identifier: " + kPrefix + "task-definition/a/b:1"},
      },
      [](const std::string& text) { return ParseDefinition(kScope, text); },
      [](const DefinitionRef& ref) {
        return ref.revision ? ref.family + ":" + std::to_string(*ref.revision) : ref.family;
      });
}

TEST_CASE("what is written is read back", "[arn]") {
  const ClusterName cluster{"prod"};

  CHECK(ParseCluster(kScope, ClusterArn(kScope, cluster)).value() == cluster);
  CHECK(ParseTask(kScope, cluster, TaskArn(kScope, cluster, TaskId{kHex})).value().value == kHex);
  CHECK(ParseInstance(kScope, cluster, InstanceArn(kScope, cluster, InstanceId{kHex}))
            .value()
            .value == kHex);
  const DefinitionRef ref =
      ParseDefinition(kScope, TaskDefinitionArn(kScope, {.family = "web", .revision = 3})).value();
  CHECK(ref.family == "web");
  CHECK(ref.revision == 3);
}

}  // namespace
}  // namespace berth::model
