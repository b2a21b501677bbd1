#include "transport/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "absl/strings/str_format.h"
#include "transport/tls_context.h"

namespace berth::transport {
namespace {

// For TLS 1.2; those of 1.3 are all good. RSA certificates are common, and so are clients without
// hardware AES.
constexpr char kCiphers[] =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"
    "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:"
    "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";

absl::Status Failed(const std::string& what) {
  const std::string why = TakeOpenSslError();
  return absl::InvalidArgumentError(why.empty() ? what : absl::StrFormat("%s: %s", what, why));
}

absl::StatusOr<TlsContextPtr> Make(net::ssl::context::method method) {
  ERR_clear_error();
  auto context = std::make_shared<TlsContext>(method);
  SSL_CTX* const ssl = context->ssl.native_handle();
  if (SSL_CTX_set_min_proto_version(ssl, TLS1_2_VERSION) != 1 ||
      SSL_CTX_set_cipher_list(ssl, kCiphers) != 1) {
    return Failed("OpenSSL does not take the TLS settings");
  }
  SSL_CTX_set_options(ssl, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  return context;
}

}  // namespace

std::optional<absl::Time> EndOf(const ASN1_TIME* time) {
  int days = 0;
  int seconds = 0;
  ASN1_TIME* const epoch = ASN1_TIME_set(nullptr, 0);
  const bool known = ASN1_TIME_diff(&days, &seconds, epoch, time) == 1;
  ASN1_TIME_free(epoch);
  if (!known) return std::nullopt;
  return absl::UnixEpoch() + absl::Hours(24) * days + absl::Seconds(seconds);
}

std::string TakeOpenSslError() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) return "";
  const char* reason = ERR_reason_error_string(code);
  if (reason != nullptr) return reason;
  char text[256];
  ERR_error_string_n(code, text, sizeof(text));
  return text;
}

absl::StatusOr<TlsContextPtr> MakeServerTls(const std::string& certificate_file,
                                            const std::string& key_file) {
  absl::StatusOr<TlsContextPtr> context = Make(net::ssl::context::tls_server);
  if (!context.ok()) return context;
  SSL_CTX* const ssl = (*context)->ssl.native_handle();
  if (SSL_CTX_use_certificate_chain_file(ssl, certificate_file.c_str()) != 1) {
    return Failed(absl::StrFormat("%s has no certificate in PEM", certificate_file));
  }
  if (SSL_CTX_use_PrivateKey_file(ssl, key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    return Failed(absl::StrFormat("%s has no key in PEM that fits the certificate in %s", key_file,
                                  certificate_file));
  }
  if (SSL_CTX_check_private_key(ssl) != 1) {
    return Failed(absl::StrFormat("the key in %s is not that of the certificate in %s", key_file,
                                  certificate_file));
  }
  // Sessions are resumed by tickets, which cost no memory here.
  SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_OFF);
  return context;
}

absl::StatusOr<TlsContextPtr> MakeClientTls(const std::string& ca_file) {
  absl::StatusOr<TlsContextPtr> context = Make(net::ssl::context::tls_client);
  if (!context.ok()) return context;
  SSL_CTX* const ssl = (*context)->ssl.native_handle();
  SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER, nullptr);
  // A machine without the package ca-certificates has none, which is no error here.
  SSL_CTX_set_default_verify_paths(ssl);
  ERR_clear_error();
  if (!ca_file.empty()) {
    if (SSL_CTX_load_verify_file(ssl, ca_file.c_str()) != 1) {
      return Failed(absl::StrFormat("%s has no certificate in PEM", ca_file));
    }
    (*context)->ca_file = ca_file;
  }
  return context;
}

}  // namespace berth::transport
