#include "agent/mps/mps_settings.h"

#include <string_view>

#include <sys/un.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

namespace berth::agent {

namespace {

constexpr std::string_view kLongestSocket = "/control_privileged";
constexpr size_t kShortNameBytes = 13;  // of the UUID: 12 hexadecimal digits and a dash
constexpr size_t kSocketPathMax = sizeof(sockaddr_un::sun_path) - 1;
constexpr char kDefaultOfCuda[] = "/tmp/nvidia-mps";

}  // namespace

absl::Status CheckMpsSettings(const MpsSettings& settings) {
  if (!absl::StartsWith(settings.root, "/")) {
    return absl::InvalidArgumentError(
        absl::StrFormat("the MPS directory %s is not an absolute path", settings.root));
  }
  if (settings.root == kDefaultOfCuda ||
      absl::StartsWith(settings.root, absl::StrCat(kDefaultOfCuda, "/"))) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "the MPS directory %s is where every CUDA program looks for a daemon, so containers with a "
        "GPU of their own would be captured; use another",
        settings.root));
  }
  const size_t longest = settings.root.size() + 1 + kShortNameBytes + kLongestSocket.size();
  if (longest > kSocketPathMax) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "the MPS directory %s is too long: a socket below it would have %d bytes, and %d are the "
        "most",
        settings.root, longest, kSocketPathMax));
  }
  return absl::OkStatus();
}

std::string MpsDirectory(const std::string& root, const std::string& uuid) {
  return absl::StrCat(root, "/", absl::StripPrefix(uuid, "GPU-").substr(0, kShortNameBytes));
}

}  // namespace berth::agent
