#include "transport/tls.h"

#include <cerrno>
#include <cstring>
#include <memory>

#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/stat.h>
#include <unistd.h>

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

// Before OpenSSL is given the file, whose words for one that it cannot open are of no use.
absl::Status CheckReadable(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status {};
  int error = file < 0 || ::fstat(file, &status) != 0 ? errno : 0;
  if (file >= 0) ::close(file);
  if (error == 0 && S_ISDIR(status.st_mode)) error = EISDIR;
  if (error == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("cannot read %s: %s", path, std::strerror(error)));
}

bool IsNoPem(unsigned long error) {
  return error == 0 ||
         (ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE);
}

// Of OpenSSL's oldest error.
absl::Status CertificateFails(const std::string& file) {
  const unsigned long error = ERR_peek_error();
  if (IsNoPem(error)) {
    ERR_clear_error();
    return absl::InvalidArgumentError(absl::StrFormat("%s has no certificate in PEM", file));
  }
  const int reason = ERR_GET_LIB(error) == ERR_LIB_SSL ? ERR_GET_REASON(error) : 0;
  const bool is_short = reason == SSL_R_EE_KEY_TOO_SMALL || reason == SSL_R_CA_KEY_TOO_SMALL;
  return Failed(absl::StrFormat("the certificate in %s cannot be used%s", file,
                                is_short ? " (an RSA key has to have 2048 bits or more)" : ""));
}

using Bio = std::unique_ptr<BIO, decltype(&BIO_free_all)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

absl::Status UseKey(const std::string& file, const std::string& certificate_file, SSL_CTX* ssl) {
  bool asked = false;
  const Bio bio(BIO_new_file(file.c_str(), "r"), BIO_free_all);
  const Key key(bio == nullptr
                    ? nullptr
                    : PEM_read_bio_PrivateKey(bio.get(), nullptr, GiveNoPassphrase, &asked),
                EVP_PKEY_free);
  if (key != nullptr && SSL_CTX_use_PrivateKey(ssl, key.get()) == 1) return absl::OkStatus();
  if (!asked) {
    return Failed(absl::StrFormat("%s has no key in PEM that fits the certificate in %s", file,
                                  certificate_file));
  }
  ERR_clear_error();
  return absl::InvalidArgumentError(absl::StrFormat(
      "the key in %s is encrypted with a passphrase, and nobody is there to type it: decrypt it "
      "(openssl pkey -in %s -out plain-key.pem), and let nobody else read the new file",
      file, file));
}

// All the certificates in the file; what else is in it is passed over.
absl::Status TrustThoseIn(const std::string& ca_file, SSL_CTX* ssl) {
  if (absl::Status status = CheckReadable(ca_file); !status.ok()) return status;
  const Bio bio(BIO_new_file(ca_file.c_str(), "r"), BIO_free_all);
  if (bio == nullptr) return CertificateFails(ca_file);
  for (size_t found = 0;; ++found) {
    const Certificate certificate(
        PEM_read_bio_X509_AUX(bio.get(), nullptr, GiveNoPassphrase, nullptr), X509_free);
    if (certificate == nullptr && found > 0 && IsNoPem(ERR_peek_error())) break;
    if (certificate == nullptr ||
        X509_STORE_add_cert(SSL_CTX_get_cert_store(ssl), certificate.get()) != 1) {
      return CertificateFails(ca_file);
    }
  }
  ERR_clear_error();
  return absl::OkStatus();
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

int GiveNoPassphrase(char*, int, int, void* asked) {
  if (asked != nullptr) *static_cast<bool*>(asked) = true;
  return -1;
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
  for (const std::string& file : {certificate_file, key_file}) {
    if (absl::Status status = CheckReadable(file); !status.ok()) return status;
  }
  SSL_CTX* const ssl = (*context)->ssl.native_handle();
  // Without user data, which Asio takes for its own when the context ends.
  SSL_CTX_set_default_passwd_cb(ssl, GiveNoPassphrase);
  if (SSL_CTX_use_certificate_chain_file(ssl, certificate_file.c_str()) != 1) {
    return CertificateFails(certificate_file);
  }
  if (absl::Status status = UseKey(key_file, certificate_file, ssl); !status.ok()) return status;
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
    if (absl::Status status = TrustThoseIn(ca_file, ssl); !status.ok()) return status;
    (*context)->ca_file = ca_file;
  }
  return context;
}

}  // namespace berth::transport
