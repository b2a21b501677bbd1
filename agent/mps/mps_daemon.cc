#include "agent/mps/mps_daemon.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "agent/mps/command.h"
#include "agent/state_file.h"

namespace berth::agent {

namespace {

namespace fs = std::filesystem;

constexpr char kPidFile[] = "/nvidia-cuda-mps-control.pid";
constexpr char kMultiUserFlag[] = "-multiuser-server";
// What an unknown flag makes of the daemon: the front end, which finds nobody.
constexpr char kNobodyThere[] = "Cannot find MPS control daemon process";
constexpr char kAlreadyThere[] = "already running";
constexpr absl::Duration kPollEvery = absl::Milliseconds(20);

std::string TextOf(const std::string& path) {
  std::ifstream file(path);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return std::string(absl::StripAsciiWhitespace(text));
}

bool AwaitEnd(const ProcessId& process, absl::Duration limit) {
  const absl::Time deadline = absl::Now() + limit;
  while (IsAlive(process)) {
    if (absl::Now() >= deadline) return false;
    absl::SleepFor(kPollEvery);
  }
  return true;
}

// Searchable by all, whatever the umask: programs of any user go through (gpu-sharing.md 2.4).
absl::Status MakeSearchable(const std::string& path) {
  std::error_code error;
  std::string missing_from;
  for (fs::path parent = path; !parent.empty() && !fs::exists(parent, error);
       parent = parent.parent_path()) {
    missing_from = parent;
  }
  fs::create_directories(path, error);
  if (error) {
    return absl::UnavailableError(absl::StrFormat("cannot create %s: %s", path, error.message()));
  }
  for (fs::path made = path; !missing_from.empty(); made = made.parent_path()) {
    if (::chmod(made.c_str(), 0755) != 0) {
      return absl::UnavailableError(
          absl::StrFormat("cannot open %s to all: %s", made.string(), std::strerror(errno)));
    }
    if (made == missing_from) break;
  }
  return absl::OkStatus();
}

}  // namespace

MpsDaemon::MpsDaemon(MpsSettings settings, std::shared_ptr<GpuControl> gpus, model::Gpu gpu)
    : settings_(std::move(settings)),
      gpus_(std::move(gpus)),
      gpu_(std::move(gpu)),
      pipe_directory_(MpsDirectory(settings_.root, gpu_.id.value)),
      log_directory_(MpsDirectory(settings_.log_root, gpu_.id.value)),
      client_(settings_.binary, pipe_directory_, settings_.probe_limit) {}

std::string MpsDaemon::RecordFile() const {
  return absl::StrCat(settings_.record_directory, "/", gpu_.id.value, ".json");
}

absl::Status MpsDaemon::Save() const {
  std::error_code error;
  fs::create_directories(settings_.record_directory, error);
  if (error) {
    return absl::UnavailableError(
        absl::StrFormat("cannot create %s: %s", settings_.record_directory, error.message()));
  }
  return ReplaceFile(RecordFile(), EncodeMpsDaemonRecord(*record_), true);
}

absl::Status MpsDaemon::Load() {
  const std::string text = TextOf(RecordFile());
  if (text.empty()) return absl::OkStatus();
  const absl::StatusOr<MpsDaemonRecord> record = DecodeMpsDaemonRecord(text);
  if (!record.ok()) {
    // Better DEFAULT than a GPU that nobody can use: a mode of ours is what the file spoke of.
    spdlog::error("{}: {}", RecordFile(), std::string(record.status().message()));
    record_ = MpsDaemonRecord{.boot_id = BootId(), .pipe_directory = pipe_directory_};
  } else if (record->boot_id != BootId()) {
    fs::remove(RecordFile());
    return absl::OkStatus();
  } else {
    record_ = *record;
  }
  if (!record_->daemon) AdoptFromPidFile();
  return absl::OkStatus();
}

// One that was started and not yet written down.
void MpsDaemon::AdoptFromPidFile() {
  pid_t pid = -1;
  if (!absl::SimpleAtoi(TextOf(pipe_directory_ + kPidFile), &pid)) return;
  const std::optional<ProcessId> process = FindProcess(pid);
  std::error_code error;
  const fs::path program = fs::read_symlink(absl::StrFormat("/proc/%d/exe", pid), error);
  if (!process || error || program.filename() != fs::path(settings_.binary).filename()) return;
  record_->daemon = process;
}

std::optional<ProcessId> MpsDaemon::process() const {
  return record_ ? record_->daemon : std::nullopt;
}

bool MpsDaemon::IsRunning() const {
  return record_ && record_->daemon && IsAlive(*record_->daemon);
}

MpsProbe MpsDaemon::Probe() const { return client_.Probe(); }

absl::Status MpsDaemon::MakeDirectories() const {
  const absl::Status pipes = MakeSearchable(pipe_directory_);
  return pipes.ok() ? MakeSearchable(log_directory_) : pipes;
}

absl::Status MpsDaemon::Start() {
  if (IsRunning()) return absl::OkStatus();
  const absl::Status directories = MakeDirectories();
  if (!directories.ok()) return directories;
  if (!record_) {
    const absl::StatusOr<ComputeMode> mode = gpus_->GetComputeMode(gpu_.id.value);
    if (!mode.ok()) return mode.status();
    record_ = MpsDaemonRecord{
        .boot_id = BootId(), .pipe_directory = pipe_directory_, .mode_before = *mode};
  }
  record_->daemon = std::nullopt;
  const absl::Status saved = Save();
  if (!saved.ok()) return saved;
  const absl::Status mode = gpus_->SetComputeMode(gpu_.id.value, ComputeMode::kExclusiveProcess);
  if (!mode.ok()) return mode;
  absl::Status launched = Launch();
  if (!launched.ok() && !multi_user_) launched = Launch();  // Found out just now.
  if (!launched.ok()) return launched;
  if (gpu_.memory_mib > 0) {
    // A net under programs that drop their own limit; what a program sets itself can only be less.
    const absl::StatusOr<std::string> limit =
        client_.Ask(absl::StrFormat("set_default_device_pinned_mem_limit 0 %dM", gpu_.memory_mib));
    if (!limit.ok()) return limit.status();
  }
  return Save();
}

absl::Status MpsDaemon::Launch() {
  Command command = {.arguments = {settings_.binary, "-f"},
                     .environment = {{"CUDA_VISIBLE_DEVICES", gpu_.id.value},
                                     {"CUDA_MPS_PIPE_DIRECTORY", pipe_directory_},
                                     {"CUDA_MPS_LOG_DIRECTORY", log_directory_}}};
  const bool with_flag = multi_user_;
  if (with_flag) command.arguments.emplace_back(kMultiUserFlag);
  const std::string output = log_directory_ + "/start.log";
  const absl::StatusOr<pid_t> pid = StartDetached(command, output);
  if (!pid.ok()) return pid.status();
  const absl::Time deadline = absl::Now() + settings_.start_limit;
  record_->daemon = FindProcess(*pid);
  while (IsRunning()) {
    if (Probe() == MpsProbe::kServing) return absl::OkStatus();
    if (absl::Now() >= deadline) {
      Kill();
      return absl::DeadlineExceededError("the MPS control daemon does not answer after its start");
    }
    absl::SleepFor(kPollEvery);
  }
  const std::string said = TextOf(output);
  record_->daemon = std::nullopt;
  if (with_flag && absl::StrContains(said, kNobodyThere)) {
    multi_user_ = false;
    spdlog::warn("{} does not know {}: programs of one user only can share a GPU at a time",
                 settings_.binary, kMultiUserFlag);
  }
  if (absl::StrContains(said, kAlreadyThere)) {
    AdoptFromPidFile();
    if (IsRunning() && Probe() == MpsProbe::kServing) return absl::OkStatus();
  }
  return absl::UnavailableError(absl::StrCat("the MPS control daemon ended at its start: ", said));
}

void MpsDaemon::Kill() {
  if (!IsRunning()) return;
  ::kill(record_->daemon->pid, SIGKILL);
  AwaitEnd(*record_->daemon, settings_.signal_limit);
}

absl::Status MpsDaemon::Stop() {
  if (!record_) return absl::OkStatus();
  if (IsRunning()) {
    // Its answer says nothing: whether the process goes is what counts.
    const absl::StatusOr<std::string> ignored = client_.Ask("quit");
    const ProcessId daemon = *record_->daemon;
    const bool answered = ignored.ok();
    if (!AwaitEnd(daemon, answered ? settings_.quit_limit : absl::ZeroDuration())) {
      ::kill(daemon.pid, SIGTERM);
      if (!AwaitEnd(daemon, settings_.signal_limit)) Kill();
    }
    if (IsAlive(daemon)) {
      return absl::UnavailableError(
          absl::StrFormat("the MPS control daemon, process %d, cannot be ended", daemon.pid));
    }
  }
  std::error_code error;
  fs::remove_all(pipe_directory_, error);
  const absl::Status mode = gpus_->SetComputeMode(gpu_.id.value, record_->mode_before);
  if (!mode.ok()) return mode;
  fs::remove(RecordFile(), error);
  if (error) {
    return absl::UnavailableError(
        absl::StrFormat("cannot remove %s: %s", RecordFile(), error.message()));
  }
  record_ = std::nullopt;
  return absl::OkStatus();
}

absl::StatusOr<int> MpsDaemon::TerminateClients(const std::string& container_id) const {
  const absl::StatusOr<std::vector<pid_t>> servers = client_.Servers();
  if (!servers.ok()) return servers.status();
  int terminated = 0;
  for (const pid_t server : *servers) {
    const absl::StatusOr<std::vector<pid_t>> clients = client_.Clients(server);
    if (!clients.ok()) return clients.status();
    for (const pid_t client : *clients) {
      if (!IsInContainer(client, container_id)) continue;
      const absl::Status done = client_.TerminateClient(server, client);
      if (!done.ok()) return done;
      ++terminated;
    }
  }
  return terminated;
}

void MpsDaemon::AwaitRelease() const {
  const absl::Time deadline = absl::Now() + settings_.release_limit;
  while (true) {
    const absl::StatusOr<std::vector<ComputeProcess>> listed =
        gpus_->ComputeProcesses(gpu_.id.value);
    if (!listed.ok()) {
      spdlog::warn("GPU {}: {}", gpu_.id.value, std::string(listed.status().message()));
      return;
    }
    const auto ended = std::find_if(listed->begin(), listed->end(), [](const ComputeProcess& p) {
      return !FindProcess(static_cast<pid_t>(p.pid));
    });
    if (ended == listed->end()) return;
    if (absl::Now() >= deadline) {
      spdlog::warn("GPU {}: the driver still lists the ended process {}", gpu_.id.value,
                   ended->pid);
      return;
    }
    absl::SleepFor(kPollEvery);
  }
}

}  // namespace berth::agent
