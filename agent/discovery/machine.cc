#include "agent/discovery/machine.h"

#include <array>
#include <fstream>
#include <thread>

#include <openssl/sha.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "absl/strings/str_format.h"

namespace berth::agent {

namespace {

constexpr int64_t kBytesPerMib = 1024 * 1024;
constexpr size_t kInstanceIdDigits = 17;

std::string FirstLine(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

std::string AwsArchitecture(const std::string& kernel_name) {
  return kernel_name == "aarch64" ? "arm64" : kernel_name;
}

MachineFacts ReadMachine() {
  MachineFacts facts;
  utsname names = {};
  if (::uname(&names) == 0) {
    facts.architecture = AwsArchitecture(names.machine);
    // The file alone is not enough: machines made from one image may all have the same.
    facts.unique_id = absl::StrFormat("%s/%s", FirstLine("/etc/machine-id"), names.nodename);
  }
  facts.cpus = static_cast<int64_t>(std::thread::hardware_concurrency());
  const int64_t pages = ::sysconf(_SC_PHYS_PAGES);
  const int64_t page_bytes = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && page_bytes > 0) facts.memory_mib = pages * page_bytes / kBytesPerMib;
  return facts;
}

std::string StableInstanceId(const std::string& text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest = {};
  ::SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  std::string hex;
  for (const unsigned char byte : digest) absl::StrAppendFormat(&hex, "%02x", byte);
  return "i-" + hex.substr(0, kInstanceIdDigits);
}

}  // namespace berth::agent
