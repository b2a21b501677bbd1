#include "agent/server_access.h"

#include <utility>

namespace berth::agent {

absl::StatusOr<ServerAccess> MakeServerAccess(const AgentSettings& settings) {
  ServerAccess access{.region = settings.region};
  absl::StatusOr<HttpAddress> address = ParseHttpUrl(settings.server);
  if (!address.ok()) return address.status();
  access.address = *std::move(address);
  if (access.address.tls) {
    absl::StatusOr<transport::TlsContextPtr> tls = transport::MakeClientTls(settings.ca_file);
    if (!tls.ok()) return tls.status();
    access.tls = *std::move(tls);
  }
  if (!settings.credentials_file.empty()) {
    auto source = CredentialSource::FromFile(settings.credentials_file, settings.profile);
    if (!source.ok()) return source.status();
    access.credentials = *std::move(source);
  } else if (!settings.credentials.access_key_id.empty()) {
    access.credentials = std::make_shared<CredentialSource>(settings.credentials);
  }
  return access;
}

}  // namespace berth::agent
