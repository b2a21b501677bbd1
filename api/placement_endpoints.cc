#include "api/placement_endpoints.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <rapidjson/document.h>

#include "absl/strings/str_format.h"
#include "api/access/authorize.h"
#include "api/access/call_resources.h"
#include "api/arguments.h"
#include "api/cluster_loop.h"
#include "api/decode.h"
#include "api/errors.h"
#include "api/json_find.h"
#include "api/json_writer.h"
#include "api/shapes/defrag.h"
#include "api/shapes/explanation.h"
#include "api/shapes/launch_request.h"
#include "api/shapes/placement_rules.h"
#include "model/check.h"
#include "model/errors.h"

namespace berth::api {
namespace {

constexpr char kServiceGroupPrefix[] = "service:";

// What an explanation can be asked about: a member, and an action of the API that takes the same
// one, so that the call is about the same resources.
struct Subject {
  std::string_view member;
  std::string_view alike;
};
constexpr std::array<Subject, 4> kSubjects = {{
    {"task", "StopTask"},
    {"service", "UpdateService"},
    {"group", "ListTasks"},
    {"taskDefinition", "RunTask"},
}};

const Subject* FindSubject(std::string_view member) {
  const auto found = std::find_if(kSubjects.begin(), kSubjects.end(),
                                  [member](const Subject& s) { return s.member == member; });
  return found == kSubjects.end() ? nullptr : &*found;
}

const schema::Shape& InputOf(std::string_view action) {
  const schema::Operation* operation = schema::FindOperation(action);
  BERTH_CHECK(operation != nullptr);
  return schema::InputOf(*operation);
}

// RunTask's members, of which those that do not bear on the place are read and ignored.
absl::StatusOr<scheduler::Plan> ParsePlan(JsonView body, const model::ArnScope& scope) {
  absl::StatusOr<scheduler::RunTask> task = ParseLaunch(body, scope);
  if (!task.ok()) return task.status();
  if (const JsonView count = body.Find("count")) task->count = count.AsInteger();
  if (const JsonView launch_type = body.Find("launchType")) {
    task->launch_type = model::ParseLaunchType(launch_type.AsString());
  }
  absl::StatusOr<placement::Rules> rules = DecodePlacementRules(body);
  if (rules.ok()) {
    task->rules = *std::move(rules);
  } else if (task->later_refusal.ok()) {
    task->later_refusal = rules.status();
  }
  return scheduler::Plan{.task = *std::move(task), .count_more = true};
}

void WriteFailure(const std::optional<scheduler::FailedPlacement>& failure,
                  const model::ClusterName& cluster, const model::ArnScope& scope,
                  JsonWriter& json) {
  if (!failure) return;
  json.BeginObject("failure");
  WriteFailedPlacement(*failure, cluster, scope, json);
  json.EndObject();
}

// What is asked of a defrag plan beside a RunTask's members.
struct DefragQuestion {
  int64_t moves_max = placement::kDefragMovesDefault;
  bool has_definition = false;
};

absl::StatusOr<DefragQuestion> ReadDefragQuestion(const std::string& body) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(body);
  if (document.HasParseError() || !document.IsObject()) {
    return SerializationError("the body is no JSON object");
  }
  DefragQuestion question{.has_definition = FindMember(&document, "taskDefinition") != nullptr};
  for (const auto& member : document.GetObject()) {
    const std::string_view name = TextOf(member.name);
    if (name == "cluster" || name == "moves") continue;
    if (schema::FindMember(InputOf("RunTask"), name) == nullptr) {
      return model::InvalidParameter(absl::StrFormat(
          "%s is not a member here; there are cluster, moves, and those of RunTask about a task",
          name.substr(0, 64)));
    }
    if (!question.has_definition && !member.value.IsNull()) {
      return model::InvalidParameter(absl::StrFormat(
          "%s is about a task, and taskDefinition does not say which", name.substr(0, 64)));
    }
  }
  if (FindMember(&document, "moves") != nullptr) {
    const std::optional<int64_t> moves = FindInt(&document, "moves");
    if (!moves) return SerializationError("moves is not a whole number");
    question.moves_max = *moves;
  }
  return question;
}

std::string WritePlan(const scheduler::Plan::Reply& reply, int64_t count,
                      const model::ClusterName& cluster, const model::ArnScope& scope) {
  JsonWriter json;
  json.BeginObject();
  json.String("clusterArn", model::ClusterArn(scope, cluster));
  json.String("taskDefinitionArn", model::TaskDefinitionArn(scope, reply.definition->id));
  json.String("group", reply.group);
  json.String("gpuPolicy", ToString(reply.gpu_policy));
  json.Int("count", count);
  json.Bool("fits", static_cast<int64_t>(reply.tasks.size()) == count);
  json.BeginArray("placements");
  for (const scheduler::PlannedTask& planned : reply.tasks) {
    json.BeginObject();
    WritePlanned(planned, cluster, scope, json);
    json.EndObject();
  }
  json.EndArray();
  json.Int("more", reply.more);
  json.Bool("moreIsLimit", reply.more == scheduler::kPlanMoreMax && reply.refusal == nullptr);
  if (reply.refusal != nullptr) {
    json.BeginObject("explanation");
    WriteExplanation(*reply.refusal, cluster, scope, json);
    json.EndObject();
  }
  WriteFailure(reply.failure, cluster, scope, json);
  json.EndObject();
  return json.Take();
}

std::string WriteExplained(const scheduler::Explain::Reply& reply,
                           const model::ClusterName& cluster, const model::ArnScope& scope) {
  JsonWriter json;
  json.BeginObject();
  json.String("clusterArn", model::ClusterArn(scope, cluster));
  json.String("group", reply.group);
  json.String("gpuPolicy", ToString(reply.gpu_policy));
  if (reply.task != nullptr) {
    const model::Task& task = *reply.task;
    json.String("taskArn", model::TaskArn(scope, cluster, task.id));
    json.String("taskDefinitionArn", model::TaskDefinitionArn(scope, task.definition->id));
    json.String("lastStatus", model::ToString(task.last_status));
    json.String("containerInstanceArn", model::InstanceArn(scope, cluster, task.instance));
    json.BeginArray("gpuIds");
    std::vector<std::string> gpus;
    for (const model::TaskContainer& container : task.containers) {
      for (const model::GpuId& gpu : container.gpu_ids) gpus.push_back(gpu.value);
    }
    std::sort(gpus.begin(), gpus.end());
    gpus.erase(std::unique(gpus.begin(), gpus.end()), gpus.end());
    for (const std::string& gpu : gpus) json.String(gpu);
    json.EndArray();
  }
  if (reply.today) {
    json.BeginObject("today");
    WritePlanned(*reply.today, cluster, scope, json);
    json.EndObject();
  }
  WriteFailure(reply.failure, cluster, scope, json);
  json.EndObject();
  return json.Take();
}

struct Question {
  std::optional<std::string> cluster = std::nullopt;
  const Subject* subject = nullptr;
  std::string name = {};
};

absl::StatusOr<Question> ReadQuestion(const std::string& body) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(body);
  if (document.HasParseError() || !document.IsObject()) {
    return SerializationError("the body is no JSON object");
  }
  Question question;
  for (const auto& member : document.GetObject()) {
    const std::string_view name = TextOf(member.name);
    const Subject* subject = FindSubject(name);
    if (subject == nullptr && name != "cluster") {
      return model::InvalidParameter(absl::StrFormat(
          "%s is not a member here; there are cluster, task, service, group and taskDefinition",
          name.substr(0, 64)));
    }
    if (!member.value.IsString()) {
      return SerializationError(absl::StrFormat("%s is no string", name));
    }
    if (subject == nullptr) {
      question.cluster = std::string(TextOf(member.value));
      continue;
    }
    if (question.subject != nullptr) {
      return model::InvalidParameter(absl::StrFormat(
          "both %s and %s are given; ask about one of them", question.subject->member, name));
    }
    question.subject = subject;
    question.name = std::string(TextOf(member.value));
  }
  if (question.name.empty()) {
    return model::InvalidParameter(
        "nothing is asked about; give one of task, service, group and taskDefinition");
  }
  return question;
}

// "*" for what cannot be read: whoever may not ask need not know what is wrong with the question.
std::vector<CallResource> ResourcesOf(const absl::StatusOr<Question>& question,
                                      const std::string& body, const model::ArnScope& scope) {
  if (question.ok()) {
    const std::string_view alike = question->subject->alike;
    absl::StatusOr<JsonBody> input = JsonBody::Parse(body, InputOf(alike));
    if (input.ok()) return api::ResourcesOf(alike, input->root(), scope);
  }
  return {{.arn = "*"}};
}

// The service's name, of an ARN too.
std::string NameOfService(const std::string& text) {
  return text.substr(text.find_last_of('/') + 1);
}

}  // namespace

std::string_view PlacementEndpoints::ActionOf(std::string_view method, std::string_view path) {
  if (method != "POST") return {};
  if (path == kDefragPath) return kGetDefragPlanAction;
  return path == kPlanPath ? kGetPlanAction : kGetExplanationAction;
}

ApiResponse PlacementEndpoints::Refused(const absl::Status& error, std::string resource) const {
  ApiResponse response = ErrorResponse(error, context_.settings.scope);
  response.resources.push_back(std::move(resource));
  return response;
}

net::awaitable<ApiResponse> PlacementEndpoints::Respond(std::string_view action, std::string,
                                                        std::string body, Caller caller) {
  if (action == kGetDefragPlanAction) {
    co_return co_await Defrag(std::move(body), std::move(caller));
  }
  if (action == kGetPlanAction) co_return co_await Plan(std::move(body), std::move(caller));
  co_return co_await Explain(std::move(body), std::move(caller));
}

net::awaitable<ApiResponse> PlacementEndpoints::Plan(std::string body, Caller caller) {
  const model::ArnScope& scope = context_.settings.scope;
  absl::StatusOr<JsonBody> parsed = JsonBody::Parse(std::move(body), InputOf("RunTask"));
  if (!parsed.ok()) co_return Refused(parsed.status(), "*");
  const std::vector<CallResource> about = api::ResourcesOf("RunTask", parsed->root(), scope);
  if (absl::Status status = Authorize(caller, kGetPlanAction, about, scope); !status.ok()) {
    co_return Refused(status, about[0].arn);
  }
  absl::StatusOr<scheduler::Plan> command = ParsePlan(parsed->root(), scope);
  if (!command.ok()) co_return Refused(command.status(), about[0].arn);
  const model::ClusterName cluster = command->task.cluster;
  const int64_t count = command->task.count;
  auto reply = co_await context_.loop.Submit(*std::move(command));
  if (!reply.ok()) co_return Refused(InCluster(reply.status(), cluster), about[0].arn);
  co_return ApiResponse{.body = WritePlan(*reply, count, cluster, scope),
                        .resources = {about[0].arn}};
}

net::awaitable<ApiResponse> PlacementEndpoints::Defrag(std::string body, Caller caller) {
  const model::ArnScope& scope = context_.settings.scope;
  absl::StatusOr<DefragQuestion> question = ReadDefragQuestion(body);
  // About a task to be run, or about the cluster.
  const char* alike = question.ok() && question->has_definition ? "RunTask" : "ListTasks";
  absl::StatusOr<JsonBody> parsed = JsonBody::Parse(std::move(body), InputOf(alike));
  if (!parsed.ok()) co_return Refused(parsed.status(), "*");
  const std::vector<CallResource> about = api::ResourcesOf(alike, parsed->root(), scope);
  if (absl::Status status = Authorize(caller, kGetDefragPlanAction, about, scope); !status.ok()) {
    co_return Refused(status, about[0].arn);
  }
  if (!question.ok()) co_return Refused(question.status(), about[0].arn);
  scheduler::Defrag command{.moves_max = question->moves_max};
  if (question->has_definition) {
    absl::StatusOr<scheduler::Plan> plan = ParsePlan(parsed->root(), scope);
    if (!plan.ok()) co_return Refused(plan.status(), about[0].arn);
    command.cluster = plan->task.cluster;
    command.task = std::move(plan->task);
  } else {
    const JsonView name = parsed->root().Find("cluster");
    absl::StatusOr<model::ClusterName> cluster =
        ClusterArgument(scope, name ? std::optional(std::string(name.AsString())) : std::nullopt);
    if (!cluster.ok()) co_return Refused(cluster.status(), about[0].arn);
    command.cluster = *std::move(cluster);
  }
  const model::ClusterName cluster = command.cluster;
  auto reply = co_await context_.loop.Submit(std::move(command));
  if (!reply.ok()) co_return Refused(InCluster(reply.status(), cluster), about[0].arn);
  JsonWriter json;
  json.BeginObject();
  WriteDefragPlan(*reply, cluster, scope, json);
  json.EndObject();
  co_return ApiResponse{.body = json.Take(), .resources = {about[0].arn}};
}

net::awaitable<ApiResponse> PlacementEndpoints::Explain(std::string body, Caller caller) {
  const model::ArnScope& scope = context_.settings.scope;
  absl::StatusOr<Question> question = ReadQuestion(body);
  const std::vector<CallResource> about = ResourcesOf(question, body, scope);
  if (absl::Status status = Authorize(caller, kGetExplanationAction, about, scope); !status.ok()) {
    co_return Refused(status, about[0].arn);
  }
  if (!question.ok()) co_return Refused(question.status(), about[0].arn);
  absl::StatusOr<model::ClusterName> cluster = ClusterArgument(scope, question->cluster);
  if (!cluster.ok()) co_return Refused(cluster.status(), about[0].arn);

  const std::string_view subject = question->subject->member;
  if (subject == "taskDefinition") {
    absl::StatusOr<model::DefinitionRef> definition = model::ParseDefinition(scope, question->name);
    if (!definition.ok()) co_return Refused(definition.status(), about[0].arn);
    scheduler::Plan command{.count_more = true};
    command.task.cluster = *cluster;
    command.task.definition = *std::move(definition);
    auto reply = co_await context_.loop.Submit(std::move(command));
    if (!reply.ok()) co_return Refused(reply.status(), about[0].arn);
    co_return ApiResponse{.body = WritePlan(*reply, 1, *cluster, scope),
                          .resources = {about[0].arn}};
  }
  scheduler::Explain command{.cluster = *cluster};
  if (subject == "task") {
    absl::StatusOr<model::TaskId> task = model::ParseTask(scope, *cluster, question->name);
    if (!task.ok()) co_return Refused(task.status(), about[0].arn);
    command.task = *std::move(task);
  } else {
    command.group =
        subject == "service" ? kServiceGroupPrefix + NameOfService(question->name) : question->name;
  }
  auto reply = co_await context_.loop.Submit(std::move(command));
  if (!reply.ok()) co_return Refused(InCluster(reply.status(), *cluster), about[0].arn);
  co_return ApiResponse{.body = WriteExplained(*reply, *cluster, scope),
                        .resources = {about[0].arn}};
}

}  // namespace berth::api
