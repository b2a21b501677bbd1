// What a TLS connection is made with: the server's certificate and key, or the authorities that a
// client trusts. TLS 1.2 at least, no ciphers without forward secrecy.
//
// Immutable once made, and shared by the connections that began with it: a server that reads its
// certificate again gives the new one to new connections.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace berth::transport {

struct TlsContext;
using TlsContextPtr = std::shared_ptr<TlsContext>;

// Both files are PEM; that of the certificate has the server's own first, then those that lead to
// the authority. Errors name the file and what is wrong with it.
absl::StatusOr<TlsContextPtr> MakeServerTls(const std::string& certificate_file,
                                            const std::string& key_file);

// Trusts the system's authorities (SSL_CERT_FILE and SSL_CERT_DIR are OpenSSL's own variables for
// others), and those in `ca_file` as well unless it is empty.
absl::StatusOr<TlsContextPtr> MakeClientTls(const std::string& ca_file);

}  // namespace berth::transport
