// No bytes that anybody sends bring the API down, or get an answer that cannot be read.
#include <random>

#include "tests/api/api_fixture.h"

namespace berth::api {
namespace {

using Random = std::mt19937_64;

const std::string kPieces[] = {"{",
                               "}",
                               "[",
                               "]",
                               ":",
                               ",",
                               "\"",
                               "null",
                               "true",
                               "0",
                               "-1",
                               "1e9",
                               "4096.5",
                               "2147483648",
                               "\"\\ud83d\\ude00\"",
                               "\\u0000",
                               "\xff",
                               "\"name\"",
                               "\"GPU\"",
                               "{\"nvidiaMps\":{}}",
                               "\"ALL\"",
                               "\"arn:aws:ecs:us-east-1:000000000000:task/default/x\"",
                               "\"default\"",
                               "[[[[[[",
                               "\"\""};

struct Seed {
  std::string action;
  std::string body;
};

std::vector<Seed> Seeds() {
  return {
      {"RegisterTaskDefinition",
       R"({"family":"f","networkMode":"bridge","cpu":"1 vCPU","memory":"2GB","containerDefinitions":)"
       R"([{"name":"a","image":"i","memory":64,"portMappings":[{"containerPort":80,"hostPort":8080}],)"
       R"("environment":[{"name":"A","value":"1"}],"resourceRequirements":[{"type":"GPU",)"
       R"("sharingStrategy":{"nvidiaMps":{"memory":4096,"maxComputePercent":50}}}],)"
       R"("healthCheck":{"command":["CMD","true"]},"dependsOn":[],"ulimits":[{"name":"nofile",)"
       R"("softLimit":1,"hardLimit":2}],"dockerLabels":{"k":"v"}}],"volumes":[{"name":"v","host":{}}],)"
       R"("tags":[{"key":"k","value":"v"}]})"},
      {"RegisterContainerInstance",
       Machine("[" + Gpu("GPU-1", 22587) + "]",
               R"(,"attributes":[{"name":"rack","value":"r1"}],)"
               R"("instanceIdentityDocument":"{\"instanceId\":\"i-1\"}")")},
      {"RunTask",
       R"({"taskDefinition":"f","count":2,"launchType":"EC2","clientToken":"t","tags":[],)"
       R"("overrides":{"containerOverrides":[{"name":"a","command":["x"],"memory":32}],"cpu":"256"},)"
       R"("networkConfiguration":{"awsvpcConfiguration":{"subnets":["s"]}},"startedBy":"me"})"},
      {"SubmitTaskStateChange",
       R"({"cluster":"default","task":"0123456789abcdef0123456789abcdef","status":"STOPPED",)"
       R"("containers":[{"containerName":"a","exitCode":0,"status":"STOPPED","networkBindings":)"
       R"([{"bindIP":"0.0.0.0","containerPort":80,"hostPort":32768,"protocol":"tcp"}]}],)"
       R"("pullStartedAt":1556310237.664})"},
      {"ListTaskDefinitions",
       R"({"familyPrefix":"f","sort":"DESC","maxResults":1,"nextToken":""})"},
      {"ListTasks", R"({"desiredStatus":"STOPPED","family":"f","launchType":"EC2"})"},
      {"CreateCluster", R"({"clusterName":"c","settings":[{"name":"containerInsights",)"
                        R"("value":"enabled"}],"tags":[{"key":"k","value":"v"}]})"},
      {"DescribeClusters", R"({"clusters":["default"],"include":["TAGS","STATISTICS"]})"},
      {"StopTask", R"({"task":"0123456789abcdef0123456789abcdef","reason":"why"})"},
  };
}

// One to four small damages: cut, repeat, replace a byte, put a piece in.
std::string Mutate(std::string text, Random& random) {
  const auto below = [&](size_t bound) { return static_cast<size_t>(random() % bound); };
  for (size_t n = 1 + below(4); n > 0 && !text.empty(); --n) {
    const size_t at = below(text.size());
    const size_t length = below(std::min<size_t>(24, text.size() - at) + 1);
    switch (below(4)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, text.substr(at, length));
        break;
      case 2:
        text[at] = static_cast<char>(random());
        break;
      default:
        text.replace(at, length, kPieces[below(std::size(kPieces))]);
    }
  }
  return text;
}

TEST_CASE("damaged bodies get well-formed answers", "[api][json]") {
  constexpr int kBodiesPerSeed = 600;
  const uint64_t seed = 20240601;
  INFO("seed " << seed);
  Random random(seed);
  ApiFixture api(ApiFixture::Emulating());
  int accepted = 0;

  for (const Seed& each : Seeds()) {
    for (int i = 0; i < kBodiesPerSeed; ++i) {
      const std::string body = Mutate(each.body, random);
      const ApiResponse response = api.Ask(each.action, body);
      INFO(each.action << " " << body);
      CHECK(response.status < 500);
      accepted += response.status == 200 ? 1 : 0;
    }
  }

  // Damages small enough that some bodies get far, or the test would only try the parser.
  CHECK(accepted > 100);
}

}  // namespace
}  // namespace berth::api
