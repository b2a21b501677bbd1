#include "cli/doctor_checks.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <thread>

#include <arpa/inet.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <rapidjson/document.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/setting_values.h"

namespace berth::cli {
namespace {

using Verdict = Finding::Verdict;

constexpr int kDockerTimeoutSeconds = 10;
constexpr size_t kDockerAnswerMax = 1 << 20;
constexpr uint64_t kDiskLowMib = 1024;
constexpr uint64_t kMib = 1024 * 1024;

// A descriptor that is closed at the end of the scope.
struct Descriptor {
  explicit Descriptor(int value) : fd(value) {}
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int fd;
};

struct DockerAnswer {
  std::string body = {};
  std::string error = {};
};

// GET over HTTP/1.0, which Docker answers with neither chunks nor keep-alive: enough for one look.
DockerAnswer AskDocker(const std::string& socket_path, std::string_view target) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_path.size() >= sizeof address.sun_path) return {.error = "the path is too long"};
  std::memcpy(address.sun_path, socket_path.c_str(), socket_path.size() + 1);

  const Descriptor docker(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval timeout{.tv_sec = kDockerTimeoutSeconds, .tv_usec = 0};
  setsockopt(docker.fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  if (connect(docker.fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return {.error = std::strerror(errno)};
  }
  const std::string request = fmt::format("GET {} HTTP/1.0\r\nHost: docker\r\n\r\n", target);
  if (send(docker.fd, request.data(), request.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(request.size())) {
    return {.error = std::strerror(errno)};
  }

  std::string answer;
  char piece[4096];
  ssize_t got = 0;
  while (answer.size() < kDockerAnswerMax && (got = recv(docker.fd, piece, sizeof piece, 0)) > 0) {
    answer.append(piece, static_cast<size_t>(got));
  }
  const size_t head_end = answer.find("\r\n\r\n");
  if (got < 0 || head_end == std::string::npos) return {.error = "it did not answer"};
  if (answer.find(" 200 ") > answer.find("\r\n")) {
    return {.error = "it answered " + answer.substr(0, answer.find("\r\n"))};
  }
  return {.body = answer.substr(head_end + 4)};
}

std::string StringMember(const rapidjson::Document& json, const char* name) {
  if (!json.IsObject() || !json.HasMember(name) || !json[name].IsString()) return "?";
  return json[name].GetString();
}

std::vector<Finding> CheckDocker(const std::string& socket_path) {
  Finding engine{.name = "docker"};
  const DockerAnswer version = AskDocker(socket_path, "/version");
  if (!version.error.empty()) {
    engine.verdict = Verdict::kProblem;
    engine.found = fmt::format("no Docker Engine at {}: {}", socket_path, version.error);
    engine.advice =
        "install docker.io and start it (sudo systemctl start docker), run as a user who may use "
        "the socket, or use --runtime simulated";
    return {engine};
  }
  rapidjson::Document json;
  json.Parse(version.body);
  engine.found = fmt::format("Docker Engine {} (API {}) at {}", StringMember(json, "Version"),
                             StringMember(json, "ApiVersion"), socket_path);

  Finding runtime{.name = "nvidia-runtime", .verdict = Verdict::kAbsent};
  const DockerAnswer info = AskDocker(socket_path, "/info");
  json.Parse(info.body);
  if (info.error.empty() && json.IsObject() && json.HasMember("Runtimes") &&
      json["Runtimes"].IsObject() && json["Runtimes"].HasMember("nvidia")) {
    runtime.verdict = Verdict::kOk;
    runtime.found = "Docker has the runtime nvidia";
  } else {
    runtime.found = "Docker has no runtime nvidia: containers cannot get a real GPU";
  }
  return {engine, runtime};
}

// Asks the driver's own library, loaded now, so that a machine without a driver works too.
Finding CheckGpuDriver() {
  Finding finding{.name = "gpu-driver", .verdict = Verdict::kAbsent};
  void* nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (nvml == nullptr) {
    finding.found =
        "no NVIDIA driver (libnvidia-ml.so.1): this machine has no GPU to offer; simulated ones "
        "(--gpus simulated:NxMIB) are pretended";
    return finding;
  }
  const auto init = reinterpret_cast<int (*)()>(dlsym(nvml, "nvmlInit_v2"));
  const auto shutdown = reinterpret_cast<int (*)()>(dlsym(nvml, "nvmlShutdown"));
  const auto count_devices =
      reinterpret_cast<int (*)(unsigned*)>(dlsym(nvml, "nvmlDeviceGetCount_v2"));
  const auto driver_version =
      reinterpret_cast<int (*)(char*, unsigned)>(dlsym(nvml, "nvmlSystemGetDriverVersion"));
  unsigned devices = 0;
  char version[80] = "?";
  if (init == nullptr || shutdown == nullptr || count_devices == nullptr ||
      driver_version == nullptr || init() != 0) {
    finding.verdict = Verdict::kProblem;
    finding.found = "the NVIDIA driver's library is there, but does not start";
    finding.advice =
        "see whether nvidia-smi works; the kernel module may be missing or of another "
        "version than the library";
  } else {
    driver_version(version, sizeof version);
    const bool counted = count_devices(&devices) == 0;
    finding.verdict = counted && devices > 0 ? Verdict::kOk : Verdict::kProblem;
    finding.found = fmt::format("NVIDIA driver {} with {} GPU(s)", version, devices);
    if (devices == 0) finding.advice = "the driver sees no GPU";
    shutdown();
  }
  dlclose(nvml);
  return finding;
}

Finding CheckMps() {
  Finding finding{.name = "mps", .verdict = Verdict::kAbsent};
  const char* path = std::getenv("PATH");
  std::string_view folders = path == nullptr ? "" : path;
  while (!folders.empty()) {
    const size_t colon = folders.find(':');
    const std::filesystem::path program =
        std::filesystem::path(folders.substr(0, colon)) / "nvidia-cuda-mps-control";
    if (access(program.c_str(), X_OK) == 0) {
      finding.verdict = Verdict::kOk;
      finding.found = program.string();
      return finding;
    }
    folders = colon == std::string_view::npos ? std::string_view() : folders.substr(colon + 1);
  }
  finding.found = "no nvidia-cuda-mps-control in PATH: real GPUs cannot be shared";
  return finding;
}

Finding CheckCgroups() {
  Finding finding{.name = "cgroups"};
  std::error_code error;
  if (std::filesystem::exists("/sys/fs/cgroup/cgroup.controllers", error)) {
    finding.found = "version 2";
  } else if (std::filesystem::exists("/sys/fs/cgroup/memory", error)) {
    finding.found = "version 1";
  } else {
    finding.verdict = Verdict::kProblem;
    finding.found = "none are mounted at /sys/fs/cgroup";
    finding.advice = "containers need them; mount them or run outside this container";
  }
  return finding;
}

Finding CheckMachine() {
  Finding finding{.name = "machine"};
  std::ifstream file("/proc/meminfo");
  std::string name;
  uint64_t kib = 0;
  file >> name >> kib;
  const unsigned cores = std::thread::hardware_concurrency();
  finding.found =
      fmt::format("{} core(s), {} CPU units, {} MiB of memory", cores, cores * 1024, kib / 1024);
  return finding;
}

// The nearest folder that is there already: the data folder itself may be made later.
std::filesystem::path ExistingAncestor(std::filesystem::path path) {
  std::error_code error;
  path = std::filesystem::absolute(path, error);
  while (!std::filesystem::exists(path, error) && path.has_relative_path()) {
    path = path.parent_path();
  }
  return path;
}

Finding CheckDisk(const std::string& data_dir) {
  Finding finding{.name = "disk"};
  const std::filesystem::path folder = ExistingAncestor(data_dir);
  struct statvfs disk {};
  if (statvfs(folder.c_str(), &disk) != 0 || access(folder.c_str(), W_OK) != 0) {
    finding.verdict = Verdict::kProblem;
    finding.found = fmt::format("cannot write in {}: {}", folder.string(), std::strerror(errno));
    finding.advice = "name another folder with --data";
    return finding;
  }
  const uint64_t free_mib = disk.f_bavail * disk.f_frsize / kMib;
  finding.found = fmt::format("{} MiB free in {}", free_mib, folder.string());
  if (free_mib < kDiskLowMib) {
    finding.verdict = Verdict::kProblem;
    finding.advice =
        fmt::format("less than {} MiB: images and the database need more", kDiskLowMib);
  }
  return finding;
}

Finding CheckPort(const std::string& listen) {
  Finding finding{.name = "port"};
  const ListenAddress address = ParseListenAddress("--listen", listen);
  const bool v6 = address.host.find(':') != std::string::npos;
  const Descriptor probe(socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  setsockopt(probe.fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  int bound = -1;
  if (v6) {
    sockaddr_in6 name{};
    name.sin6_family = AF_INET6;
    name.sin6_port = htons(address.port);
    inet_pton(AF_INET6, address.host.c_str(), &name.sin6_addr);
    bound = bind(probe.fd, reinterpret_cast<const sockaddr*>(&name), sizeof name);
  } else {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(address.port);
    inet_pton(AF_INET, address.host.c_str(), &name.sin_addr);
    bound = bind(probe.fd, reinterpret_cast<const sockaddr*>(&name), sizeof name);
  }
  if (bound == 0) {
    finding.found = listen + " is free";
  } else if (errno == EADDRINUSE) {
    // Not a problem of the machine: it may well be a berth server.
    finding.verdict = Verdict::kAbsent;
    finding.found = listen + " is taken: a server runs there, or choose another with --listen";
  } else {
    finding.verdict = Verdict::kProblem;
    finding.found = fmt::format("cannot bind {}: {}", listen, std::strerror(errno));
    finding.advice = "choose another address with --listen";
  }
  return finding;
}

}  // namespace

std::vector<Finding> RunChecks(const DoctorSettings& settings) {
  std::vector<Finding> findings = {CheckMachine(), CheckCgroups()};
  for (Finding& finding : CheckDocker(settings.docker_socket)) {
    findings.push_back(std::move(finding));
  }
  findings.push_back(CheckGpuDriver());
  findings.push_back(CheckMps());
  findings.push_back(CheckDisk(settings.data_dir));
  findings.push_back(CheckPort(settings.listen));
  return findings;
}

}  // namespace berth::cli
