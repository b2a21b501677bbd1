#include "api/docker_config.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "api/json_find.h"
#include "api/json_writer.h"

namespace berth::api {
namespace {

using rapidjson::Value;

constexpr int64_t kMib = 1024 * 1024;
constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;
// ECS's defaults for a health check; Docker's own differ (its time-out is 30 s).
constexpr int64_t kHealthIntervalSeconds = 30;
constexpr int64_t kHealthTimeoutSeconds = 5;
constexpr int64_t kHealthRetries = 3;

// An object that is only there when something is in it.
class LazyObject {
 public:
  JsonWriter& Open() {
    if (!open_) json_.BeginObject();
    open_ = true;
    return json_;
  }
  std::string Close() {
    if (!open_) return {};
    json_.EndObject();
    return json_.Take();
  }

 private:
  JsonWriter json_;
  bool open_ = false;
};

void WriteStrings(LazyObject& out, const char* name, const std::vector<std::string>& strings) {
  if (strings.empty()) return;
  JsonWriter& json = out.Open();
  json.BeginArray(name);
  for (const std::string& text : strings) json.String(text);
  json.EndArray();
}

void CopyStrings(LazyObject& out, const char* name, const Value* list) {
  if (list == nullptr) return;
  JsonWriter& json = out.Open();
  json.BeginArray(name);
  for (const Value& text : list->GetArray()) json.String(TextOf(text));
  json.EndArray();
}

void WriteHealthCheck(LazyObject& out, const model::HealthCheck& check) {
  JsonWriter& json = out.Open();
  json.BeginObject("Healthcheck");
  json.BeginArray("Test");
  for (const std::string& word : check.command) json.String(word);
  json.EndArray();
  json.Int("Interval",
           check.interval_seconds.value_or(kHealthIntervalSeconds) * kNanosecondsPerSecond);
  json.Int("Timeout",
           check.timeout_seconds.value_or(kHealthTimeoutSeconds) * kNanosecondsPerSecond);
  json.Int("Retries", check.retries.value_or(kHealthRetries));
  if (check.start_period_seconds) {
    json.Int("StartPeriod", *check.start_period_seconds * kNanosecondsPerSecond);
  }
  json.EndObject();
}

const char* DockerNetwork(model::NetworkMode mode) {
  switch (mode) {
    case model::NetworkMode::kHost:
      return "host";
    case model::NetworkMode::kNone:
      return "none";
    case model::NetworkMode::kBridge:
      return "bridge";
    case model::NetworkMode::kAwsvpc:
      return "";  // the agent makes the task's network
  }
  return "";
}

void WriteLog(LazyObject& out, const model::LogConfiguration& log) {
  JsonWriter& json = out.Open();
  json.BeginObject("LogConfig");
  json.String("Type", log.driver);
  json.BeginObject("Config");
  for (const auto& [key, value] : log.options) json.String(key, value);
  json.EndObject();
  json.EndObject();
}

std::string DevicePermissions(const Value* permissions) {
  if (permissions == nullptr) return "rwm";
  std::string letters;
  for (const Value& each : permissions->GetArray()) {
    const std::string_view word = TextOf(each);
    letters += word == "read" ? "r" : word == "write" ? "w" : "m";
  }
  return letters;
}

void WriteDevices(LazyObject& out, const Value& devices) {
  JsonWriter& json = out.Open();
  json.BeginArray("Devices");
  for (const Value& device : devices.GetArray()) {
    const std::string_view on_host = FindText(&device, "hostPath").value_or("");
    json.BeginObject();
    json.String("PathOnHost", on_host);
    json.String("PathInContainer", FindText(&device, "containerPath").value_or(on_host));
    json.String("CgroupPermissions", DevicePermissions(FindList(&device, "permissions")));
    json.EndObject();
  }
  json.EndArray();
}

void WriteTmpfs(LazyObject& out, const Value& mounts) {
  JsonWriter& json = out.Open();
  json.BeginObject("Tmpfs");
  for (const Value& mount : mounts.GetArray()) {
    std::string options = absl::StrFormat("size=%dm", FindInt(&mount, "size").value_or(0));
    if (const Value* extra = FindList(&mount, "mountOptions")) {
      for (const Value& option : extra->GetArray()) {
        absl::StrAppendFormat(&options, ",%s", TextOf(option));
      }
    }
    json.String(FindText(&mount, "containerPath").value_or(""), options);
  }
  json.EndObject();
}

void WriteLinuxParameters(LazyObject& out, const model::ContainerDefinition& container,
                          const Value& linux_parameters) {
  const Value* capabilities = FindObject(&linux_parameters, "capabilities");
  CopyStrings(out, "CapAdd", FindList(capabilities, "add"));
  CopyStrings(out, "CapDrop", FindList(capabilities, "drop"));
  if (const Value* devices = FindList(&linux_parameters, "devices")) WriteDevices(out, *devices);
  if (const Value* mounts = FindList(&linux_parameters, "tmpfs")) WriteTmpfs(out, *mounts);
  if (IsTrue(&linux_parameters, "initProcessEnabled")) out.Open().Bool("Init", true);
  if (const auto mib = FindInt(&linux_parameters, "sharedMemorySize"); mib && *mib > 0) {
    out.Open().Int("ShmSize", *mib * kMib);
  }
  // ECS counts swap alone, Docker memory and swap together. Without maxSwap, swappiness is ignored.
  if (container.max_swap_mib && container.memory_mib) {
    out.Open().Int("MemorySwap", (*container.memory_mib + *container.max_swap_mib) * kMib);
    if (container.swappiness) out.Open().Int("MemorySwappiness", *container.swappiness);
  }
}

void WriteUlimits(LazyObject& out, const std::vector<model::Ulimit>& ulimits) {
  if (ulimits.empty()) return;
  JsonWriter& json = out.Open();
  json.BeginArray("Ulimits");
  for (const model::Ulimit& ulimit : ulimits) {
    json.BeginObject();
    json.String("Name", ulimit.name);
    json.Int("Soft", ulimit.soft);
    json.Int("Hard", ulimit.hard);
    json.EndObject();
  }
  json.EndArray();
}

void WriteExtraHosts(LazyObject& out, const Value& hosts) {
  JsonWriter& json = out.Open();
  json.BeginArray("ExtraHosts");
  for (const Value& host : hosts.GetArray()) {
    json.String(absl::StrFormat("%s:%s", FindText(&host, "hostname").value_or(""),
                                FindText(&host, "ipAddress").value_or("")));
  }
  json.EndArray();
}

void WriteSysctls(LazyObject& out, const Value& controls) {
  JsonWriter& json = out.Open();
  json.BeginObject("Sysctls");
  for (const Value& control : controls.GetArray()) {
    json.String(FindText(&control, "namespace").value_or(""),
                FindText(&control, "value").value_or(""));
  }
  json.EndObject();
}

}  // namespace

std::string EncodeDockerConfig(const model::ContainerDefinition& container,
                               const Value* registered) {
  LazyObject out;
  if (!container.user.empty()) out.Open().String("User", container.user);
  if (!container.hostname.empty()) out.Open().String("Hostname", container.hostname);
  if (const auto directory = FindText(registered, "workingDirectory");
      directory && !directory->empty()) {
    out.Open().String("WorkingDir", *directory);
  }
  if (IsTrue(registered, "pseudoTerminal")) out.Open().Bool("Tty", true);
  if (IsTrue(registered, "interactive")) out.Open().Bool("OpenStdin", true);
  if (const Value* labels = FindObject(registered, "dockerLabels")) {
    JsonWriter& json = out.Open();
    json.BeginObject("Labels");
    for (const auto& label : labels->GetObject())
      json.String(TextOf(label.name), TextOf(label.value));
    json.EndObject();
  }
  if (container.health_check) WriteHealthCheck(out, *container.health_check);
  return out.Close();
}

std::string EncodeDockerHostConfig(const model::ContainerDefinition& container,
                                   model::NetworkMode network_mode, const Value* registered) {
  LazyObject out;
  const char* network = container.disable_networking ? "none" : DockerNetwork(network_mode);
  if (*network != '\0') out.Open().String("NetworkMode", network);
  if (container.memory_reservation_mib) {
    out.Open().Int("MemoryReservation", *container.memory_reservation_mib * kMib);
  }
  if (container.log_configuration) WriteLog(out, *container.log_configuration);
  if (container.privileged) out.Open().Bool("Privileged", true);
  if (IsTrue(registered, "readonlyRootFilesystem")) out.Open().Bool("ReadonlyRootfs", true);
  WriteUlimits(out, container.ulimits);
  WriteStrings(out, "Dns", container.dns_servers);
  WriteStrings(out, "DnsSearch", container.dns_search_domains);
  WriteStrings(out, "SecurityOpt", container.docker_security_options);
  if (const Value* hosts = FindList(registered, "extraHosts")) WriteExtraHosts(out, *hosts);
  if (const Value* controls = FindList(registered, "systemControls")) WriteSysctls(out, *controls);
  if (const Value* linux_parameters = FindObject(registered, "linuxParameters")) {
    WriteLinuxParameters(out, container, *linux_parameters);
  }
  return out.Close();
}

}  // namespace berth::api
