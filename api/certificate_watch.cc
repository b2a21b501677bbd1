#include "api/certificate_watch.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include "absl/time/clock.h"
#include "auth/private_file.h"
#include "transport/self_signed.h"
#include "transport/tls.h"

namespace berth::api {
namespace {

constexpr size_t kKeyBytesMax = 64 * 1024;

}  // namespace

CertificateWatch::Stamp CertificateWatch::StampOf(const std::string& path) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) return {};
  return {.inode = static_cast<int64_t>(file.st_ino),
          .size = file.st_size,
          .changed_ns = file.st_mtim.tv_sec * 1'000'000'000 + file.st_mtim.tv_nsec};
}

std::array<CertificateWatch::Stamp, 2> CertificateWatch::Look() const {
  return {StampOf(settings_.certificate_file), StampOf(settings_.key_file)};
}

absl::Status CertificateWatch::Renew() {
  if (settings_.self_signed_folder.empty()) return absl::OkStatus();
  const absl::Time now = absl::Now();
  if (now - renewal_looked_at_ < limits_.renewal_interval) return absl::OkStatus();
  renewal_looked_at_ = now;
  const absl::StatusOr<bool> made =
      transport::EnsureSelfSigned(settings_.self_signed_folder, settings_.names, now);
  if (made.ok() && *made) spdlog::info("made a certificate in {}", settings_.self_signed_folder);
  return made.status();
}

// As with secrets.key: whoever has read one of them can pretend to be this server.
absl::Status CertificateWatch::CheckKeysArePrivate() const {
  if (settings_.self_signed_folder.empty()) return absl::OkStatus();
  const auto files = transport::SelfSignedFilesIn(settings_.self_signed_folder);
  for (const std::string& path : {files.ca_key, files.key}) {
    const auto text = auth::ReadPrivateFile(path, kKeyBytesMax);
    if (!text.ok()) return text.status();
  }
  return absl::OkStatus();
}

absl::Status CertificateWatch::Load() {
  if (absl::Status status = CheckKeysArePrivate(); !status.ok()) return status;
  if (absl::Status status = Renew(); !status.ok()) return status;
  // Looked at first: what changes while it is read is read again.
  const std::array<Stamp, 2> now = Look();
  const absl::StatusOr<transport::TlsContextPtr> tls =
      transport::MakeServerTls(settings_.certificate_file, settings_.key_file);
  if (!tls.ok()) return tls.status();
  server_.UseTls(*tls);
  seen_ = now;
  return absl::OkStatus();
}

net::awaitable<void> CertificateWatch::Run() {
  net::steady_timer timer(co_await net::this_coro::executor);
  std::array<Stamp, 2> refused = {};
  while (true) {
    timer.expires_after(absl::ToChronoNanoseconds(limits_.certificate_interval));
    auto [error] = co_await timer.async_wait(net::as_tuple(net::use_awaitable));
    if (error) co_return;
    if (const absl::Status status = Renew(); !status.ok()) {
      spdlog::error("cannot renew the certificate: {}", std::string(status.message()));
    }
    const std::array<Stamp, 2> now = Look();
    if (now == seen_ || now == refused) continue;
    const absl::Status loaded = Load();
    if (loaded.ok()) {
      spdlog::info("new connections get the certificate that {} has now",
                   settings_.certificate_file);
    } else {
      refused = now;
      spdlog::error("the certificate before stays in use: {}", std::string(loaded.message()));
    }
  }
}

}  // namespace berth::api
