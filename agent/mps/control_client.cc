#include "agent/mps/control_client.h"

#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "agent/mps/command.h"

namespace berth::agent {

namespace {

std::vector<pid_t> Pids(const std::string& answer) {
  std::vector<pid_t> pids;
  for (const absl::string_view word :
       absl::StrSplit(answer, absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty())) {
    pid_t pid = 0;
    if (!absl::SimpleAtoi(word, &pid)) return {};  // "Server 12 not found"
    pids.push_back(pid);
  }
  return pids;
}

}  // namespace

MpsControlClient::MpsControlClient(std::string binary, std::string pipe_directory,
                                   absl::Duration limit)
    : binary_(std::move(binary)), pipe_directory_(std::move(pipe_directory)), limit_(limit) {}

absl::StatusOr<std::string> MpsControlClient::Ask(const std::string& command) const {
  const Command front_end = {.arguments = {binary_},
                             .environment = {{"CUDA_MPS_PIPE_DIRECTORY", pipe_directory_}}};
  const absl::StatusOr<CommandResult> result = RunCommand(front_end, command + "\n", limit_);
  if (!result.ok()) return result.status();
  if (result->timed_out) {
    return absl::DeadlineExceededError(
        absl::StrFormat("the MPS control daemon of %s did not answer "
                        "%s in %s",
                        pipe_directory_, command, absl::FormatDuration(limit_)));
  }
  const std::string answer(absl::StripAsciiWhitespace(result->output));
  if (result->exit_status != 0) {
    return absl::UnavailableError(
        absl::StrFormat("no MPS control daemon at %s: %s", pipe_directory_, answer));
  }
  return answer;
}

MpsProbe MpsControlClient::Probe() const {
  std::error_code error;
  if (!std::filesystem::is_directory(pipe_directory_, error)) return MpsProbe::kMissingDirectory;
  const absl::StatusOr<std::string> answer = Ask("get_default_active_thread_percentage");
  if (absl::IsDeadlineExceeded(answer.status())) return MpsProbe::kNotResponding;
  double percentage = 0;
  const bool is_number = answer.ok() && absl::SimpleAtod(*answer, &percentage);
  return is_number ? MpsProbe::kServing : MpsProbe::kDown;
}

absl::StatusOr<std::vector<pid_t>> MpsControlClient::Servers() const {
  const absl::StatusOr<std::string> answer = Ask("get_server_list");
  if (!answer.ok()) return answer.status();
  return Pids(*answer);
}

absl::StatusOr<std::vector<pid_t>> MpsControlClient::Clients(pid_t server) const {
  const absl::StatusOr<std::string> answer = Ask(absl::StrCat("get_client_list ", server));
  if (!answer.ok()) return answer.status();
  return Pids(*answer);
}

absl::Status MpsControlClient::TerminateClient(pid_t server, pid_t client) const {
  const absl::StatusOr<std::string> answer =
      Ask(absl::StrCat("terminate_client ", server, " ", client));
  if (!answer.ok()) return answer.status();
  if (*answer == "0" || absl::StrContains(*answer, "not found")) return absl::OkStatus();
  return absl::InternalError(
      absl::StrFormat("MPS client %d of server %d is not terminated: %s", client, server, *answer));
}

}  // namespace berth::agent
