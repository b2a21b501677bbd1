// Keeps what https is served with up to date: looks at the files of the certificate and its key now
// and then, and hands them to the listener when they have changed. Files that do not fit together,
// as between the two writes of who replaces them, leave the certificate before in use.
//
// Not SIGHUP: whoever renews certificates (certbot, cert-manager, a mounted secret) writes files,
// and often cannot send signals.
#pragma once

#include <array>
#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "api/http_server.h"
#include "api/limits.h"
#include "api/net.h"
#include "api/settings.h"

namespace berth::api {

class CertificateWatch {
 public:
  // All outlive it.
  CertificateWatch(const TlsSettings& settings, HttpServer& server, const HttpLimits& limits)
      : settings_(settings), server_(server), limits_(limits) {}

  // The first time, before the server listens. An error says what is wrong with which file.
  absl::Status Load();
  // For ever, from then on.
  net::awaitable<void> Run();

 private:
  // What tells a file from the one that it replaced.
  struct Stamp {
    int64_t inode = 0;
    int64_t size = 0;
    int64_t changed_ns = 0;
    bool operator==(const Stamp&) const = default;
  };
  static Stamp StampOf(const std::string& path);
  std::array<Stamp, 2> Look() const;
  absl::Status Renew();
  absl::Status CheckKeysArePrivate() const;

  const TlsSettings& settings_;
  HttpServer& server_;
  const HttpLimits limits_;
  std::array<Stamp, 2> seen_ = {};
  absl::Time renewal_looked_at_ = absl::InfinitePast();
};

}  // namespace berth::api
