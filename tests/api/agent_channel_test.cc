// The agents' channel against a real server: what an agent is sent, and when (agent-protocol.md).
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/api/agent_peer.h"
#include "tests/api/scripted_store.h"
#include "tests/api/server_fixture.h"

namespace berth::api {
namespace {

std::string Type(const rapidjson::Document& message) {
  return message.IsNull() ? "" : message["type"].GetString();
}
std::string MessageId(const rapidjson::Document& message) {
  return message["message"]["messageId"].GetString();
}
// ARN and desired status of the one task in a payload.
std::pair<std::string, std::string> TaskIn(const rapidjson::Document& payload) {
  const auto& tasks = payload["message"]["tasks"];
  REQUIRE(tasks.Size() == 1);
  return {tasks[0]["arn"].GetString(), tasks[0]["desiredStatus"].GetString()};
}
std::vector<std::string> TasksIn(const rapidjson::Document& manifest) {
  std::vector<std::string> arns;
  for (const auto& task : manifest["message"]["tasks"].GetArray()) {
    arns.push_back(task["taskArn"].GetString());
  }
  return arns;
}

void Report(ServerFixture& f, const std::string& task, const std::string& status) {
  f.Ask("SubmitTaskStateChange", "{\"task\":\"" + task + "\",\"status\":\"" + status +
                                     "\",\"containers\":[{\"containerName\":\"web\",\"status\":\"" +
                                     status + "\",\"runtimeId\":\"r1\"}]}");
}

struct Connected : ServerFixture {
  explicit Connected(ServerLimits limits = {}) : ServerFixture(limits) {
    RegisterDefinition("f");
    instance = RegisterInstance();
    agent = AgentPeer::Of(port(), instance);
    CHECK(Type(agent->Receive()) == "TaskManifestMessage");
  }
  std::string instance;
  std::unique_ptr<AgentPeer> agent;
};

}  // namespace

TEST_CASE("an agent hears a heartbeat, then the manifest, and counts as connected", "[channel]") {
  ServerFixture f;
  const std::string instance = f.RegisterInstance();
  CHECK_FALSE(f.AgentConnected(instance));

  auto agent = AgentPeer::Of(f.port(), instance);
  const auto heartbeat = agent->Receive(true);
  const auto manifest = agent->Receive(true);

  CHECK(Type(heartbeat) == "HeartbeatMessage");
  CHECK(heartbeat["message"]["healthy"].GetBool());
  CHECK(Type(manifest) == "TaskManifestMessage");
  CHECK(manifest["message"]["clusterArn"].GetString() ==
        std::string("arn:aws:ecs:us-east-1:000000000000:cluster/default"));
  CHECK(manifest["message"]["containerInstanceArn"].GetString() == instance);
  CHECK(manifest["message"]["timeline"].GetInt64() > 1'700'000'000'000'000);
  CHECK(TasksIn(manifest).empty());
  CHECK(f.AgentConnected(instance));
  const auto described =
      f.Ask("DescribeContainerInstances", "{\"containerInstances\":[\"" + instance + "\"]}");
  const auto& versions = described["containerInstances"][0]["versionInfo"];
  CHECK(versions["agentVersion"].GetString() == std::string("1.2.3"));
  CHECK(versions["dockerVersion"].GetString() == std::string("DockerVersion: 20.10.24"));
}

TEST_CASE("a handshake that is not right is refused in the form that agents read", "[channel]") {
  struct Case {
    std::string why;
    std::string query;  // INSTANCE stands for a registered one
    std::string origin;
    int status;
    std::string says;
  };
  const auto c = GENERATE(values<Case>({
      {"no instance", "clusterArn=default", "", 400, R"("type":"BadRequestException")"},
      {"an unknown instance",
       "containerInstanceArn=00000000000000000000000000000000&clusterArn=default", "", 400,
       R"({"InactiveInstanceException":)"},
      {"an unknown cluster", "containerInstanceArn=INSTANCE_ID&clusterArn=nowhere", "", 400,
       R"("type":"InvalidClusterException")"},
      {"an instance of another cluster", "containerInstanceArn=INSTANCE&clusterArn=nowhere", "",
       400, R"("type":"BadRequestException")"},
      {"a protocol of the future", "containerInstanceArn=INSTANCE&protocolVersion=3", "", 400,
       "protocolVersion is 3"},
      {"a browser", "containerInstanceArn=INSTANCE", "http://evil.example.com", 400, "Origin"},
      {"no cluster means default", "containerInstanceArn=INSTANCE", "", 101, ""},
      {"ids instead of ARNs", "containerInstanceArn=INSTANCE_ID&clusterArn=default", "", 101, ""},
      {"ARNs",
       "containerInstanceArn=INSTANCE&clusterArn="
       "arn:aws:ecs:us-east-1:000000000000:cluster/default",
       "", 101, ""},
      {"an escaped ARN",
       "containerInstanceArn=INSTANCE&clusterArn="
       "arn%3Aaws%3Aecs%3Aus-east-1%3A000000000000%3Acluster%2Fdefault",
       "", 101, ""},
  }));
  INFO(c.why);
  ServerFixture f;
  const std::string instance = f.RegisterInstance();
  std::string query = c.query;
  if (const size_t at = query.find("INSTANCE_ID"); at != std::string::npos) {
    query.replace(at, 11, instance.substr(instance.rfind('/') + 1));
  } else if (const size_t arn = query.find("INSTANCE"); arn != std::string::npos) {
    query.replace(arn, 8, instance);
  }
  AgentPeer agent;

  const int status = agent.Connect(f.port(), query, c.origin);

  INFO(agent.refusal());
  CHECK(status == c.status);
  CHECK(agent.refusal().find(c.says) != std::string::npos);
  CHECK(f.AgentConnected(instance) == (c.status == 101));
}

TEST_CASE("a placed task is sent once, and is CONNECTED when its agent has it", "[channel]") {
  Connected f;

  const std::string task = f.RunTasks("f", 1)[0];
  const auto payload = f.agent->Receive();

  CHECK(Type(payload) == "PayloadMessage");
  CHECK(TaskIn(payload) == std::pair<std::string, std::string>(task, "RUNNING"));
  CHECK_FALSE(f.IsAccepted(task));
  f.agent->Acknowledge(payload);
  CHECK(Eventually([&] { return f.IsAccepted(task); }));
  CHECK(f.agent->IsQuiet());
}

TEST_CASE("numbers grow from message to message and from connection to connection", "[channel]") {
  Connected f;
  f.RunTasks("f", 2);
  const auto first = f.agent->Receive();
  const auto second = f.agent->Receive();
  const int64_t last = second["message"]["seqNum"].GetInt64();
  CHECK(first["message"]["seqNum"].GetInt64() < last);

  f.agent->Vanish();
  auto again = AgentPeer::Of(f.port(), f.instance);
  CHECK(again->ReceiveType("TaskManifestMessage")["message"]["timeline"].GetInt64() > last);
  f.Restart();
  auto after = AgentPeer::Of(f.port(), f.instance);
  CHECK(after->ReceiveType("TaskManifestMessage")["message"]["timeline"].GetInt64() > last);
}

TEST_CASE("what is not acknowledged is sent again, oldest first, under the same id", "[channel]") {
  Connected f;
  f.RunTasks("f", 3);
  const auto first = f.agent->Receive();
  const auto second = f.agent->Receive();
  const auto third = f.agent->Receive();
  f.agent->Acknowledge(second);
  const std::string taken = TaskIn(second).first;
  REQUIRE(Eventually([&] { return f.IsAccepted(taken); }));

  f.agent->Vanish();
  auto again = AgentPeer::Of(f.port(), f.instance);
  const auto resent_first = again->Receive();
  const auto resent_third = again->Receive();
  const auto derived = again->Receive();
  const auto manifest = again->Receive();

  CHECK(MessageId(resent_first) == MessageId(first));
  CHECK(MessageId(resent_third) == MessageId(third));
  // Acknowledged and not yet RUNNING: sent as new, which is harmless, in case the agent lost it.
  CHECK(TaskIn(derived).first == taken);
  CHECK(MessageId(derived) != MessageId(second));
  CHECK(TasksIn(manifest).size() == 3);
}

TEST_CASE("a stop takes the place of the start that it makes pointless", "[channel]") {
  Connected f;
  const std::string task = f.RunTasks("f", 1)[0];
  REQUIRE(TaskIn(f.agent->Receive()).second == "RUNNING");

  f.Ask("StopTask", "{\"task\":\"" + task + "\"}");
  const auto stop = f.agent->Receive();
  CHECK(TaskIn(stop) == std::pair<std::string, std::string>(task, "STOPPED"));
  f.agent->Vanish();
  auto again = AgentPeer::Of(f.port(), f.instance);
  const auto resent = again->Receive();
  const auto manifest = again->Receive();

  CHECK(MessageId(resent) == MessageId(stop));
  CHECK(Type(manifest) == "TaskManifestMessage");
  CHECK(TasksIn(manifest).empty());
}

TEST_CASE("a start is not sent again once its task has stopped", "[channel]") {
  Connected f;
  const std::string task = f.RunTasks("f", 1)[0];
  REQUIRE(TaskIn(f.agent->Receive()).second == "RUNNING");
  Report(f, task, "STOPPED");
  REQUIRE(f.LastStatus(task) == "STOPPED");

  f.agent->Vanish();
  auto again = AgentPeer::Of(f.port(), f.instance);

  CHECK(Type(again->Receive()) == "TaskManifestMessage");
  CHECK(again->IsQuiet());
}

TEST_CASE("after a restart the same follows from the tasks", "[channel]") {
  Connected f;
  const auto tasks = f.RunTasks("f", 3);
  for (int i = 0; i < 3; ++i) f.agent->Acknowledge(f.agent->Receive());
  REQUIRE(Eventually([&] { return f.IsAccepted(tasks[2]); }));
  Report(f, tasks[1], "RUNNING");
  f.Ask("StopTask", "{\"task\":\"" + tasks[2] + "\"}");

  f.Restart();
  CHECK_FALSE(f.AgentConnected(f.instance));
  auto again = AgentPeer::Of(f.port(), f.instance);
  const auto start = again->Receive();
  const auto stop = again->Receive();
  const auto manifest = again->Receive();

  CHECK(TaskIn(start) == std::pair<std::string, std::string>(tasks[0], "RUNNING"));
  CHECK(TaskIn(stop) == std::pair<std::string, std::string>(tasks[2], "STOPPED"));
  CHECK(TasksIn(manifest) == std::vector<std::string>{tasks[0], tasks[1]});
}

TEST_CASE("a second connection takes over from the first", "[channel]") {
  Connected f;

  auto second = AgentPeer::Of(f.port(), f.instance);
  CHECK(Type(second->Receive()) == "TaskManifestMessage");

  CHECK(f.agent->AwaitClose() == 0);  // dropped without a close frame
  // The end of the first is not the end of the agent.
  const std::string task = f.RunTasks("f", 1)[0];
  CHECK(TaskIn(second->Receive()).first == task);
  CHECK(f.AgentConnected(f.instance));
}

TEST_CASE("an instance whose connection is lost is not connected", "[channel]") {
  Connected f;
  REQUIRE(f.AgentConnected(f.instance));

  f.agent->Vanish();

  CHECK(Eventually([&] { return !f.AgentConnected(f.instance); }));
  auto again = AgentPeer::Of(f.port(), f.instance);
  CHECK(Eventually([&] { return f.AgentConnected(f.instance); }));
}

TEST_CASE("an agent that is lost while the store fails is known as lost, and has to wait",
          "[channel]") {
  ServerLimits limits;
  limits.channel.retry_delay = absl::Milliseconds(2);
  limits.loop.store_retry_first = absl::Milliseconds(1);
  limits.loop.store_retry_max = absl::Milliseconds(5);
  ScriptedStore store;
  ServerFixture f(limits);
  f.Start(store);
  const std::string instance = f.RegisterInstance();
  auto agent = AgentPeer::Of(f.port(), instance);
  REQUIRE(f.AgentConnected(instance));
  store.FailWith("disk full");
  RawClient writer(f.port());
  writer.Send(Call("CreateCluster", R"({"clusterName":"c"})"));
  store.AwaitAttempts(store.attempts() + 2);

  agent->Vanish();
  AgentPeer too_early;
  CHECK(too_early.Connect(f.port(), "containerInstanceArn=" + instance) == 503);
  CHECK(too_early.refusal().find("disk full") != std::string::npos);
  CHECK(Eventually([&] { return !f.AgentConnected(instance); }));

  store.FailWith("");
  REQUIRE(writer.Receive().status == 200);
  auto again = AgentPeer::Of(f.port(), instance);
  CHECK(f.AgentConnected(instance));
  f.server.reset();
}

TEST_CASE("an agent that misses two heartbeats is closed, one that answers is not", "[channel]") {
  ServerLimits limits;
  limits.channel.heartbeat_interval = absl::Milliseconds(100);
  Connected f(limits);
  for (int i = 0; i < 5; ++i) {
    const auto heartbeat = f.agent->ReceiveType("HeartbeatMessage");
    REQUIRE_FALSE(heartbeat.IsNull());
    f.agent->Say("HeartbeatAckRequest", MessageId(heartbeat));
  }

  CHECK(f.agent->AwaitClose() == 1008);
  CHECK(f.agent->close_reason() == "heartbeat");
  CHECK(Eventually([&] { return !f.AgentConnected(f.instance); }));
}

TEST_CASE("of the tasks that an agent would stop, those that should run are not confirmed",
          "[channel]") {
  Connected f;
  const auto tasks = f.RunTasks("f", 2);
  f.agent->Receive();
  f.agent->Receive();
  f.Ask("StopTask", "{\"task\":\"" + tasks[1] + "\"}");
  f.agent->Vanish();
  auto agent = AgentPeer::Of(f.port(), f.instance);
  const auto manifest = agent->ReceiveType("TaskManifestMessage");
  const std::string unknown =
      "arn:aws:ecs:us-east-1:000000000000:task/default/ffffffffffffffffffffffffffffffff";
  const auto candidate = [](const std::string& arn) {
    return "{\"taskArn\":\"" + arn + "\",\"taskClusterArn\":\"c\",\"desiredStatus\":\"STOPPED\"}";
  };
  const std::string candidates = "\"stopCandidates\":[" + candidate(tasks[0]) + "," +
                                 candidate(tasks[1]) + "," + candidate(unknown) + "," +
                                 candidate("nonsense") + ",7]";

  agent->Say("TaskStopVerificationMessage", "not the manifest's", candidates);
  CHECK(agent->IsQuiet());
  agent->Say("TaskStopVerificationMessage", MessageId(manifest), candidates);
  const auto ack = agent->ReceiveType("TaskStopVerificationAck");

  CHECK(MessageId(ack) == MessageId(manifest));
  std::vector<std::string> confirmed;
  for (const auto& task : ack["message"]["stopTasks"].GetArray()) {
    confirmed.push_back(task["taskArn"].GetString());
    CHECK(task["desiredStatus"].GetString() == std::string("STOPPED"));
  }
  CHECK(confirmed == std::vector<std::string>{tasks[1], unknown});
  // Each manifest is answered once.
  agent->Say("TaskStopVerificationMessage", MessageId(manifest), candidates);
  CHECK(agent->IsQuiet());
}

TEST_CASE("deregistering closes the channel with the words that agents look for", "[channel]") {
  Connected f;

  f.Ask("DeregisterContainerInstance",
        "{\"containerInstance\":\"" + f.instance + "\",\"force\":true}");

  CHECK(f.agent->AwaitClose() == 1008);
  CHECK(f.agent->close_reason().find("InactiveInstanceException") != std::string::npos);
  AgentPeer again;
  CHECK(again.Connect(f.port(), "containerInstanceArn=" + f.instance) == 400);
  CHECK(again.refusal().find("{\"InactiveInstanceException\":") == 0);
}

TEST_CASE("a message that is no envelope ends the channel, an unknown type does not", "[channel]") {
  Connected f;
  f.agent->Say("SomethingNew", "1");
  f.agent->Say("AckRequest", "never sent");
  f.agent->Say("HeartbeatAckRequest", "never sent");
  CHECK(f.agent->IsQuiet());

  const auto text = GENERATE(values<std::string>(
      {"", "garbage", "[]", "{}", R"({"type":7,"message":{}})", R"({"type":"AckRequest"})"}));
  INFO(text);
  f.agent->Send(text);
  CHECK(f.agent->AwaitClose() == 1007);
}

TEST_CASE("a message may be as large as the limit and no larger", "[channel]") {
  ServerLimits limits;
  limits.channel.message_bytes_max = 1000;
  const auto message = [](size_t bytes) {
    const std::string start = R"({"type":"X","message":{}})";
    return start + std::string(bytes - start.size(), ' ');
  };
  Connected f(limits);
  f.agent->Send(message(999));
  f.agent->Send(message(1000));
  CHECK(f.agent->IsQuiet());

  f.agent->Send(message(1001));

  CHECK(f.agent->AwaitClose() == 1009);
}

TEST_CASE("an agent that reads nothing is cut off and gets what then holds", "[channel]") {
  ServerLimits limits;
  limits.channel.outbound_bytes_max = 100'000;
  Connected f(limits);
  f.RegisterDefinition("big", ",\"command\":[\"" + std::string(30'000, 'x') + "\"]");

  // Sockets hold some megabytes.
  std::vector<std::string> tasks;
  while (tasks.size() < 400 && f.AgentConnected(f.instance)) {
    for (auto& task : f.RunTasks("big", 10)) tasks.push_back(std::move(task));
  }

  CHECK(Eventually([&] { return !f.AgentConnected(f.instance); }));
  auto again = AgentPeer::Of(f.port(), f.instance);
  for (size_t i = 0; i < tasks.size(); ++i) {
    INFO(i << " of " << tasks.size());
    const auto payload = again->ReceiveType("PayloadMessage");
    REQUIRE_FALSE(payload.IsNull());
    again->Acknowledge(payload);
  }
}

TEST_CASE("a server that stops says that it goes away", "[channel]") {
  Connected f;

  std::thread stop([&] { f.server->Stop(absl::Seconds(5)); });
  CHECK(f.agent->AwaitClose() == 1001);
  stop.join();
}

}  // namespace berth::api
