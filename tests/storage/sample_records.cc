#include "tests/storage/sample_records.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"

namespace berth::storage::testing {
namespace {

using model::Cluster;
using model::ContainerInstance;
using model::Task;
using model::TaskDefinition;

// What SQL, JSON and C strings are likely to trip over.
using namespace std::string_literals;
const std::string kAwkward = "it's \"quoted\" \\ \n\t \xC3\xA9\xE2\x82\xAC \0 end"s;

std::string TextOf(const std::string& value) { return value; }
std::string TextOf(int64_t value) { return absl::StrFormat("%d", value); }
std::string TextOf(bool value) { return value ? "true" : "false"; }
// To the nanosecond, which is what the clock gives.
std::string TextOf(absl::Time value) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%E*S", value, absl::UTCTimeZone());
}
template <class Tag>
std::string TextOf(const model::StringId<Tag>& id) {
  return id.value;
}
template <class Enum>
requires std::is_enum_v<Enum> std::string TextOf(Enum value) {
  return absl::StrFormat("%d", static_cast<int>(value));
}
template <class Value>
std::string TextOf(const std::optional<Value>& value) {
  return value ? "<" + TextOf(*value) + ">" : "absent";
}
std::string TextOf(const model::Tag& tag) {
  const auto& [key, value] = tag;
  return key + "=" + value;
}
std::string TextOf(const model::Attribute& attribute) {
  const auto& [name, value] = attribute;
  return name + "=" + TextOf(value);
}
std::string TextOf(const model::Gpu& gpu) {
  const auto& [id, memory_mib] = gpu;
  return TextOf(id) + ":" + TextOf(memory_mib);
}
std::string TextOf(const model::VersionInfo& versions) {
  const auto& [agent_version, agent_hash, docker_version] = versions;
  return agent_version + "/" + agent_hash + "/" + docker_version;
}
std::string TextOf(const model::NetworkBinding& binding) {
  const auto& [bind_ip, container_port, host_port, protocol] = binding;
  return bind_ip + "/" + TextOf(container_port) + "/" + TextOf(host_port) + "/" + TextOf(protocol);
}
std::string TextOf(const model::TaskContainer& container);
template <class Value>
std::string TextOf(const std::vector<Value>& values) {
  std::string text = "[";
  for (const Value& value : values) text += TextOf(value) + ", ";
  return text + "]";
}
std::string TextOf(const model::RegisteredResources& resources) {
  const auto& [cpu_units, memory_mib, tcp, udp, gpus, mps_clients_max] = resources;
  return TextOf(cpu_units) + "/" + TextOf(memory_mib) + "/" + TextOf(tcp) + "/" + TextOf(udp) +
         "/" + TextOf(gpus) + "/" + TextOf(mps_clients_max);
}
std::string TextOf(const model::TaskContainer& container) {
  const auto& [name, uuid, last_status, health_status, exit_code, reason, runtime_id, image_digest,
               network_bindings, gpu_ids] = container;
  return name + "/" + uuid + "/" + TextOf(last_status) + "/" + TextOf(health_status) + "/" +
         TextOf(exit_code) + "/" + reason + "/" + runtime_id + "/" + image_digest + "/" +
         TextOf(network_bindings) + "/" + TextOf(gpu_ids);
}

absl::Time At(int64_t second) {
  return absl::FromUnixNanos(1'790'000'000'123'456'789) + absl::Seconds(second);
}

std::string Hex32(int64_t number) { return absl::StrFormat("%032x", number); }

}  // namespace

Members MembersOf(const Cluster& cluster) {
  const auto& [name, sequence, status, document, tags, created_at, deleted_at] = cluster;
  return {{"name", TextOf(name)},
          {"sequence", TextOf(sequence)},
          {"status", TextOf(status)},
          {"document", document},
          {"tags", TextOf(tags)},
          {"created_at", TextOf(created_at)},
          {"deleted_at", TextOf(deleted_at)}};
}

Members MembersOf(const model::Family& family) {
  const auto& [name, last_revision] = family;
  return {{"name", name}, {"last_revision", TextOf(last_revision)}};
}

Members MembersOf(const TaskDefinition& definition) {
  const auto& [id, sequence, status, registered_at, deregistered_at, delete_requested_at,
               registered_by, tags, document, spec, compatibilities, requires_attributes] =
      definition;
  // Derived, and not kept: spec, compatibilities, requires_attributes.
  (void)spec;
  (void)compatibilities;
  (void)requires_attributes;
  return {{"family", id.family},
          {"revision", TextOf(id.revision)},
          {"sequence", TextOf(sequence)},
          {"status", TextOf(status)},
          {"registered_at", TextOf(registered_at)},
          {"deregistered_at", TextOf(deregistered_at)},
          {"delete_requested_at", TextOf(delete_requested_at)},
          {"registered_by", registered_by},
          {"tags", TextOf(tags)},
          {"document", document == nullptr ? "null" : "<" + *document + ">"}};
}

Members MembersOf(const ContainerInstance& instance) {
  const auto& [id, sequence, cluster, ec2_instance_id, status, status_reason, version, resources,
               attributes, version_info, tags, registration_token, registered_by, emulated,
               registered_at, deregistered_at] = instance;
  return {{"id", TextOf(id)},
          {"sequence", TextOf(sequence)},
          {"cluster", TextOf(cluster)},
          {"ec2_instance_id", ec2_instance_id},
          {"status", TextOf(status)},
          {"status_reason", status_reason},
          {"version", TextOf(version)},
          {"resources", TextOf(resources)},
          {"attributes", TextOf(attributes)},
          {"version_info", TextOf(version_info)},
          {"tags", TextOf(tags)},
          {"registration_token", registration_token},
          {"registered_by", registered_by},
          {"emulated", TextOf(emulated)},
          {"registered_at", TextOf(registered_at)},
          {"deregistered_at", TextOf(deregistered_at)}};
}

Members MembersOf(const Task& task) {
  const auto& [id, sequence, cluster, instance, definition, overrides, spec, last_status,
               desired_status, stop_code, stopped_reason, version, launch_type, group, started_by,
               enable_execute_command, client_token, network_configuration, reference_id, tags,
               availability_zone, cpu_architecture, protected_until, connectivity, created_at,
               connectivity_at, pull_started_at, pull_stopped_at, started_at, stopping_at,
               execution_stopped_at, stopped_at, containers] = task;
  (void)spec;  // Derived, and not kept.
  return {{"id", TextOf(id)},
          {"sequence", TextOf(sequence)},
          {"cluster", TextOf(cluster)},
          {"instance", TextOf(instance)},
          {"definition", definition == nullptr ? "null" : TextOf(definition->sequence)},
          {"overrides", overrides == nullptr ? "null" : "<" + overrides->document + ">"},
          {"last_status", TextOf(last_status)},
          {"desired_status", TextOf(desired_status)},
          {"stop_code", TextOf(stop_code)},
          {"stopped_reason", stopped_reason},
          {"version", TextOf(version)},
          {"launch_type", TextOf(launch_type)},
          {"group", group},
          {"started_by", started_by},
          {"enable_execute_command", TextOf(enable_execute_command)},
          {"client_token", client_token},
          {"network_configuration", network_configuration},
          {"reference_id", reference_id},
          {"tags", TextOf(tags)},
          {"availability_zone", availability_zone},
          {"cpu_architecture", cpu_architecture},
          {"protected_until", TextOf(protected_until)},
          {"connectivity", TextOf(connectivity)},
          {"created_at", TextOf(created_at)},
          {"connectivity_at", TextOf(connectivity_at)},
          {"pull_started_at", TextOf(pull_started_at)},
          {"pull_stopped_at", TextOf(pull_stopped_at)},
          {"started_at", TextOf(started_at)},
          {"stopping_at", TextOf(stopping_at)},
          {"execution_stopped_at", TextOf(execution_stopped_at)},
          {"stopped_at", TextOf(stopped_at)},
          {"containers", TextOf(containers)}};
}

Members MembersOf(const model::ClientToken& token) {
  const auto& [cluster, text, fingerprint, tasks, created_at] = token;
  return {{"cluster", TextOf(cluster)},
          {"token", text},
          {"fingerprint", fingerprint},
          {"tasks", TextOf(tasks)},
          {"created_at", TextOf(created_at)}};
}

Members MembersOf(const model::AccountSetting& setting) {
  const auto& [principal_arn, name, value] = setting;
  return {{"principal_arn", principal_arn}, {"name", name}, {"value", value}};
}

Members MembersOf(const model::AccessKey& key) {
  const auto& [id, sequence, user, role, policy, sealed_secret, created_at, revoked_at] = key;
  return {{"id", id},
          {"sequence", TextOf(sequence)},
          {"user", user},
          {"role", TextOf(role)},
          {"policy", policy},
          {"sealed_secret", sealed_secret},
          {"created_at", TextOf(created_at)},
          {"revoked_at", TextOf(revoked_at)}};
}

Cluster FullCluster(int64_t sequence) {
  return {.name = {.value = absl::StrFormat("cluster-%d", sequence)},
          .sequence = sequence,
          .status = model::ClusterStatus::kInactive,
          .document = R"({"settings": [{"name":"containerInsights","value":"enabled"}]})",
          .tags = {{.key = "team", .value = kAwkward}, {.key = "empty", .value = ""}},
          .created_at = At(1),
          .deleted_at = At(30)};
}

model::Family FullFamily(int64_t number) {
  return {.name = absl::StrFormat("family-%d", number), .last_revision = 100 + number};
}

TaskDefinition FullDefinition(int64_t sequence) {
  return {.id = {.family = "train", .revision = sequence},
          .sequence = sequence,
          .status = model::DefinitionStatus::kDeleteInProgress,
          .registered_at = At(2),
          .deregistered_at = At(3),
          .delete_requested_at = At(31),
          .registered_by = "arn:aws:iam::000000000000:user/" + kAwkward,
          .tags = {{.key = "model", .value = "llm"}},
          // Not as RapidJSON would print it: the document comes back to the letter.
          .document = std::make_shared<const std::string>(
              R"({ "memory" : "2.50 GB", "pi":3.10, "e": 1E+2, "text":"é" })")};
}

ContainerInstance FullInstance(int64_t sequence) {
  return {
      .id = {.value = Hex32(1000 + sequence)},
      .sequence = sequence,
      .cluster = {.value = "default"},
      .ec2_instance_id = "i-0abc",
      .status = model::InstanceStatus::kDraining,
      .status_reason = kAwkward,
      .version = 7,
      .resources = {.cpu_units = 65536,
                    .memory_mib = 262144,
                    .reserved_tcp_ports = {22, 2375},
                    .reserved_udp_ports = {53},
                    .gpus = {{.id = {.value = "GPU-1"}, .memory_mib = 22587},
                             {.id = {.value = "GPU-2"}, .memory_mib = 0}},
                    .mps_clients_max = 60},
      .attributes = {{.name = "empty", .value = ""},
                     {.name = "none", .value = std::nullopt},
                     {.name = "rack", .value = kAwkward}},
      .version_info = {.agent_version = "0.1.0", .agent_hash = "abc", .docker_version = "20.10"},
      .tags = {{.key = "rack", .value = "7"}},
      .registration_token = "token",
      .registered_by = "AKIAAGENT",
      .emulated = true,
      .registered_at = At(4),
      .deregistered_at = At(5)};
}

Task FullTask(int64_t sequence, std::shared_ptr<const TaskDefinition> definition) {
  return {.id = {.value = Hex32(sequence)},
          .sequence = sequence,
          .cluster = {.value = "default"},
          .instance = {.value = Hex32(1001)},
          .definition = std::move(definition),
          .overrides = std::make_shared<const model::TaskOverrides>(
              model::TaskOverrides{.document = R"({"cpu":"256", "containerOverrides":[]})"}),
          .last_status = model::TaskStatus::kStopped,
          .desired_status = model::DesiredStatus::kStopped,
          .stop_code = model::StopCode::kInfrastructureHealth,
          .stopped_reason = kAwkward,
          .version = 9,
          .launch_type = model::LaunchType::kManagedInstances,
          .group = "family:train",
          .started_by = "someone",
          .enable_execute_command = true,
          .client_token = "4f7c",
          .network_configuration = R"({"awsvpcConfiguration":{"subnets":["a"]}})",
          .reference_id = "reference",
          .tags = {{.key = "k", .value = "v"}},
          .availability_zone = "local-1a",
          .cpu_architecture = "x86_64",
          .protected_until = At(32),
          .connectivity = true,
          .created_at = At(10),
          .connectivity_at = At(11),
          .pull_started_at = At(12),
          .pull_stopped_at = At(13),
          .started_at = At(14),
          .stopping_at = At(15),
          .execution_stopped_at = At(16),
          .stopped_at = At(17),
          .containers = {{.name = "main",
                          .uuid = "0000-1",
                          .last_status = model::ContainerStatus::kStopped,
                          .health_status = model::HealthStatus::kUnhealthy,
                          .exit_code = 137,
                          .reason = kAwkward,
                          .runtime_id = "docker-1",
                          .image_digest = "sha256:1",
                          .network_bindings = {{.bind_ip = "0.0.0.0",
                                                .container_port = 80,
                                                .host_port = 32768,
                                                .protocol = model::Protocol::kTcp},
                                               {.bind_ip = "::",
                                                .container_port = 53,
                                                .host_port = 53,
                                                .protocol = model::Protocol::kUdp}},
                          .gpu_ids = {{.value = "GPU-1"}, {.value = "GPU-2"}}},
                         // Exit code 0 is not "absent".
                         {.name = "side", .exit_code = 0, .gpu_ids = {{.value = "GPU-1"}}},
                         {}}};
}

model::ClientToken FullClientToken(int64_t number) {
  return {.cluster = {.value = "default"},
          .token = absl::StrFormat("token-%d", number),
          .fingerprint = kAwkward,
          .tasks = {{.value = Hex32(1)}, {.value = Hex32(2)}},
          .created_at = At(20)};
}

model::AccountSetting FullAccountSetting(int64_t number) {
  return {.principal_arn = "arn:aws:iam::000000000000:user/" + kAwkward,
          .name = absl::StrFormat("setting-%d", number),
          .value = "enabled"};
}

model::AccessKey FullAccessKey(int64_t sequence) {
  return {.id = absl::StrFormat("AKIA%016d", sequence),
          .sequence = sequence,
          .user = kAwkward,
          .role = model::KeyRole::kAgent,
          .policy = R"({ "Statement": [] })",
          .sealed_secret = "sealed secret",
          .created_at = At(33),
          .revoked_at = At(34)};
}

Task PlainTask(int64_t sequence, std::shared_ptr<const TaskDefinition> definition) {
  Task task = {.id = {.value = Hex32(sequence)},
               .sequence = sequence,
               .cluster = {.value = "default"},
               .instance = {.value = Hex32(1001)},
               .definition = std::move(definition),
               .last_status = model::TaskStatus::kRunning,
               .group = "family:train",
               .connectivity = true,
               .created_at = At(0),
               .connectivity_at = At(1),
               .started_at = At(2)};
  task.containers = {{.name = "main",
                      .uuid = "00000000-0000-0000-0000-000000000001",
                      .last_status = model::ContainerStatus::kRunning,
                      .runtime_id = std::string(64, 'd'),
                      .image_digest = "sha256:" + std::string(64, '0'),
                      .gpu_ids = {{.value = "GPU-00000000-0000-0000-0000-000000000001"}}}};
  return task;
}

std::vector<std::string> Describe(const model::Records& records) {
  std::vector<std::string> lines;
  const auto add = [&](const char* kind, const Members& members) {
    std::string line = kind;
    for (const auto& [name, value] : members) line += " " + name + ": " + value + ";";
    lines.push_back(std::move(line));
  };
  for (const auto& record : records.clusters) add("cluster", MembersOf(*record));
  for (const auto& record : records.families) add("family", MembersOf(record));
  for (const auto& record : records.definitions) add("definition", MembersOf(*record));
  for (const auto& record : records.instances) add("instance", MembersOf(*record));
  for (const auto& record : records.tasks) add("task", MembersOf(*record));
  for (const auto& record : records.client_tokens) add("client token", MembersOf(record));
  for (const auto& record : records.account_settings) add("account setting", MembersOf(record));
  for (const auto& record : records.access_keys) add("access key", MembersOf(*record));
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace berth::storage::testing
