#include "agent/registration.h"

#include <algorithm>

#include <spdlog/spdlog.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "agent/backoff.h"
#include "agent/json.h"
#include "model/capabilities.h"
#include "model/container_instance.h"

namespace berth::agent {

namespace {

constexpr int kAttemptsPerRound = 3;
constexpr char kZoneAttribute[] = "ecs.availability-zone";
constexpr char kInstanceTypeAttribute[] = "ecs.instance-type";

std::string InstanceType(const AgentSettings& settings) {
  if (!settings.instance_type.empty()) return settings.instance_type;
  return settings.runtime == RuntimeKind::kSimulated ? "berth.simulated" : "berth.host";
}

std::vector<model::Attribute> Attributes(const AgentSettings& settings, const Identity& identity,
                                         const MachineFacts& machine, const GpuInventory& gpus) {
  model::DockerFeatures features;
  if (settings.runtime == RuntimeKind::kDocker) {
    features.api_minor = machine.docker_api_minor;
    features.logging_drivers = machine.log_drivers;
    features.volume_drivers = machine.volume_drivers;
  }
  std::vector<model::Attribute> attributes;
  // A simulated container lacks nothing that a definition could ask for.
  for (std::string& name : settings.runtime == RuntimeKind::kSimulated
                               ? model::AllCapabilities()
                               : model::AgentCapabilities(features)) {
    if (name == model::kGpuSharingCapability) continue;  // Below, when it is so.
    attributes.push_back({.name = std::move(name)});
  }
  const auto add = [&attributes](const char* name, std::string value) {
    attributes.push_back({.name = name, .value = std::move(value)});
  };
  add("ecs.os-type", "linux");
  add("ecs.os-family", "LINUX");
  add("ecs.cpu-architecture", machine.architecture);
  add(kInstanceTypeAttribute, InstanceType(settings));
  if (!settings.availability_zone.empty()) add(kZoneAttribute, settings.availability_zone);
  if (settings.runtime == RuntimeKind::kDocker) add("berth.awsvpc", "docker-network");
  if (gpus.can_share) {
    attributes.push_back({.name = model::kGpuSharingCapability});
    add(model::kMpsClientsAttribute, absl::StrCat(model::kMpsClientsMaxDefault));
  }
  // Only the first time: the server keeps them, and they may have been changed there since.
  if (identity.instance_arn.empty()) {
    for (const auto& [name, value] : settings.instance_attributes) {
      model::Attribute attribute{.name = name};
      if (!value.empty()) attribute.value = value;
      attributes.push_back(std::move(attribute));
    }
  }
  return attributes;
}

void WriteInteger(json::Builder& out, std::string_view name, int64_t value) {
  out.Object().Member("name", name).Member("type", "INTEGER").Member("integerValue", value);
  out.EndObject();
}

void WritePorts(json::Builder& out, std::string_view name, const std::vector<int64_t>& ports) {
  out.Object().Member("name", name).Member("type", "STRINGSET").Key("stringSetValue").Array();
  for (const int64_t port : ports) out.String(absl::StrCat(port));
  out.EndArray().EndObject();
}

// What an EC2 instance would learn from its metadata service. Ours is not signed.
std::string IdentityDocument(const AgentSettings& settings, const Identity& identity,
                             const MachineFacts& machine) {
  json::Builder out;
  out.Object();
  out.Member("instanceId", identity.ec2_instance_id);
  out.Member("instanceType", InstanceType(settings));
  if (!settings.availability_zone.empty()) {
    out.Member("availabilityZone", settings.availability_zone);
  }
  out.Member("architecture", machine.architecture);
  out.EndObject();
  return out.Text();
}

AgentExit Terminal(std::string reason) { return {.code = 5, .reason = std::move(reason)}; }
AgentExit Restartable(std::string reason) { return {.code = 1, .reason = std::move(reason)}; }

bool IsTerminal(const ApiAnswer& answer) {
  return answer.type == "InvalidParameterException" || answer.type == "ClientException" ||
         absl::StrContains(answer.message, "Container instance type changes are not supported.");
}

}  // namespace

std::string RegistrationBody(const AgentSettings& settings, const Identity& identity,
                             const MachineFacts& machine, const GpuInventory& gpus,
                             const std::string& client_token) {
  const int64_t cpu_units = settings.cpu_units.value_or(machine.cpus * 1024);
  const int64_t memory_mib = std::max<int64_t>(
      0, settings.memory_mib.value_or(machine.memory_mib - settings.reserved_memory_mib));
  json::Builder out;
  out.Object();
  if (!settings.cluster.empty()) out.Member("cluster", settings.cluster);
  if (!identity.instance_arn.empty()) out.Member("containerInstanceArn", identity.instance_arn);
  out.Member("clientToken", client_token);
  out.Member("instanceIdentityDocument", IdentityDocument(settings, identity, machine));
  out.Member("instanceIdentityDocumentSignature", "");
  out.Key("totalResources").Array();
  WriteInteger(out, "CPU", cpu_units);
  WriteInteger(out, "MEMORY", memory_mib);
  WritePorts(out, "PORTS", settings.reserved_tcp_ports);
  WritePorts(out, "PORTS_UDP", settings.reserved_udp_ports);
  out.EndArray();
  out.Key("versionInfo").Object();
  out.Member("agentVersion", settings.version).Member("agentHash", settings.version);
  if (!machine.docker_version.empty()) {
    out.Member("dockerVersion", absl::StrCat("DockerVersion: ", machine.docker_version));
  }
  out.EndObject();
  if (!gpus.gpus.empty()) {
    out.Key("platformDevices").Array();
    for (const model::Gpu& gpu : gpus.gpus) {
      out.Object().Member("id", gpu.id.value).Member("type", "GPU");
      out.Key("gpuInfo").Object().Member("memoryInMiB", gpu.memory_mib).EndObject();
      out.EndObject();
    }
    out.EndArray();
  }
  out.Key("attributes").Array();
  for (const model::Attribute& attribute : Attributes(settings, identity, machine, gpus)) {
    out.Object().Member("name", attribute.name);
    if (attribute.value) out.Member("value", *attribute.value);
    out.EndObject();
  }
  out.EndArray();
  if (identity.instance_arn.empty() && !settings.instance_tags.empty()) {
    out.Key("tags").Array();
    for (const model::Tag& tag : settings.instance_tags) {
      out.Object().Member("key", tag.key).Member("value", tag.value).EndObject();
    }
    out.EndArray();
  }
  out.EndObject();
  return out.Text();
}

std::variant<Registered, AgentExit> ReadRegistration(const std::string& request,
                                                     const std::string& answer) {
  json::Document sent;
  json::Document got;
  const json::Value* instance = nullptr;
  if (json::Parse(request, sent) && json::Parse(answer, got)) {
    instance = json::Find(got, "containerInstance");
  }
  const std::string arn =
      instance == nullptr ? "" : json::StringOr(*instance, "containerInstanceArn");
  if (arn.empty()) {
    return Restartable("the server's answer to the registration has no containerInstanceArn");
  }
  Registered registered{.instance_arn = arn};
  const json::Value* echoed = json::FindArray(*instance, "attributes");
  const auto value_of = [echoed](const std::string& name) -> std::optional<std::string> {
    if (echoed == nullptr) return std::nullopt;
    for (const json::Value& attribute : echoed->GetArray()) {
      if (json::StringOr(attribute, "name") == name) return json::StringOr(attribute, "value");
    }
    return std::nullopt;
  };
  if (const json::Value* attributes = json::FindArray(sent, "attributes")) {
    for (const json::Value& attribute : attributes->GetArray()) {
      const std::string name = json::StringOr(attribute, "name");
      const std::optional<std::string> value = json::FindString(attribute, "value");
      if (!value) continue;  // A name alone may be missing.
      const std::optional<std::string> back = value_of(name);
      if (back != value) {
        return Terminal(
            absl::StrFormat("the server did not take the attribute %s=%s: it answered %s", name,
                            *value, back ? "\"" + *back + "\"" : "without it"));
      }
    }
  }
  registered.availability_zone = value_of(kZoneAttribute).value_or("");
  return registered;
}

net::awaitable<std::variant<Registered, AgentExit>> Register(std::shared_ptr<EcsClient> server,
                                                             std::string cluster, std::string body,
                                                             RegistrationPace pace,
                                                             model::Rng rng) {
  Backoff backoff({.first = pace.first, .factor = 2.0, .cap = pace.cap}, std::move(rng));
  const absl::Time give_up_at = absl::Now() + pace.give_up;
  bool created_cluster = false;
  std::string why;
  for (int attempt = 1;; ++attempt) {
    absl::StatusOr<ApiAnswer> answer = co_await server->Call("RegisterContainerInstance", body);
    const bool last_of_round = attempt % kAttemptsPerRound == 0;
    if (!answer.ok()) {
      why = std::string(answer.status().message());
      // A certificate does not get better by asking again.
      const bool distrusted = absl::IsFailedPrecondition(answer.status());
      if (distrusted) absl::StrAppend(&why, " - give the file of the server's CA with --ca-file");
      if (last_of_round || distrusted) {
        co_return Restartable(absl::StrCat("cannot register: ", why));
      }
    } else if (answer->ok()) {
      co_return ReadRegistration(body, answer->body);
    } else {
      why = Describe(*answer);
      if (const std::string advice = server->Advice(why); !advice.empty()) {
        absl::StrAppend(&why, " - ", advice);
      }
      const bool no_cluster = answer->type == "ClusterNotFoundException" ||
                              absl::StrContains(answer->message, "Cluster not found.");
      if (no_cluster && cluster.empty() && !created_cluster) {
        created_cluster = true;
        spdlog::info("there is no cluster named default, it is created");
        const absl::StatusOr<ApiAnswer> created =
            co_await server->Call("CreateCluster", "{\"clusterName\":\"default\"}");
        if (created.ok() && created->ok()) continue;
        co_return Restartable("cannot create the cluster default");
      }
      if (no_cluster) {
        co_return Restartable(absl::StrFormat(
            "there is no cluster named %s; create it, or name another with --cluster",
            cluster.empty() ? "default" : cluster));
      }
      if (IsTerminal(*answer)) co_return Terminal(absl::StrCat("cannot register: ", why));
      if (!IsTransient(*answer)) co_return Restartable(absl::StrCat("cannot register: ", why));
    }
    if (absl::Now() >= give_up_at) {
      co_return Restartable(absl::StrFormat("cannot register for %s now: %s",
                                            absl::FormatDuration(pace.give_up), why));
    }
    const absl::Duration wait = last_of_round ? backoff.Next() : pace.between_attempts;
    spdlog::warn("registration will be tried again in {}: {}", absl::FormatDuration(wait), why);
    co_await Sleep(wait);
  }
}

}  // namespace berth::agent
