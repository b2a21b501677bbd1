#include "agent/docker/docker_client.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "agent/json.h"

namespace berth::agent {

namespace {

// Docker answers these from memory unless it is in trouble.
constexpr absl::Duration kQuickCall = absl::Seconds(30);
// The official agent's limits for these two.
constexpr absl::Duration kCreateCall = absl::Minutes(4);
constexpr absl::Duration kStartCall = absl::Minutes(4);
constexpr absl::Duration kRemoveCall = absl::Minutes(1);
constexpr absl::Duration kNetworkCall = absl::Minutes(1);
constexpr absl::Duration kVolumeCall = absl::Minutes(1);
// What Docker may need beyond the grace to kill a container and clear up behind it.
constexpr absl::Duration kStopMargin = absl::Minutes(1);
// A pull's progress line is short; more than this without a line end is not Docker's protocol.
constexpr size_t kProgressLineMax = 1024 * 1024;

// API versions that this client was written for. 1.41 is Debian 12's Docker 20.10.
constexpr int kApiMinorMin = 24;
constexpr int kApiMinorMax = 41;

std::string PercentEncode(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.' ||
        c == '~') {
      encoded.push_back(c);
    } else {
      absl::StrAppendFormat(&encoded, "%%%02X", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

std::string OutOfMemoryFilter(const std::string& id) {
  json::Builder filter;
  filter.Object().Key("type").Array().String("container").EndArray();
  filter.Key("event").Array().String("oom").EndArray();
  filter.Key("container").Array().String(id).EndArray().EndObject();
  return PercentEncode(filter.Text());
}

// Seconds and nanoseconds, as `since` and `until` want them.
std::string UnixTime(absl::Time time) {
  const int64_t nanos = absl::ToUnixNanos(time);
  return absl::StrFormat("%d.%09d", nanos / 1'000'000'000, nanos % 1'000'000'000);
}

std::string LabelFilter(const std::vector<std::string>& labels) {
  json::Builder filter;
  filter.Object().Key("label").Array();
  for (const std::string& label : labels) filter.String(label);
  filter.EndArray().EndObject();
  return PercentEncode(filter.Text());
}

// Docker's own message, without the line end some of them carry.
std::string MessageOf(const HttpResponse& response) {
  json::Document document;
  std::string message;
  if (json::Parse(response.body, document)) message = json::StringOr(document, "message");
  if (message.empty())
    message = absl::StrFormat("Docker answered with HTTP status %d", response.status);
  while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) message.pop_back();
  return message;
}

absl::Status ErrorOf(const HttpResponse& response) {
  switch (response.status) {
    case 404:
      return absl::NotFoundError(MessageOf(response));
    case 409:
      return absl::AlreadyExistsError(MessageOf(response));
    default:
      return absl::UnknownError(MessageOf(response));
  }
}

absl::Time TimeOf(const json::Value& object, const char* name) {
  absl::Time time;
  std::string error;
  const std::string text = json::StringOr(object, name);
  // "0001-01-01T00:00:00Z" is Docker's "never".
  if (text.empty() || text.starts_with("0001-")) return absl::InfinitePast();
  return absl::ParseTime(absl::RFC3339_full, text, &time, &error) ? time : absl::InfinitePast();
}

std::map<std::string, std::string> MapOf(const json::Value& object, const char* name) {
  std::map<std::string, std::string> map;
  const json::Value* found = json::Find(object, name);
  if (found == nullptr || !found->IsObject()) return map;
  for (const auto& entry : found->GetObject()) {
    if (entry.value.IsString()) map[entry.name.GetString()] = entry.value.GetString();
  }
  return map;
}

std::map<std::string, std::string> LabelsOf(const json::Value& object) {
  return MapOf(object, "Labels");
}

DockerVolume VolumeOf(const json::Value& object) {
  return {.name = json::StringOr(object, "Name"),
          .driver = json::StringOr(object, "Driver"),
          .labels = LabelsOf(object),
          .options = MapOf(object, "Options")};
}

void WriteMap(json::Builder& out, std::string_view name,
              const std::map<std::string, std::string>& map) {
  out.Key(name).Object();
  for (const auto& [key, value] : map) out.Member(key, value);
  out.EndObject();
}

std::vector<std::string> StringsOf(const json::Value& object, const char* name) {
  std::vector<std::string> strings;
  if (const json::Value* array = json::FindArray(object, name)) {
    for (const json::Value& entry : array->GetArray()) {
      if (entry.IsString()) strings.emplace_back(entry.GetString());
    }
  }
  return strings;
}

// {"80/tcp": [{"HostIp": "0.0.0.0", "HostPort": "32768"}]}. IPv6 wildcards are left out, as the
// official agent does by default.
std::vector<model::NetworkBinding> BindingsOf(const json::Value& ports) {
  std::vector<model::NetworkBinding> bindings;
  if (!ports.IsObject()) return bindings;
  for (const auto& port : ports.GetObject()) {
    if (!port.value.IsArray()) continue;
    const std::string key = port.name.GetString();
    const size_t slash = key.find('/');
    if (slash == std::string::npos) continue;
    for (const json::Value& entry : port.value.GetArray()) {
      model::NetworkBinding binding;
      binding.bind_ip = json::StringOr(entry, "HostIp");
      binding.protocol =
          key.substr(slash + 1) == "udp" ? model::Protocol::kUdp : model::Protocol::kTcp;
      const bool numbers = absl::SimpleAtoi(key.substr(0, slash), &binding.container_port) &&
                           absl::SimpleAtoi(json::StringOr(entry, "HostPort"), &binding.host_port);
      if (!numbers || binding.bind_ip.find(':') != std::string::npos) continue;
      bindings.push_back(std::move(binding));
    }
  }
  std::sort(bindings.begin(), bindings.end(),
            [](const model::NetworkBinding& a, const model::NetworkBinding& b) {
              return std::pair(a.container_port, a.host_port) <
                     std::pair(b.container_port, b.host_port);
            });
  return bindings;
}

DockerState StateOf(const std::string& status) {
  if (status == "running" || status == "paused" || status == "restarting") {
    return DockerState::kRunning;
  }
  if (status == "created") return DockerState::kCreated;
  return DockerState::kExited;  // exited, dead, removing
}

std::optional<model::HealthStatus> HealthOf(const json::Value& state) {
  const json::Value* health = json::Find(state, "Health");
  if (health == nullptr) return std::nullopt;
  const std::string status = json::StringOr(*health, "Status");
  if (status == "healthy") return model::HealthStatus::kHealthy;
  if (status == "unhealthy") return model::HealthStatus::kUnhealthy;
  if (status == "starting") return model::HealthStatus::kUnknown;
  return std::nullopt;  // "none"
}

// Reads a pull's stream of JSON lines for the error that ends a failed one: Docker has already
// answered 200 by then.
class PullProgress {
 public:
  void Take(std::string_view piece) {
    for (const char c : piece) {
      if (c != '\n') {
        if (line_.size() < kProgressLineMax) line_.push_back(c);
        continue;
      }
      Finish();
    }
  }
  void Finish() {
    json::Document document;
    if (!line_.empty() && json::Parse(line_, document)) {
      if (std::optional<std::string> error = json::FindString(document, "error")) {
        error_ = *std::move(error);
      }
    }
    line_.clear();
  }
  const std::string& error() const { return error_; }

 private:
  std::string line_ = {};
  std::string error_ = {};
};

}  // namespace

std::pair<std::string, std::string> SplitImageName(std::string_view image) {
  const size_t at = image.find('@');
  if (at != std::string_view::npos) {
    return {std::string(image.substr(0, at)), std::string(image.substr(at + 1))};
  }
  const size_t colon = image.rfind(':');
  const size_t slash = image.rfind('/');
  // The colon of a registry's port stands before a slash.
  if (colon == std::string_view::npos || (slash != std::string_view::npos && colon < slash)) {
    return {std::string(image), "latest"};
  }
  return {std::string(image.substr(0, colon)), std::string(image.substr(colon + 1))};
}

DockerClient::DockerClient(std::string socket_path)
    : http_(HttpAddress{.socket_path = std::move(socket_path)}) {}

net::awaitable<absl::StatusOr<HttpResponse>> DockerClient::Call(std::string method,
                                                                std::string target,
                                                                std::string body,
                                                                absl::Duration deadline) {
  HttpRequest request;
  request.method = std::move(method);
  request.target = prefix_ + target;
  if (!body.empty()) request.headers.emplace_back("Content-Type", "application/json");
  request.body = std::move(body);
  ExchangeLimits limits;
  limits.total = deadline;
  co_return co_await http_.Exchange(std::move(request), std::move(limits));
}

net::awaitable<absl::StatusOr<DockerInfo>> DockerClient::Negotiate() {
  HttpRequest ask;
  ask.target = "/version";
  ExchangeLimits limits;
  limits.total = kQuickCall;
  absl::StatusOr<HttpResponse> response =
      co_await http_.Exchange(std::move(ask), std::move(limits));
  if (!response.ok()) co_return response.status();
  if (response->status != 200) co_return ErrorOf(*response);
  json::Document version;
  if (!json::Parse(response->body, version)) {
    co_return absl::UnknownError("Docker's answer to /version is not JSON");
  }
  DockerInfo info;
  info.server_version = json::StringOr(version, "Version");
  const std::string newest = json::StringOr(version, "ApiVersion");
  int64_t minor = 0;
  if (!newest.starts_with("1.") || !absl::SimpleAtoi(newest.substr(2), &minor) ||
      minor < kApiMinorMin) {
    co_return absl::FailedPreconditionError(
        absl::StrFormat("Docker %s speaks API version \"%s\"; 1.%d or newer is needed",
                        info.server_version, newest, kApiMinorMin));
  }
  const std::string oldest = json::StringOr(version, "MinAPIVersion", "1.12");
  int64_t minor_min = 0;
  if (oldest.starts_with("1.") && absl::SimpleAtoi(oldest.substr(2), &minor_min)) {
    minor = std::max<int64_t>(std::min<int64_t>(minor, kApiMinorMax), minor_min);
  }
  info.api_version = absl::StrCat("1.", minor);
  prefix_ = "/v" + info.api_version;

  response = co_await Call("GET", "/info", "", kQuickCall);
  if (!response.ok()) co_return response.status();
  json::Document document;
  if (response->status != 200 || !json::Parse(response->body, document))
    co_return ErrorOf(*response);
  info.id = json::StringOr(document, "ID");
  info.cgroup_driver = json::StringOr(document, "CgroupDriver");
  info.architecture = json::StringOr(document, "Architecture");
  info.cpus = json::FindInt(document, "NCPU").value_or(0);
  info.memory_bytes = json::FindInt(document, "MemTotal").value_or(0);
  if (const json::Value* plugins = json::Find(document, "Plugins")) {
    info.log_drivers = StringsOf(*plugins, "Log");
    info.volume_drivers = StringsOf(*plugins, "Volume");
  }
  const json::Value* devices = json::Find(document, "DiscoveredDevices");
  if (devices != nullptr && devices->IsArray()) {
    for (const json::Value& device : devices->GetArray()) {
      const bool is_cdi = json::StringOr(device, "Source") == "cdi";
      if (is_cdi) info.cdi_devices.push_back(json::StringOr(device, "ID"));
    }
  }
  response = co_await Call("GET", "/networks/bridge", "", kQuickCall);
  if (!response.ok()) co_return response.status();
  info.has_bridge = response->status == 200;
  co_return info;
}

net::awaitable<absl::Status> DockerClient::Ping() {
  absl::StatusOr<HttpResponse> response = co_await Call("GET", "/_ping", "", kQuickCall);
  if (!response.ok()) co_return response.status();
  co_return response->status == 200 ? absl::OkStatus() : ErrorOf(*response);
}

net::awaitable<absl::StatusOr<DockerImage>> DockerClient::InspectImage(std::string image) {
  absl::StatusOr<HttpResponse> response =
      co_await Call("GET", absl::StrCat("/images/", image, "/json"), "", kQuickCall);
  if (!response.ok()) co_return response.status();
  json::Document document;
  if (response->status != 200 || !json::Parse(response->body, document))
    co_return ErrorOf(*response);
  DockerImage found;
  found.id = json::StringOr(document, "Id");
  found.repo_digests = StringsOf(document, "RepoDigests");
  co_return found;
}

net::awaitable<absl::Status> DockerClient::PullImage(std::string image, absl::Duration idle,
                                                     absl::Duration total) {
  const auto [repository, tag] = SplitImageName(image);
  HttpRequest request;
  request.method = "POST";
  request.target = absl::StrCat(prefix_, "/images/create?fromImage=", PercentEncode(repository),
                                "&tag=", PercentEncode(tag));
  auto progress = std::make_shared<PullProgress>();
  ExchangeLimits limits;
  limits.total = total;
  limits.idle = idle;
  limits.on_body = [progress](std::string_view piece) { progress->Take(piece); };
  absl::StatusOr<HttpResponse> response =
      co_await http_.Exchange(std::move(request), std::move(limits));
  if (!response.ok()) co_return response.status();
  if (response->status != 200) co_return ErrorOf(*response);
  progress->Finish();
  if (!progress->error().empty()) co_return absl::UnknownError(progress->error());
  co_return absl::OkStatus();
}

net::awaitable<absl::Status> DockerClient::ImportImage(std::string tar, std::string repository,
                                                       std::string tag) {
  HttpRequest request;
  request.method = "POST";
  request.target =
      absl::StrCat(prefix_, "/images/create?fromSrc=-&repo=", PercentEncode(repository),
                   "&tag=", PercentEncode(tag));
  request.headers.emplace_back("Content-Type", "application/x-tar");
  request.body = std::move(tar);
  auto progress = std::make_shared<PullProgress>();
  ExchangeLimits limits;
  limits.total = kCreateCall;
  limits.on_body = [progress](std::string_view piece) { progress->Take(piece); };
  absl::StatusOr<HttpResponse> response =
      co_await http_.Exchange(std::move(request), std::move(limits));
  if (!response.ok()) co_return response.status();
  if (response->status != 200) co_return ErrorOf(*response);
  progress->Finish();
  if (!progress->error().empty()) co_return absl::UnknownError(progress->error());
  co_return absl::OkStatus();
}

net::awaitable<absl::StatusOr<std::string>> DockerClient::CreateContainer(std::string name,
                                                                          std::string body) {
  absl::StatusOr<HttpResponse> response =
      co_await Call("POST", absl::StrCat("/containers/create?name=", PercentEncode(name)),
                    std::move(body), kCreateCall);
  if (!response.ok()) co_return response.status();
  json::Document document;
  if (response->status != 201 || !json::Parse(response->body, document)) {
    co_return ErrorOf(*response);
  }
  co_return json::StringOr(document, "Id");
}

net::awaitable<absl::Status> DockerClient::StartContainer(std::string id) {
  absl::StatusOr<HttpResponse> response =
      co_await Call("POST", absl::StrCat("/containers/", id, "/start"), "", kStartCall);
  if (!response.ok()) co_return response.status();
  // 304: it runs already.
  if (response->status == 204 || response->status == 304) co_return absl::OkStatus();
  co_return ErrorOf(*response);
}

net::awaitable<absl::Status> DockerClient::StopContainer(std::string id, absl::Duration grace) {
  const int64_t seconds = absl::ToInt64Seconds(grace);
  absl::StatusOr<HttpResponse> response = co_await Call(
      "POST", absl::StrCat("/containers/", id, "/stop?t=", seconds), "", grace + kStopMargin);
  if (!response.ok()) co_return response.status();
  // 304: it had ended; 404: it is gone.
  const int status = response->status;
  if (status == 204 || status == 304 || status == 404) co_return absl::OkStatus();
  co_return ErrorOf(*response);
}

net::awaitable<absl::Status> DockerClient::KillContainer(std::string id) {
  absl::StatusOr<HttpResponse> response =
      co_await Call("POST", absl::StrCat("/containers/", id, "/kill"), "", kStopMargin);
  if (!response.ok()) co_return response.status();
  // 409: it does not run.
  const int status = response->status;
  if (status == 204 || status == 404 || status == 409) co_return absl::OkStatus();
  co_return ErrorOf(*response);
}

net::awaitable<absl::Status> DockerClient::WaitContainer(std::string id, absl::Duration patience) {
  absl::StatusOr<HttpResponse> response = co_await Call(
      "POST", absl::StrCat("/containers/", id, "/wait?condition=not-running"), "", patience);
  if (absl::IsDeadlineExceeded(response.status())) co_return absl::OkStatus();
  if (!response.ok()) co_return response.status();
  co_return response->status == 200 ? absl::OkStatus() : ErrorOf(*response);
}

net::awaitable<absl::StatusOr<DockerContainer>> DockerClient::InspectContainer(std::string id) {
  absl::StatusOr<HttpResponse> response =
      co_await Call("GET", absl::StrCat("/containers/", id, "/json"), "", kQuickCall);
  if (!response.ok()) co_return response.status();
  json::Document document;
  if (response->status != 200 || !json::Parse(response->body, document))
    co_return ErrorOf(*response);
  const json::Value* state = json::Find(document, "State");
  if (state == nullptr) co_return absl::UnknownError("Docker's answer has no State");
  DockerContainer container;
  container.id = json::StringOr(document, "Id");
  container.name = std::string(absl::StripPrefix(json::StringOr(document, "Name"), "/"));
  container.state = StateOf(json::StringOr(*state, "Status"));
  container.exit_code = json::FindInt(*state, "ExitCode").value_or(0);
  container.oom_killed = json::FindBool(*state, "OOMKilled").value_or(false);
  container.error = json::StringOr(*state, "Error");
  container.started_at = TimeOf(*state, "StartedAt");
  container.finished_at = TimeOf(*state, "FinishedAt");
  container.health = HealthOf(*state);
  if (const json::Value* config = json::Find(document, "Config")) {
    container.labels = LabelsOf(*config);
  }
  if (const json::Value* network = json::Find(document, "NetworkSettings")) {
    if (const json::Value* ports = json::Find(*network, "Ports")) {
      container.bindings = BindingsOf(*ports);
    }
  }
  co_return container;
}

net::awaitable<absl::StatusOr<bool>> DockerClient::SawOutOfMemory(std::string id, absl::Time since,
                                                                  absl::Duration patience) {
  // Docker goes on with its answer until `until` has passed.
  const std::string target =
      absl::StrCat("/events?since=", UnixTime(since), "&until=", UnixTime(absl::Now() + patience),
                   "&filters=", OutOfMemoryFilter(id));
  absl::StatusOr<HttpResponse> response = co_await Call("GET", target, "", kQuickCall + patience);
  if (!response.ok()) co_return response.status();
  if (response->status != 200) co_return ErrorOf(*response);
  co_return response->body.find('{') != std::string::npos;
}

net::awaitable<absl::StatusOr<std::vector<std::string>>> DockerClient::ListContainers(
    std::vector<std::string> labels) {
  absl::StatusOr<HttpResponse> response = co_await Call(
      "GET", absl::StrCat("/containers/json?all=1&filters=", LabelFilter(labels)), "", kQuickCall);
  if (!response.ok()) co_return response.status();
  json::Document document;
  if (response->status != 200 || !json::Parse(response->body, document) || !document.IsArray()) {
    co_return ErrorOf(*response);
  }
  std::vector<std::string> ids;
  for (const json::Value& entry : document.GetArray()) ids.push_back(json::StringOr(entry, "Id"));
  co_return ids;
}

net::awaitable<absl::Status> DockerClient::RemoveContainer(std::string id) {
  absl::StatusOr<HttpResponse> response =
      co_await Call("DELETE", absl::StrCat("/containers/", id, "?force=1&v=1"), "", kRemoveCall);
  if (!response.ok()) co_return response.status();
  // 404: gone; 409: another call is removing it.
  const int status = response->status;
  if (status == 204 || status == 404 || status == 409) co_return absl::OkStatus();
  co_return ErrorOf(*response);
}

net::awaitable<absl::StatusOr<std::string>> DockerClient::CreateNetwork(
    std::string name, std::string subnet, std::map<std::string, std::string> labels) {
  json::Builder body;
  body.Object().Member("Name", name).Member("Driver", "bridge").Member("CheckDuplicate", true);
  body.Key("IPAM").Object().Member("Driver", "default").Key("Config").Array().Object();
  body.Member("Subnet", subnet).EndObject().EndArray().EndObject();
  WriteMap(body, "Labels", labels);
  body.EndObject();
  absl::StatusOr<HttpResponse> response =
      co_await Call("POST", "/networks/create", body.Text(), kNetworkCall);
  if (!response.ok()) co_return response.status();
  json::Document document;
  if (response->status != 201 || !json::Parse(response->body, document)) {
    co_return ErrorOf(*response);
  }
  co_return json::StringOr(document, "Id");
}

net::awaitable<absl::StatusOr<std::vector<DockerNetwork>>> DockerClient::ListNetworks(
    std::vector<std::string> labels) {
  std::string target = "/networks";
  if (!labels.empty()) absl::StrAppend(&target, "?filters=", LabelFilter(labels));
  absl::StatusOr<HttpResponse> response = co_await Call("GET", std::move(target), "", kNetworkCall);
  if (!response.ok()) co_return response.status();
  json::Document document;
  if (response->status != 200 || !json::Parse(response->body, document) || !document.IsArray()) {
    co_return ErrorOf(*response);
  }
  std::vector<DockerNetwork> networks;
  for (const json::Value& entry : document.GetArray()) {
    DockerNetwork network;
    network.id = json::StringOr(entry, "Id");
    network.name = json::StringOr(entry, "Name");
    network.labels = LabelsOf(entry);
    const json::Value* ipam = json::Find(entry, "IPAM");
    const json::Value* config = ipam == nullptr ? nullptr : json::FindArray(*ipam, "Config");
    if (config != nullptr) {
      for (const json::Value& pool : config->GetArray()) {
        network.subnets.push_back(json::StringOr(pool, "Subnet"));
      }
    }
    networks.push_back(std::move(network));
  }
  co_return networks;
}

net::awaitable<absl::Status> DockerClient::RemoveNetwork(std::string id) {
  absl::StatusOr<HttpResponse> response =
      co_await Call("DELETE", absl::StrCat("/networks/", id), "", kNetworkCall);
  if (!response.ok()) co_return response.status();
  if (response->status == 204 || response->status == 404) co_return absl::OkStatus();
  co_return ErrorOf(*response);
}

net::awaitable<absl::Status> DockerClient::CreateVolume(DockerVolume volume) {
  json::Builder body;
  body.Object().Member("Name", volume.name);
  if (!volume.driver.empty()) body.Member("Driver", volume.driver);
  WriteMap(body, "DriverOpts", volume.options);
  WriteMap(body, "Labels", volume.labels);
  body.EndObject();
  absl::StatusOr<HttpResponse> response =
      co_await Call("POST", "/volumes/create", body.Text(), kVolumeCall);
  if (!response.ok()) co_return response.status();
  co_return response->status == 201 ? absl::OkStatus() : ErrorOf(*response);
}

net::awaitable<absl::StatusOr<DockerVolume>> DockerClient::InspectVolume(std::string name) {
  absl::StatusOr<HttpResponse> response =
      co_await Call("GET", absl::StrCat("/volumes/", PercentEncode(name)), "", kVolumeCall);
  if (!response.ok()) co_return response.status();
  json::Document document;
  if (response->status != 200 || !json::Parse(response->body, document))
    co_return ErrorOf(*response);
  co_return VolumeOf(document);
}

net::awaitable<absl::StatusOr<std::vector<DockerVolume>>> DockerClient::ListVolumes(
    std::vector<std::string> labels) {
  absl::StatusOr<HttpResponse> response =
      co_await Call("GET", absl::StrCat("/volumes?filters=", LabelFilter(labels)), "", kVolumeCall);
  if (!response.ok()) co_return response.status();
  json::Document document;
  if (response->status != 200 || !json::Parse(response->body, document))
    co_return ErrorOf(*response);
  std::vector<DockerVolume> volumes;
  // null when there are none.
  if (const json::Value* list = json::FindArray(document, "Volumes")) {
    for (const json::Value& entry : list->GetArray()) volumes.push_back(VolumeOf(entry));
  }
  co_return volumes;
}

net::awaitable<absl::Status> DockerClient::RemoveVolume(std::string name) {
  absl::StatusOr<HttpResponse> response =
      co_await Call("DELETE", absl::StrCat("/volumes/", PercentEncode(name)), "", kVolumeCall);
  if (!response.ok()) co_return response.status();
  if (response->status == 204 || response->status == 404) co_return absl::OkStatus();
  co_return ErrorOf(*response);
}

}  // namespace berth::agent
