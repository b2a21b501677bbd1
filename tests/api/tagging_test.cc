// TagResource, UntagResource, ListTagsForResource.
#include "tests/api/api_fixture.h"

namespace berth::api {
namespace {

const std::string kScope = "arn:aws:ecs:us-east-1:000000000000:";

std::string On(const std::string& arn, const std::string& more = "") {
  return R"({"resourceArn":")" + arn + "\"" + (more.empty() ? "" : "," + more) + "}";
}

std::string Tags(int count, const std::string& prefix = "k") {
  std::string list;
  for (int i = 0; i < count; ++i) {
    list += (i ? "," : "") + (R"({"key":")" + prefix + std::to_string(i) + R"(","value":""})");
  }
  return R"("tags":[)" + list + "]";
}

// One of everything that can carry tags, by ARN.
std::vector<std::string> Resources(ApiFixture& api) {
  const auto instance = api.Get("RegisterContainerInstance", Machine());
  const auto definition =
      api.Get("RegisterTaskDefinition",
              R"({"family":"f","containerDefinitions":[{"name":"c","image":"i","memory":64}]})");
  const auto run = api.Get("RunTask", R"({"taskDefinition":"f"})");
  return {kScope + "cluster/default", At(definition, "/taskDefinition/taskDefinitionArn"),
          At(instance, "/containerInstance/containerInstanceArn"), At(run, "/tasks/0/taskArn")};
}

TEST_CASE("tags are put on, changed, listed and taken off by ARN", "[api]") {
  ApiFixture api(ApiFixture::Emulating());
  for (const std::string& arn : Resources(api)) {
    INFO(arn);
    CHECK(api.Ask("ListTagsForResource", On(arn)).body == R"({"tags":[]})");
    CHECK(api.Ask("TagResource", On(arn, R"("tags":[{"key":"a","value":"1"},)"
                                         R"({"key":"b","value":""}])"))
              .body == "{}");
    api.Get("TagResource", On(arn, R"("tags":[{"key":"a","value":"2"}])"));
    CHECK(api.Ask("UntagResource", On(arn, R"("tagKeys":["b","never"])")).body == "{}");

    CHECK(api.Ask("ListTagsForResource", On(arn)).body == R"({"tags":[{"key":"a","value":"2"}]})");
  }
  api.Restart();
  const auto cluster = api.Get("DescribeClusters", R"({"include":["TAGS"]})");
  CHECK(At(cluster, "/clusters/0/tags/0/value") == "2");
}

TEST_CASE("a resource has fifty tags; of a call that would make more nothing is done", "[api]") {
  ApiFixture api;
  const std::string arn = kScope + "cluster/default";

  CHECK(api.Refusal("TagResource", On(arn, Tags(51))) ==
        "InvalidParameterException: tags can have at most 50 items.");
  CHECK(api.Get("ListTagsForResource", On(arn))["tags"].Empty());
  api.Get("TagResource", On(arn, Tags(50)));
  CHECK_THAT(api.Refusal("TagResource", On(arn, Tags(1, "more"))),
             Catch::StartsWith("InvalidParameterException: the resource would have 51 tags"));
  CHECK(api.Get("ListTagsForResource", On(arn))["tags"].Size() == 50);
}

TEST_CASE("tags and keys that break the rules are refused as at creation", "[api]") {
  ApiFixture api;
  const std::string arn = kScope + "cluster/default";
  const auto keys = [](int count) {
    std::string list;
    for (int i = 0; i < count; ++i) list += (i ? ",\"k" : "\"k") + std::to_string(i) + "\"";
    return R"("tagKeys":[)" + list + "]";
  };
  struct Case {
    std::string action;
    std::string more;
    std::string refusal;
  };
  for (const Case& c : std::vector<Case>{
           {"TagResource", R"("tags":[{"key":"aws:x","value":""}])", "is reserved"},
           {"TagResource", R"("tags":[{"key":"x"}])", "has no value"},
           {"TagResource", R"("tags":[{"value":"x"}])", "a tag has no key"},
           {"TagResource", R"("tags":[{"key":"a#b","value":""}])", "invalid characters"},
           {"TagResource", R"("tags":[{"key":"a","value":"b#"}])", "invalid characters"},
           {"TagResource", "", "tags is missing"},
           {"UntagResource", "", "tagKeys is missing"},
           {"UntagResource", R"("tagKeys":[""])", "a tag has no key"},
           {"UntagResource", R"("tagKeys":["aws:ecs:clusterName"])", "is reserved"},
           {"UntagResource", R"("tagKeys":["a#b"])", "invalid characters"},
           {"UntagResource", R"("tagKeys":[")" + std::string(129, 'k') + R"("])",
            "longer than 128 characters"},
           {"UntagResource", keys(51), "tagKeys can have at most 50 items."}}) {
    INFO(c.action << " " << c.more);
    const std::string refusal = api.Refusal(c.action, On(arn, c.more));
    CHECK_THAT(refusal, Catch::StartsWith("InvalidParameterException: "));
    CHECK_THAT(refusal, Catch::Contains(c.refusal));
  }
  CHECK(api.Ask("UntagResource", On(arn, keys(50))).status == 200);
}

TEST_CASE("an ARN that names nothing with tags is refused, in the words of each action", "[api]") {
  const std::string id(32, 'a');
  const std::string uuid = "11111111-2222-4333-8444-555555555555";
  const std::string bad = "InvalidParameterException: The ARN provided is invalid.";
  const std::string old =
      "InvalidParameterException: Long arn format must be used for tagging operations";
  const std::string cluster = "ClusterNotFoundException: Cluster not found.";
  const std::string gone = "ResourceNotFoundException: The specified resource is not there: ";
  struct Case {
    std::string arn;
    std::string refusal;
  };
  const auto c = GENERATE_COPY(values<Case>({
      {"default", bad},
      {"arn:aws:s3:::bucket", bad},
      {kScope + "cluster", bad},
      {kScope + "cluster/", bad},
      {kScope + "cluster/a b", bad},
      {kScope + "cluster/a/b", bad},
      {kScope + "nonsense/x", bad},
      {kScope + "task-definition/f", bad},
      {kScope + "task-definition/f:x", bad},
      {kScope + "task/default/nonsense", bad},
      {kScope + "task/default/" + id + "/more", bad},
      {kScope + "container-instance/a b/" + id, bad},
      {"arn:aws:ecs:us-east-1:999999999999:cluster/default",
       "InvalidParameterException: Identifier is for 999999999999. Your accountId is "
       "000000000000"},
      {kScope + "task/" + uuid, old},
      {kScope + "container-instance/" + uuid, old},
      {kScope + "service/web", old},
      {kScope + "cluster/ghost", cluster},
      {kScope + "task/ghost/" + id, cluster},
      {kScope + "container-instance/ghost/" + id, cluster},
      {kScope + "task-definition/f:1", gone + "task definition f:1"},
      {kScope + "task/default/" + id, gone + "task " + id},
      {kScope + "container-instance/default/" + id, gone + "container instance " + id},
      {kScope + "service/default/web", gone},
      {kScope + "task-set/default/web/ecs-svc/1", gone},
      {kScope + "capacity-provider/x", gone},
      {kScope + "daemon/default/d", gone},
  }));
  INFO(c.arn);
  ApiFixture api;

  const std::string tag = api.Refusal("TagResource", On(c.arn, Tags(1)));
  const std::string untag = api.Refusal("UntagResource", On(c.arn, R"("tagKeys":["k"])"));
  const std::string list = api.Refusal("ListTagsForResource", On(c.arn));

  CHECK_THAT(tag, Catch::StartsWith(c.refusal));
  CHECK(untag == tag);
  const std::string kind = "ResourceNotFoundException";
  CHECK(list ==
        (tag.starts_with(kind) ? "InvalidParameterException" + tag.substr(kind.size()) : tag));
}

TEST_CASE("a deleted cluster and a stopped task take no tags", "[api]") {
  ApiFixture api(ApiFixture::Emulating());
  const std::vector<std::string> resources = Resources(api);
  const std::string& task = resources[3];
  api.Get("TagResource", On(task, Tags(1)));

  const auto stopped = api.Get("StopTask", R"({"task":")" + task + R"("})");

  CHECK(At(stopped, "/task/tags") == "[]");
  CHECK(api.Refusal("TagResource", On(task, Tags(1))) ==
        "InvalidParameterException: The specified task is stopped. Specify a running task and try "
        "again.");
  CHECK(api.Ask("ListTagsForResource", On(task)).body == R"({"tags":[]})");

  api.Get("CreateCluster", R"({"clusterName":"c"})");
  api.Get("DeleteCluster", R"({"cluster":"c"})");
  CHECK(api.Refusal("TagResource", On(kScope + "cluster/c", Tags(1))) ==
        "InvalidParameterException: The specified cluster is inactive. Specify an active cluster "
        "and try again.");
}

TEST_CASE("without an ARN there is nothing to tag", "[api]") {
  ApiFixture api;

  CHECK(api.Refusal("ListTagsForResource", "{}") ==
        "InvalidParameterException: resourceArn is missing");
  CHECK(api.Refusal("ListTagsForResource", On("")) ==
        "InvalidParameterException: The ARN provided is invalid.");
}

}  // namespace
}  // namespace berth::api
