// ExecuteCommand and task protection, as a client sees them.
#include "api/shapes/task_protection.h"
#include "tests/api/api_fixture.h"

namespace berth::api {
namespace {

constexpr char kGhost[] = "0123456789abcdef0123456789abcdef";

// A machine whose agent says only what the test says.
class Tasks : public ApiFixture {
 public:
  Tasks() {
    instance = At(Get("RegisterContainerInstance",
                      Machine("[]", R"(,"attributes":[{"name":"ecs.capability.full-sync"}])")),
                  "/containerInstance/containerInstanceArn");
    const model::InstanceId id{instance.substr(instance.rfind('/') + 1)};
    REQUIRE(Submit(scheduler::ConnectAgent{.cluster = {"default"}, .instance = id}).ok());
    Get("RegisterTaskDefinition",
        R"({"family":"two","containerDefinitions":[{"name":"a","image":"i","memory":64},)"
        R"({"name":"b","image":"i","memory":64}]})");
    Get("RegisterTaskDefinition",
        R"({"family":"one","containerDefinitions":[{"name":"a","image":"i","memory":64}]})");
  }
  std::string Run(const std::string& family, bool exec) {
    return At(Get("RunTask", R"({"taskDefinition":")" + family + R"(","enableExecuteCommand":)" +
                                 (exec ? "true" : "false") + "}"),
              "/tasks/0/taskArn");
  }
  void Start(const std::string& task) {
    Get("SubmitTaskStateChange",
        R"({"status":"RUNNING","task":")" + task +
            R"(","containers":[{"containerName":"a","runtimeId":"f00d","status":"RUNNING"}]})");
  }
  std::string Exec(const std::string& task, const std::string& more) {
    return Refusal("ExecuteCommand", R"({"task":")" + task + "\"" + more + "}");
  }

  std::string instance;
};

constexpr char kShell[] = R"(,"interactive":true,"command":"/bin/sh")";

TEST_CASE("ExecuteCommand checks what ECS checks, and then says what does the same", "[api]") {
  Tasks api;
  const std::string one = api.Run("one", true);
  const std::string two = api.Run("two", true);
  const std::string plain = api.Run("one", false);
  const std::string in_a = std::string(kShell) + R"(,"container":"a")";

  CHECK_THAT(api.Exec(one, R"(,"interactive":false,"command":"sh")"),
             Catch::StartsWith("InvalidParameterException: interactive is false"));
  CHECK_THAT(api.Exec(one, R"(,"interactive":true,"command":"")"),
             Catch::StartsWith("InvalidParameterException: command is empty"));
  CHECK(api.Exec("", kShell) == "InvalidParameterException: Task can not be blank.");
  CHECK(api.Exec(kGhost, kShell) ==
        "InvalidParameterException: The referenced task was not found.");
  CHECK_THAT(api.Exec(two, kShell),
             Catch::StartsWith("InvalidParameterException: container is missing"));
  CHECK_THAT(api.Exec(two, std::string(kShell) + R"(,"container":"c")"),
             Catch::StartsWith("InvalidParameterException: container is 'c'"));
  const std::string not_enabled =
      "InvalidParameterException: The execute command failed because execute command was not "
      "enabled when the task was run or the execute command agent isn’t running. Wait and try "
      "again or run a new task with execute command enabled and try again.";
  CHECK(api.Exec(one, kShell) == not_enabled);  // not RUNNING
  for (const std::string& task : {one, two, plain}) api.Start(task);
  CHECK(api.Exec(plain, kShell) == not_enabled);

  const std::string machine = api.instance.substr(api.instance.rfind('/') + 1);
  const std::string answer =
      "TargetNotConnectedException: this installation has no data channel for execute command. Run "
      "`docker exec -it f00d COMMAND` on the machine of container instance " +
      machine + ", where container 'a' of the task is";
  CHECK(api.Exec(one, kShell) == answer);
  CHECK(api.Exec(two, in_a) == answer);
}

TEST_CASE("task protection answers per task, and refuses times out of range", "[api]") {
  Tasks api;
  const std::string task = api.Run("one", false);
  const std::string on = R"({"tasks":[")" + task + R"("],"protectionEnabled":true)";

  const auto updated = api.Get("UpdateTaskProtection", on + "}");
  CHECK(At(updated, "/protectedTasks") == "[]");
  CHECK(At(updated, "/failures/0/arn") == task);
  CHECK(At(updated, "/failures/0/reason") == "TASK_NOT_VALID");
  CHECK(At(api.Get("GetTaskProtection", R"({"tasks":[")" + task + R"(",")" + kGhost + R"("]})"),
           "/failures/1/reason") == "MISSING");

  api.Get("UpdateTaskProtection", on + R"(,"expiresInMinutes":1})");
  api.Get("UpdateTaskProtection", on + R"(,"expiresInMinutes":2880})");
  CHECK_THAT(api.Refusal("UpdateTaskProtection", on + R"(,"expiresInMinutes":0})"),
             Catch::StartsWith("InvalidParameterException: expiresInMinutes is 0"));
  CHECK_THAT(api.Refusal("UpdateTaskProtection", on + R"(,"expiresInMinutes":2881})"),
             Catch::StartsWith("InvalidParameterException: expiresInMinutes is 2881"));
  CHECK_THAT(api.Refusal("UpdateTaskProtection", R"({"tasks":[")" + task + R"("]})"),
             Catch::StartsWith("InvalidParameterException: protectionEnabled is missing"));
  CHECK(api.Refusal("GetTaskProtection", "{}") ==
        "InvalidParameterException: Tasks cannot be empty.");
}

TEST_CASE("a protection is written with its end, and without one when there is none", "[api]") {
  scheduler::TaskProtectionReply reply;
  reply.tasks = {{.task = {"t1"}, .protected_until = absl::FromUnixMillis(1'800'000'000'500)},
                 {.task = {"t2"}}};

  CHECK(WriteTaskProtection(reply, {"c"}, {}) ==
        R"({"protectedTasks":[{"taskArn":"arn:aws:ecs:us-east-1:000000000000:task/c/t1",)"
        R"("protectionEnabled":true,"expirationDate":1800000000.500},)"
        R"({"taskArn":"arn:aws:ecs:us-east-1:000000000000:task/c/t2","protectionEnabled":false}],)"
        R"("failures":[]})");
}

}  // namespace
}  // namespace berth::api
