#include "agent/payload.h"

#include <catch2/catch.hpp>

#include "absl/strings/str_replace.h"

namespace berth::agent {
namespace {

constexpr char kArn[] = "arn:aws:ecs:us-east-1:000000000000:task/default/3f2a";

// A task of the containers given (JSON objects), with more members at the end.
std::string Task(const std::string& containers, const std::string& more = "") {
  return "{\"arn\":\"" + std::string(kArn) +
         "\",\"family\":\"f\",\"version\":\"3\",\"desiredStatus\":\"RUNNING\",\"containers\":[" +
         containers + "]" + more + "}";
}

std::string Container(const std::string& more = "") {
  return "{\"name\":\"a\",\"image\":\"i\"" + more + "}";
}

TEST_CASE("the smallest task decodes, with ECS's defaults", "[agent]") {
  const DecodedTask decoded = DecodeTask(Task(Container()));

  REQUIRE(decoded.task != nullptr);
  CHECK(decoded.task->id == "3f2a");
  CHECK(decoded.task->network_mode == model::NetworkMode::kBridge);
  REQUIRE(decoded.task->containers.size() == 1);
  CHECK(decoded.task->containers[0].essential);
  CHECK(decoded.task->containers[0].memory_mib == 0);
}

TEST_CASE("a whole container decodes", "[agent]") {
  const DecodedTask decoded = DecodeTask(Task(
      Container(",\"cpu\":256,\"memory\":64,\"essential\":false,\"command\":[\"x\",\"y\"],"
                "\"entryPoint\":[\"e\"],\"environment\":{\"K\":\"V\"},\"startTimeout\":5,"
                "\"restartPolicy\":{\"enabled\":true,\"restartAttemptPeriod\":60,"
                "\"ignoredExitCodes\":[0,3]},\"stopTimeout\":2,\"portMappings\":[{"
                "\"containerPort\":80,\"hostPort\":0,"
                "\"protocol\":\"udp\"}],\"overrides\":\"{\\\"command\\\":[\\\"z\\\"]}\"") +
          ",{\"name\":\"b\",\"image\":\"i\",\"dependsOn\":[{\"containerName\":\"a\",\"condition\":"
          "\"SUCCESS\"}]}",
      ",\"networkMode\":\"awsvpc\",\"memory\":512"));

  REQUIRE(decoded.task != nullptr);
  const ContainerPayload& a = decoded.task->containers[0];
  CHECK(a.cpu_units == 256);
  CHECK(a.memory_mib == 64);
  CHECK_FALSE(a.essential);
  CHECK(a.command == std::vector<std::string>{"z"});
  CHECK(a.entry_point == std::vector<std::string>{"e"});
  CHECK(a.environment.at("K") == "V");
  CHECK(a.start_timeout == absl::Seconds(5));
  CHECK(a.stop_timeout == absl::Seconds(2));
  REQUIRE(a.restart.has_value());
  CHECK(a.restart->attempt_period == absl::Seconds(60));
  CHECK(a.restart->ignored_exit_codes == std::vector<int64_t>{0, 3});
  REQUIRE(a.ports.size() == 1);
  CHECK(a.ports[0].protocol == model::Protocol::kUdp);
  REQUIRE(decoded.task->containers[1].depends_on.size() == 1);
  CHECK(decoded.task->containers[1].depends_on[0].condition ==
        model::DependencyCondition::kSuccess);
  CHECK(decoded.task->network_mode == model::NetworkMode::kAwsvpc);
  CHECK(decoded.task->memory_mib == 512);
}

TEST_CASE("two containers share the GPU that an association gives them", "[agent]") {
  const auto share = [](const char* name, const char* mps) {
    return "{\"name\":\"" + std::string(name) +
           "\",\"image\":\"i\",\"resourceRequirements\":[{\"type\":\"GPU\",\"sharingStrategy\":{"
           "\"nvidiaMps\":" +
           mps + "}}]}";
  };
  const DecodedTask decoded = DecodeTask(Task(
      share("a", "{\"memory\":4000,\"maxComputePercent\":50}") + "," +
          share("b", "{\"memory\":2000}") + ",{\"name\":\"log\",\"image\":\"i\"}",
      ",\"associations\":[{\"type\":\"gpu\",\"name\":\"GPU-1\",\"containers\":[\"a\",\"b\"]}]"));

  REQUIRE(decoded.task != nullptr);
  CHECK(decoded.task->containers[0].share->memory_mib == 4000);
  CHECK(decoded.task->containers[0].share->max_compute_percent == 50);
  CHECK_FALSE(decoded.task->containers[1].share->max_compute_percent.has_value());
  CHECK(decoded.task->containers[1].gpu_ids == std::vector<model::GpuId>{{"GPU-1"}});
  CHECK(decoded.task->containers[2].gpu_ids.empty());
}

TEST_CASE("what containers share decodes, and is waited for", "[agent]") {
  const DecodedTask decoded = DecodeTask(
      Task(Container(",\"mountPoints\":[{\"sourceVolume\":\"d\",\"containerPath\":\"/d\","
                     "\"readOnly\":true}]") +
               ",{\"name\":\"b\",\"image\":\"i\",\"links\":[\"a:db\"],"
               "\"volumesFrom\":[{\"sourceContainer\":\"a\",\"readOnly\":true}]}",
           ",\"pidMode\":\"task\",\"ipcMode\":\"none\",\"volumes\":["
           "{\"name\":\"h\",\"host\":{\"sourcePath\":\"/srv\"}},"
           "{\"name\":\"d\",\"type\":\"docker\",\"dockerVolumeConfiguration\":{"
           "\"scope\":\"shared\",\"autoprovision\":true,\"driver\":\"local\","
           "\"driverOpts\":{\"type\":\"tmpfs\"},\"labels\":{\"l\":\"v\"}}}]"));

  INFO(decoded.undecodable << decoded.refusal);
  REQUIRE(decoded.task != nullptr);
  CHECK(decoded.task->pid_mode == NamespaceMode::kTask);
  CHECK(decoded.task->ipc_mode == NamespaceMode::kNone);
  REQUIRE(decoded.task->volumes.size() == 2);
  CHECK(decoded.task->volumes[0].host_path == "/srv");
  const VolumePayload& docker = decoded.task->volumes[1];
  CHECK((docker.shared && docker.autoprovision && docker.driver == "local"));
  CHECK(docker.driver_options.at("type") == "tmpfs");
  CHECK(docker.labels.at("l") == "v");
  const ContainerPayload& a = decoded.task->containers[0];
  REQUIRE(a.mounts.size() == 1);
  CHECK((a.mounts[0].volume == 1 && a.mounts[0].container_path == "/d" && a.mounts[0].read_only));
  const ContainerPayload& b = decoded.task->containers[1];
  REQUIRE(b.links.size() == 1);
  CHECK((b.links[0].container == 0 && b.links[0].alias == "db"));
  REQUIRE(b.volumes_from.size() == 1);
  CHECK((b.volumes_from[0].container == 0 && b.volumes_from[0].read_only));
  REQUIRE(b.depends_on.size() == 1);
  CHECK(b.depends_on[0].condition == model::DependencyCondition::kStart);
}

struct Case {
  std::string why;
  std::string text;
  std::string reason_has;
};

TEST_CASE("a task that cannot be decoded says why", "[agent]") {
  const auto c = GENERATE(values<Case>({
      {"not JSON", "{", "not a JSON object"},
      {"no ARN", "{\"desiredStatus\":\"RUNNING\"}", "no task ARN"},
      {"another kind of ARN",
       "{\"arn\":\"arn:aws:ecs:r:0:service/a/b\",\"desiredStatus\":\"STOPPED\"}", "no task ARN"},
      {"an id that is no file name",
       "{\"arn\":\"arn:aws:ecs:r:0:task/a/..\",\"desiredStatus\":\"STOPPED\"}", "no task ARN"},
      {"an unknown word", absl::StrReplaceAll(Task(Container()), {{"RUNNING", "WAITING"}}),
       "desiredStatus \"WAITING\""},
      {"no containers", Task(""), "1 to 100 containers"},
      {"no image", Task("{\"name\":\"a\"}"), "container a has no image"},
      {"twice the same name", Task(Container() + "," + Container()), "two containers are named a"},
      {"a port that is none", Task(Container(",\"portMappings\":[{\"containerPort\":70000}]")),
       "70000"},
      {"an environment list", Task(Container(",\"environment\":[]")), "not a map"},
      {"a dependency on nobody",
       Task(Container(",\"dependsOn\":[{\"containerName\":\"x\",\"condition\":\"START\"}]")),
       "cannot depend on x"},
      {"a circle",
       Task("{\"name\":\"a\",\"image\":\"i\",\"dependsOn\":[{\"containerName\":\"b\","
            "\"condition\":\"START\"}]},{\"name\":\"b\",\"image\":\"i\",\"dependsOn\":"
            "[{\"containerName\":\"a\",\"condition\":\"START\"}]}"),
       "circle"},
      {"a mount of nothing",
       Task(Container(",\"mountPoints\":[{\"sourceVolume\":\"v\",\"containerPath\":\"/v\"}]")),
       "mounts volume \"v\", which is not there"},
      {"its own volumes", Task(Container(",\"volumesFrom\":[{\"sourceContainer\":\"a\"}]")),
       "cannot have the volumes of \"a\""},
      {"a link to nobody", Task(Container(",\"links\":[\"x:y\"]")), "cannot link to \"x:y\""},
      {"a secret from nowhere", Task(Container(",\"secrets\":[{\"name\":\"s\"}]")),
       "a secret of container a has no name or no valueFrom"},
      {"an unknown scope",
       Task(Container(),
            ",\"volumes\":[{\"name\":\"v\",\"dockerVolumeConfiguration\":{\"scope\":\"all\"}}]"),
       "scope all of volume v"},
      {"a pid mode that is for IPC", Task(Container(), ",\"pidMode\":\"none\""), "pidMode none"},
      {"an unknown override", Task(Container(",\"overrides\":\"{\\\"cpu\\\":1}\"")),
       "unknown key cpu"},
      {"a GPU for nobody",
       Task(Container(),
            ",\"associations\":[{\"type\":\"gpu\",\"name\":\"g\",\"containers\":[\"x\"]}]"),
       "container x, which is not there"},
  }));
  INFO(c.why);

  const DecodedTask decoded = DecodeTask(c.text);

  CHECK(decoded.task == nullptr);
  CHECK_THAT(decoded.undecodable, Catch::StartsWith("UnrecogniedTaskError: Error loading task - "));
  CHECK_THAT(decoded.undecodable, Catch::Contains(c.reason_has));
  CHECK(decoded.refusal.empty());
}

TEST_CASE("a task that this version cannot run as asked is refused with what stands in the way",
          "[agent]") {
  const auto gpu = [](const std::string& requirement) {
    return Task(Container(",\"resourceRequirements\":[" + requirement + "]"),
                ",\"associations\":[{\"type\":\"gpu\",\"name\":\"g\",\"containers\":[\"a\"]}]");
  };
  const auto c = GENERATE_COPY(values<Case>({
      {"the server says so", Task(Container(), ",\"berthUnsupported\":[\"containers[a].secrets\"]"),
       "containers[a].secrets is not supported by this version of Berth"},
      {"a volume of EFS", Task(Container(), ",\"volumes\":[{\"name\":\"v\",\"type\":\"efs\"}]"),
       "volume v of type efs"},
      {"a host path that Docker would take for two",
       Task(Container(), ",\"volumes\":[{\"name\":\"v\",\"host\":{\"sourcePath\":\"/a:/b\"}}]"),
       "host path /a:/b of volume v"},
      {"links where there is no bridge",
       Task(Container() + ",{\"name\":\"b\",\"image\":\"i\",\"links\":[\"a\"]}",
            ",\"networkMode\":\"awsvpc\""),
       "container b has links"},
      {"a secret as a file",
       Task(Container(
           ",\"secrets\":[{\"name\":\"s\",\"valueFrom\":\"v\",\"type\":\"MOUNT_POINT\"}]")),
       "container a: secret s of type MOUNT_POINT"},
      {"a port range",
       Task(Container(",\"portMappings\":[{\"containerPortRange\":\"1-2\",\"protocol\":\"tcp\"}]")),
       "containerPortRange"},
      {"an empty strategy", gpu("{\"type\":\"GPU\",\"sharingStrategy\":{}}"),
       "empty or unknown GPU sharing strategy"},
      {"an unknown strategy", gpu("{\"type\":\"GPU\",\"sharingStrategy\":{\"timeSlice\":{}}}"),
       "empty or unknown GPU sharing strategy"},
      {"no memory", gpu("{\"type\":\"GPU\",\"sharingStrategy\":{\"nvidiaMps\":{}}}"),
       "without a memory limit"},
      {"no memory at all",
       gpu("{\"type\":\"GPU\",\"sharingStrategy\":{\"nvidiaMps\":{\"memory\":0}}}"),
       "without a memory limit"},
      {"too many percent",
       gpu("{\"type\":\"GPU\",\"sharingStrategy\":{\"nvidiaMps\":{\"memory\":1,"
           "\"maxComputePercent\":101}}}"),
       "within 1 to 100"},
      {"a strategy on something else",
       gpu("{\"type\":\"InferenceAccelerator\",\"sharingStrategy\":{\"nvidiaMps\":{\"memory\":1}}"
           "}"),
       "not GPU"},
      {"a share and no device",
       Task(Container(",\"resourceRequirements\":[{\"type\":\"GPU\",\"sharingStrategy\":{"
                      "\"nvidiaMps\":{\"memory\":1}}}]")),
       "it must be one"},
      {"one device for two that do not share",
       Task(Container() + ",{\"name\":\"b\",\"image\":\"i\"}",
            ",\"associations\":[{\"type\":\"gpu\",\"name\":\"g\",\"containers\":[\"a\",\"b\"]}]"),
       "do not share"},
      {"one device for one that shares and one that does not",
       Task(Container(",\"resourceRequirements\":[{\"type\":\"GPU\",\"sharingStrategy\":{"
                      "\"nvidiaMps\":{\"memory\":1}}}]") +
                ",{\"name\":\"b\",\"image\":\"i\"}",
            ",\"associations\":[{\"type\":\"gpu\",\"name\":\"g\",\"containers\":[\"a\",\"b\"]}]"),
       "do not share"},
  }));
  INFO(c.why);

  const DecodedTask decoded = DecodeTask(c.text);

  CHECK(decoded.task == nullptr);
  CHECK(decoded.undecodable.empty());
  CHECK_THAT(decoded.refusal, Catch::StartsWith("ResourceInitializationError: "));
  CHECK_THAT(decoded.refusal, Catch::Contains(c.reason_has));
}

TEST_CASE("what asks for nothing is not refused", "[agent]") {
  const DecodedTask decoded = DecodeTask(Task(
      Container(",\"secrets\":[],\"restartPolicy\":{\"enabled\":false},\"links\":null"),
      ",\"volumes\":[],\"pidMode\":\"\",\"enableFaultInjection\":false,\"launchType\":\"EC2\""));

  CHECK(decoded.task != nullptr);
}

TEST_CASE("a stop needs no containers", "[agent]") {
  const DecodedTask decoded =
      DecodeTask("{\"arn\":\"" + std::string(kArn) + "\",\"desiredStatus\":\"STOPPED\"}");

  CHECK(decoded.id == "3f2a");
  CHECK(decoded.desired == model::DesiredStatus::kStopped);
  CHECK(decoded.undecodable.empty());
  CHECK(decoded.refusal.empty());
}

}  // namespace
}  // namespace berth::agent
