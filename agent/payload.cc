#include "agent/payload.h"

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "agent/json.h"
#include "agent/payload_sharing.h"
#include "agent/payload_trouble.h"
#include "model/arn.h"

namespace berth::agent {

namespace {

using json::Value;

constexpr size_t kTaskIdBytesMax = 64;
constexpr size_t kContainersMax = 100;

// Members that change what a container is or may do, which this version does not serve. Running the
// task without them would be running something else.
constexpr std::array kUnsupportedInTask = {"proxyConfiguration", "attachments",
                                           "elasticNetworkInterfaces", "enableFaultInjection"};
constexpr std::array kUnsupportedInContainer = {"environmentFiles", "managedAgents",
                                                "registryAuthentication", "firelensConfiguration"};

// Whether a member asks for something: not null, false, "", [] or {}, nor a disabled policy.
bool AsksForSomething(const Value& value) {
  if (value.IsNull() || value.IsFalse()) return false;
  if (value.IsString()) return value.GetStringLength() > 0;
  if (value.IsArray()) return !value.Empty();
  if (value.IsObject()) {
    if (value.ObjectEmpty()) return false;
    return json::FindBool(value, "enabled").value_or(true);
  }
  return true;
}

template <class Names>
void RefuseUnsupportedMembers(const Value& object, const Names& names, std::string_view where,
                              Trouble& trouble) {
  for (const char* name : names) {
    const Value* member = json::Find(object, name);
    if (member != nullptr && AsksForSomething(*member)) {
      RefuseUnsupported(trouble, absl::StrCat(std::string(where), name));
    }
  }
  // What the server itself knows that no agent of this version can do.
  const Value* marked = json::Find(object, "berthUnsupported");
  if (marked == nullptr || !AsksForSomething(*marked)) return;
  if (marked->IsString()) {
    RefuseUnsupported(trouble, marked->GetString());
  } else if (marked->IsArray() && (*marked)[0].IsString()) {
    RefuseUnsupported(trouble, (*marked)[0].GetString());
  } else {
    RefuseUnsupported(trouble, "a part of this task definition");
  }
}

std::vector<std::string> DecodeStrings(const Value& object, const char* name, Trouble& trouble) {
  std::vector<std::string> strings;
  const Value* member = json::Find(object, name);
  if (member == nullptr) return strings;
  if (!member->IsArray()) {
    Undecodable(trouble, absl::StrFormat("%s is not a list", name));
    return strings;
  }
  for (const Value& entry : member->GetArray()) {
    if (!entry.IsString()) {
      Undecodable(trouble, absl::StrFormat("%s holds something that is not a string", name));
      return strings;
    }
    strings.emplace_back(entry.GetString(), entry.GetStringLength());
  }
  return strings;
}

std::optional<absl::Duration> DecodeSeconds(const Value& object, const char* name,
                                            Trouble& trouble) {
  if (json::Find(object, name) == nullptr) return std::nullopt;
  const std::optional<int64_t> seconds = json::FindInt(object, name);
  if (!seconds || *seconds < 0 || *seconds > 86400) {
    Undecodable(trouble, absl::StrFormat("%s is not a number of seconds up to 86400", name));
    return std::nullopt;
  }
  // 0 is how the official server says "not set".
  if (*seconds == 0) return std::nullopt;
  return absl::Seconds(*seconds);
}

std::vector<PortPayload> DecodePorts(const Value& container, Trouble& trouble) {
  std::vector<PortPayload> ports;
  const Value* mappings = json::FindArray(container, "portMappings");
  if (mappings == nullptr) return ports;
  for (const Value& mapping : mappings->GetArray()) {
    if (!json::StringOr(mapping, "containerPortRange").empty()) {
      RefuseUnsupported(trouble, "containerPortRange");
      continue;
    }
    PortPayload port;
    port.container_port = json::FindInt(mapping, "containerPort").value_or(0);
    port.host_port = json::FindInt(mapping, "hostPort").value_or(0);
    const std::string protocol = json::StringOr(mapping, "protocol", "tcp");
    port.protocol = protocol == "udp" ? model::Protocol::kUdp : model::Protocol::kTcp;
    if (port.container_port < 1 || port.container_port > 65535 || port.host_port < 0 ||
        port.host_port > 65535 || (protocol != "tcp" && protocol != "udp")) {
      Undecodable(trouble, absl::StrFormat("port mapping %d:%d/%s is not possible", port.host_port,
                                           port.container_port, protocol));
      continue;
    }
    ports.push_back(port);
  }
  return ports;
}

// A container's GPU requirement. G5: what is not understood to the last member is refused, since a
// container that shares must never run without its limit.
std::optional<model::NvidiaMps> DecodeShare(const Value& container, std::string_view name,
                                            Trouble& trouble) {
  const Value* requirements = json::FindArray(container, "resourceRequirements");
  if (requirements == nullptr) return std::nullopt;
  std::optional<model::NvidiaMps> share;
  for (const Value& requirement : requirements->GetArray()) {
    const std::string type = json::StringOr(requirement, "type");
    const Value* strategy = json::Find(requirement, "sharingStrategy");
    if (type != "GPU" && type != "gpu") {
      Refuse(trouble, strategy != nullptr
                          ? absl::StrFormat("container %s has a sharing strategy on a resource "
                                            "requirement of type %s, which is not GPU",
                                            name, type)
                          : absl::StrFormat("container %s has a resource requirement of type %s; "
                                            "only GPU is supported",
                                            name, type));
      continue;
    }
    if (strategy == nullptr) continue;
    const Value* mps = json::Find(*strategy, "nvidiaMps");
    if (mps == nullptr || !mps->IsObject() || strategy->MemberCount() != 1) {
      Refuse(trouble, absl::StrFormat("container %s has an empty or unknown GPU sharing strategy; "
                                      "nvidiaMps is the one that is supported",
                                      name));
      continue;
    }
    const std::optional<int64_t> memory = json::FindInt(*mps, "memory");
    const Value* percent_member = json::Find(*mps, "maxComputePercent");
    const std::optional<int64_t> percent = json::FindInt(*mps, "maxComputePercent");
    if (!memory || *memory < 1) {
      Refuse(trouble, absl::StrFormat("container %s shares a GPU without a memory limit of at "
                                      "least 1 MiB",
                                      name));
    } else if (percent_member != nullptr && (!percent || *percent < 1 || *percent > 100)) {
      Refuse(trouble, absl::StrFormat("container %s has a maxComputePercent that is not within "
                                      "1 to 100",
                                      name));
    } else if (share) {
      Refuse(trouble, absl::StrFormat("container %s asks for two shares of a GPU", name));
    } else {
      share = model::NvidiaMps{.memory_mib = *memory, .max_compute_percent = percent};
    }
  }
  return share;
}

// The one key that `overrides` may have; the server merges all else.
void ApplyOverrides(const Value& container, ContainerPayload& decoded, Trouble& trouble) {
  const std::string text = json::StringOr(container, "overrides");
  if (text.empty()) return;
  json::Document overrides;
  if (!json::Parse(text, overrides) || !overrides.IsObject()) {
    Undecodable(trouble,
                absl::StrFormat("overrides of container %s are not a JSON object", decoded.name));
    return;
  }
  for (const auto& member : overrides.GetObject()) {
    const std::string_view key(member.name.GetString(), member.name.GetStringLength());
    if (key != "command") {
      Undecodable(trouble, absl::StrFormat("overrides of container %s have the unknown key %s",
                                           decoded.name, key));
      return;
    }
  }
  if (json::Find(overrides, "command") != nullptr) {
    decoded.command = DecodeStrings(overrides, "command", trouble);
  }
}

void DecodeDockerConfig(const Value& container, ContainerPayload& decoded, Trouble& trouble) {
  const Value* docker = json::Find(container, "dockerConfig");
  if (docker == nullptr) return;
  decoded.docker_config = json::StringOr(*docker, "config");
  decoded.docker_host_config = json::StringOr(*docker, "hostConfig");
  for (const std::string* text : {&decoded.docker_config, &decoded.docker_host_config}) {
    json::Document document;
    if (!text->empty() && (!json::Parse(*text, document) || !document.IsObject())) {
      Undecodable(trouble, absl::StrFormat("dockerConfig of container %s is not a JSON object",
                                           decoded.name));
    }
  }
}

std::vector<SecretPayload> DecodeSecrets(const Value& container, std::string_view where,
                                         Trouble& trouble) {
  std::vector<SecretPayload> secrets;
  const Value* list = json::FindArray(container, "secrets");
  if (list == nullptr) return secrets;
  for (const Value& entry : list->GetArray()) {
    SecretPayload secret = {.name = json::StringOr(entry, "name"),
                            .value_from = json::StringOr(entry, "valueFrom"),
                            .for_log_driver = json::StringOr(entry, "target") == "LOG_DRIVER"};
    const std::string type = json::StringOr(entry, "type", "ENVIRONMENT_VARIABLE");
    if (secret.name.empty() || secret.value_from.empty()) {
      Undecodable(trouble,
                  absl::StrFormat("a secret of container %s has no name or no valueFrom", where));
    } else if (type != "ENVIRONMENT_VARIABLE") {
      RefuseUnsupported(
          trouble, absl::StrFormat("container %s: secret %s of type %s", where, secret.name, type));
    }
    secrets.push_back(std::move(secret));
  }
  return secrets;
}

std::optional<RestartPayload> DecodeRestart(const Value& container, Trouble& trouble) {
  const Value* policy = json::Find(container, "restartPolicy");
  if (policy == nullptr || !json::FindBool(*policy, "enabled").value_or(false)) return std::nullopt;
  RestartPayload restart;
  if (const auto period = DecodeSeconds(*policy, "restartAttemptPeriod", trouble)) {
    restart.attempt_period = *period;
  }
  if (const Value* codes = json::FindArray(*policy, "ignoredExitCodes")) {
    for (const Value& code : codes->GetArray()) {
      if (!code.IsInt64()) {
        Undecodable(trouble, "ignoredExitCodes holds something that is not a number");
        break;
      }
      restart.ignored_exit_codes.push_back(code.GetInt64());
    }
  }
  return restart;
}

ContainerPayload DecodeContainer(const Value& value, Trouble& trouble) {
  ContainerPayload container;
  container.name = json::StringOr(value, "name");
  container.image = json::StringOr(value, "image");
  if (!model::IsValidName(container.name)) {
    Undecodable(trouble, absl::StrFormat("\"%s\" is not a container name", container.name));
  }
  if (container.image.empty()) {
    Undecodable(trouble, absl::StrFormat("container %s has no image", container.name));
  }
  container.command = DecodeStrings(value, "command", trouble);
  container.entry_point = DecodeStrings(value, "entryPoint", trouble);
  container.cpu_units = std::max<int64_t>(0, json::FindInt(value, "cpu").value_or(0));
  container.memory_mib = std::max<int64_t>(0, json::FindInt(value, "memory").value_or(0));
  container.essential = json::FindBool(value, "essential").value_or(true);
  if (const Value* environment = json::Find(value, "environment")) {
    if (!environment->IsObject()) {
      Undecodable(trouble, absl::StrFormat("environment of container %s is not a map of strings",
                                           container.name));
    } else {
      for (const auto& variable : environment->GetObject()) {
        if (!variable.value.IsString()) {
          Undecodable(trouble, absl::StrFormat("environment variable %s of container %s is not a "
                                               "string",
                                               variable.name.GetString(), container.name));
          break;
        }
        container.environment[variable.name.GetString()] = variable.value.GetString();
      }
    }
  }
  container.ports = DecodePorts(value, trouble);
  container.start_timeout = DecodeSeconds(value, "startTimeout", trouble);
  container.stop_timeout = DecodeSeconds(value, "stopTimeout", trouble);
  container.secrets = DecodeSecrets(value, container.name, trouble);
  container.restart = DecodeRestart(value, trouble);
  container.share = DecodeShare(value, container.name, trouble);
  DecodeDockerConfig(value, container, trouble);
  ApplyOverrides(value, container, trouble);
  const std::string where = absl::StrFormat("container %s: ", container.name);
  RefuseUnsupportedMembers(value, kUnsupportedInContainer, where, trouble);
  return container;
}

std::optional<size_t> IndexOf(const std::vector<ContainerPayload>& containers,
                              std::string_view name) {
  for (size_t i = 0; i < containers.size(); ++i) {
    if (containers[i].name == name) return i;
  }
  return std::nullopt;
}

void DecodeDependencies(const Value& list, std::vector<ContainerPayload>& containers,
                        Trouble& trouble) {
  for (size_t i = 0; i < containers.size(); ++i) {
    const Value* dependencies =
        json::FindArray(list[static_cast<rapidjson::SizeType>(i)], "dependsOn");
    if (dependencies == nullptr) continue;
    for (const Value& entry : dependencies->GetArray()) {
      const std::string name = json::StringOr(entry, "containerName");
      const std::string word = json::StringOr(entry, "condition");
      const std::optional<size_t> target = IndexOf(containers, name);
      const auto condition = model::ParseDependencyCondition(word);
      if (!target || !condition || *target == i) {
        Undecodable(trouble, absl::StrFormat("container %s cannot depend on %s being %s",
                                             containers[i].name, name, word));
        return;
      }
      containers[i].depends_on.push_back({.container = *target, .condition = *condition});
    }
  }
}

// Kahn's way: take away, again and again, what depends on nothing that is left.
bool HasCycle(const std::vector<ContainerPayload>& containers) {
  std::vector<bool> taken(containers.size(), false);
  size_t left = containers.size();
  for (bool progress = true; progress;) {
    progress = false;
    for (size_t i = 0; i < containers.size(); ++i) {
      if (taken[i]) continue;
      const auto& needs = containers[i].depends_on;
      if (std::all_of(needs.begin(), needs.end(),
                      [&](const DependencyPayload& d) { return taken[d.container]; })) {
        taken[i] = true;
        --left;
        progress = true;
      }
    }
  }
  return left > 0;
}

// G4: associations say which device goes to which containers.
void DecodeAssociations(const Value& task, std::vector<ContainerPayload>& containers,
                        Trouble& trouble) {
  const Value* associations = json::FindArray(task, "associations");
  if (associations == nullptr) return;
  for (const Value& association : associations->GetArray()) {
    const std::string type = json::StringOr(association, "type");
    const std::string gpu = json::StringOr(association, "name");
    if (type != "gpu" && type != "GPU") {
      RefuseUnsupported(trouble, absl::StrFormat("an association of type %s", type));
      continue;
    }
    size_t sharing = 0;
    size_t dedicated = 0;
    for (const std::string& name : DecodeStrings(association, "containers", trouble)) {
      const std::optional<size_t> index = IndexOf(containers, name);
      if (!index) {
        Undecodable(trouble, absl::StrFormat("GPU %s is meant for container %s, which is not there",
                                             gpu, name));
        continue;
      }
      containers[*index].gpu_ids.push_back(model::GpuId{gpu});
      ++(containers[*index].share ? sharing : dedicated);
    }
    if (gpu.empty() || sharing + dedicated == 0) {
      Undecodable(trouble, "a GPU association without a device or a container");
    } else if (dedicated > 1 || (dedicated > 0 && sharing > 0)) {
      Refuse(trouble, absl::StrFormat("GPU %s is given to %d containers of which %d do not share",
                                      gpu, sharing + dedicated, dedicated));
    }
  }
}

void CheckShares(const std::vector<ContainerPayload>& containers, Trouble& trouble) {
  for (const ContainerPayload& container : containers) {
    if (container.share && container.gpu_ids.size() != 1) {
      Refuse(trouble, absl::StrFormat("container %s shares a GPU and was given %d of them; it must "
                                      "be one",
                                      container.name, container.gpu_ids.size()));
    }
  }
}

std::shared_ptr<const TaskPayload> DecodeBody(const Value& value, Trouble& trouble) {
  auto task = std::make_shared<TaskPayload>();
  task->family = json::StringOr(value, "family");
  task->version = json::StringOr(value, "version");
  task->memory_mib = std::max<int64_t>(0, json::FindInt(value, "memory").value_or(0));
  const std::string mode = json::StringOr(value, "networkMode", "bridge");
  if (const auto parsed = model::ParseNetworkMode(mode.empty() ? "bridge" : mode)) {
    task->network_mode = *parsed;
  } else {
    Undecodable(trouble,
                absl::StrFormat("networkMode %s is not one of bridge, host, awsvpc, none", mode));
  }
  const Value* list = json::FindArray(value, "containers");
  if (list == nullptr || list->Empty() || list->Size() > kContainersMax) {
    Undecodable(trouble, absl::StrFormat("a task has 1 to %d containers", kContainersMax));
    return task;
  }
  for (const Value& entry : list->GetArray()) {
    task->containers.push_back(DecodeContainer(entry, trouble));
    const std::string& name = task->containers.back().name;
    if (*IndexOf(task->containers, name) + 1 != task->containers.size()) {
      Undecodable(trouble, absl::StrFormat("two containers are named %s", name));
    }
  }
  DecodeDependencies(*list, task->containers, trouble);
  DecodeSharing(value, *task, trouble);
  if (HasCycle(task->containers)) {
    Undecodable(trouble, "dependsOn, links and volumesFrom go round in a circle");
  }
  DecodeAssociations(value, task->containers, trouble);
  CheckShares(task->containers, trouble);
  RefuseUnsupportedMembers(value, kUnsupportedInTask, "", trouble);
  return task;
}

}  // namespace

std::string TaskIdOf(std::string_view arn) {
  const std::optional<model::Arn> parsed = model::ParseArn(arn);
  if (!parsed || !parsed->resource.starts_with("task/")) return {};
  std::string id = parsed->resource.substr(parsed->resource.rfind('/') + 1);
  const bool safe =
      !id.empty() && id.size() <= kTaskIdBytesMax && std::all_of(id.begin(), id.end(), [](char c) {
        return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_';
      });
  return safe ? id : std::string();
}

DecodedTask DecodeTask(std::string_view text) {
  DecodedTask decoded;
  Trouble trouble;
  json::Document value;
  if (!json::Parse(text, value) || !value.IsObject()) {
    Undecodable(trouble, "it is not a JSON object");
    decoded.undecodable = trouble.undecodable;
    return decoded;
  }
  decoded.arn = json::StringOr(value, "arn");
  decoded.id = TaskIdOf(decoded.arn);
  if (decoded.id.empty())
    Undecodable(trouble, absl::StrFormat("\"%s\" is no task ARN", decoded.arn));
  const std::string desired = json::StringOr(value, "desiredStatus");
  if (const auto parsed = model::ParseDesiredStatus(desired)) {
    decoded.desired = *parsed;
  } else {
    Undecodable(trouble,
                absl::StrFormat("desiredStatus \"%s\" is neither RUNNING nor STOPPED", desired));
  }
  if (decoded.desired == model::DesiredStatus::kRunning) {
    auto task = DecodeBody(value, trouble);
    if (!trouble.any()) {
      auto complete = std::make_shared<TaskPayload>(*task);
      complete->arn = decoded.arn;
      complete->id = decoded.id;
      decoded.task = std::move(complete);
    }
  }
  decoded.undecodable = trouble.undecodable;
  if (decoded.undecodable.empty()) decoded.refusal = trouble.refusal;
  return decoded;
}

}  // namespace berth::agent
