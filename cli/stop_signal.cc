#include "cli/stop_signal.h"

#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace berth::cli {
namespace {

sigset_t StopSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

int Checked(int descriptor, const char* call) {
  if (descriptor < 0) throw std::system_error(errno, std::generic_category(), call);
  return descriptor;
}

}  // namespace

StopSignal::StopSignal() {
  const sigset_t set = StopSignals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = Checked(signalfd(-1, &set, SFD_CLOEXEC), "signalfd");
  cancelled_ = Checked(eventfd(0, EFD_CLOEXEC), "eventfd");
}

StopSignal::~StopSignal() {
  close(signals_);
  close(cancelled_);
}

bool StopSignal::Wait() {
  std::array<pollfd, 2> waiting = {pollfd{signals_, POLLIN, 0}, pollfd{cancelled_, POLLIN, 0}};
  while (poll(waiting.data(), waiting.size(), -1) < 0) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "poll");
  }
  if ((waiting[0].revents & POLLIN) == 0) return false;

  signalfd_siginfo came;
  if (read(signals_, &came, sizeof came) < 0) {
    throw std::system_error(errno, std::generic_category(), "read");
  }
  // Whoever presses Ctrl-C twice does not want to wait: the default action ends the process.
  const sigset_t set = StopSignals();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  return true;
}

void StopSignal::Cancel() {
  const uint64_t one = 1;
  // Cannot fail but by overflow, and then it has been cancelled before.
  [[maybe_unused]] const ssize_t written = write(cancelled_, &one, sizeof one);
}

}  // namespace berth::cli
