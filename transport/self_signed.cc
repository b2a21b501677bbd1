#include "transport/self_signed.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/str_format.h"
#include "transport/certificates.h"

namespace berth::transport {
namespace {

constexpr absl::Duration kAuthorityLife = absl::Hours(24 * 3650);
constexpr absl::Duration kServerLife = absl::Hours(24 * 365);
// So near its end a certificate is made anew.
constexpr absl::Duration kRenewBefore = absl::Hours(24 * 30);
// Certificates begin so long ago: a client's clock may be behind.
constexpr absl::Duration kBackdated = absl::Hours(1);
constexpr mode_t kPublic = 0644;
constexpr mode_t kSecret = 0600;

// Empty when it cannot be read, which counts as not being there.
std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

absl::Status Replace(const std::string& path, const std::string& text, mode_t mode) {
  const std::string next = path + ".new";
  const auto fails = [&](const char* what) {
    const absl::Status status =
        absl::UnavailableError(absl::StrFormat("cannot %s %s: %s", what, next, strerror(errno)));
    ::unlink(next.c_str());
    return status;
  };
  ::unlink(next.c_str());  // Of a start that was cut off.
  const int file = ::open(next.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (file < 0) return fails("make");
  // Whatever the umask took away; a secret gets no more than asked for.
  const bool written =
      ::fchmod(file, mode) == 0 &&
      ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      ::fsync(file) == 0;
  if (::close(file) != 0 || !written) return fails("write");
  if (::rename(next.c_str(), path.c_str()) != 0) return fails("rename");
  return absl::OkStatus();
}

bool IsNearItsEnd(const std::string& pem, absl::Time now) {
  const absl::StatusOr<CertificateFacts> facts = ReadCertificate(pem);
  return !facts.ok() || facts->until - now < kRenewBefore;
}

std::string HostName() {
  char name[256] = "";
  return ::gethostname(name, sizeof(name) - 1) == 0 ? name : "";
}

}  // namespace

SelfSignedFiles SelfSignedFilesIn(const std::string& folder) {
  const std::filesystem::path in(folder);
  return {.ca = in / "ca.pem",
          .ca_key = in / "ca-key.pem",
          .certificate = in / "server.pem",
          .key = in / "server-key.pem"};
}

std::vector<std::string> SelfSignedNames(const std::vector<std::string>& more) {
  std::vector<std::string> names = {"localhost", "127.0.0.1", "::1", HostName()};
  names.insert(names.end(), more.begin(), more.end());
  std::vector<std::string> once;
  for (std::string& name : names) {
    if (!name.empty() && std::find(once.begin(), once.end(), name) == once.end()) {
      once.push_back(std::move(name));
    }
  }
  return once;
}

absl::StatusOr<bool> EnsureSelfSigned(const std::string& folder,
                                      const std::vector<std::string>& names, absl::Time now) {
  const SelfSignedFiles files = SelfSignedFilesIn(folder);
  KeyAndCertificate authority{.key = ReadAll(files.ca_key), .certificate = ReadAll(files.ca)};
  const std::string certificate = ReadAll(files.certificate);
  const bool new_authority = IsNearItsEnd(authority.certificate, now);
  if (!new_authority && !IsNearItsEnd(certificate, now) && IsFor(certificate, names) &&
      IsSignedBy(certificate, authority.certificate) && !ReadAll(files.key).empty()) {
    return false;
  }

  if (new_authority) {
    absl::StatusOr<KeyAndCertificate> made =
        MakeAuthority(absl::StrFormat("Berth authority of %s, %s", HostName(),
                                      absl::FormatTime("%Y-%m-%d", now, absl::UTCTimeZone())),
                      {.from = now - kBackdated, .until = now + kAuthorityLife});
    if (!made.ok()) return made.status();
    authority = *std::move(made);
    for (const auto& [path, text, mode] : {std::tuple(files.ca_key, authority.key, kSecret),
                                           std::tuple(files.ca, authority.certificate, kPublic)}) {
      if (absl::Status status = Replace(path, text, mode); !status.ok()) return status;
    }
  } else if (authority.key.empty()) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s is not there, with which the server's certificate %s would be renewed; "
                        "put it back, or remove %s to have a new authority made",
                        files.ca_key, files.certificate, files.ca));
  }

  const absl::StatusOr<CertificateFacts> of_authority = ReadCertificate(authority.certificate);
  if (!of_authority.ok()) return of_authority.status();
  const Validity validity{.from = now - kBackdated,
                          .until = std::min(now + kServerLife, of_authority->until)};
  absl::StatusOr<KeyAndCertificate> server = MakeServerCertificate(authority, names, validity);
  if (!server.ok()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: %s", files.ca_key, std::string(server.status().message())));
  }
  for (const auto& [path, text, mode] :
       {std::tuple(files.key, server->key, kSecret),
        std::tuple(files.certificate, server->certificate, kPublic)}) {
    if (absl::Status status = Replace(path, text, mode); !status.ok()) return status;
  }
  return true;
}

}  // namespace berth::transport
