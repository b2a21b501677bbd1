#include "transport/certificates.h"

#include <memory>

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "absl/strings/str_format.h"
#include "transport/tls_context.h"

namespace berth::transport {
namespace {

constexpr int kSerialBytes = 16;
constexpr long kVersion3 = 2;

template <auto Free>
struct Deleter {
  template <class T>
  void operator()(T* value) const {
    Free(value);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Deleter<X509_free>>;
using Bio = std::unique_ptr<BIO, Deleter<BIO_free_all>>;
using Address = std::unique_ptr<ASN1_OCTET_STRING, Deleter<ASN1_OCTET_STRING_free>>;
using Names = std::unique_ptr<GENERAL_NAMES, Deleter<GENERAL_NAMES_free>>;

absl::Status Failed(const char* what) {
  return absl::InternalError(absl::StrFormat("cannot %s: %s", what, TakeOpenSslError()));
}

std::string TextOf(BIO* bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  return {bytes, static_cast<size_t>(size)};
}

Certificate ParseCertificate(const std::string& pem) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  Certificate certificate(PEM_read_bio_X509(bio.get(), nullptr, GiveNoPassphrase, nullptr));
  ERR_clear_error();
  return certificate;
}

Key ParseKey(const std::string& pem) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, GiveNoPassphrase, nullptr));
  ERR_clear_error();
  return key;
}

bool AddExtension(X509* certificate, X509* issuer, int kind, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value);
  if (extension == nullptr) return false;
  const bool added = X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

Address ParseAddress(const std::string& name) {
  Address address(a2i_IPADDRESS(name.c_str()));
  ERR_clear_error();
  return address;
}

// Not by the text form of an extension, in which a name could add further ones.
bool AddNames(X509* certificate, const std::vector<std::string>& names) {
  const Names all(GENERAL_NAMES_new());
  for (const std::string& name : names) {
    GENERAL_NAME* entry = GENERAL_NAME_new();
    if (Address address = ParseAddress(name)) {
      GENERAL_NAME_set0_value(entry, GEN_IPADD, address.release());
    } else {
      ASN1_IA5STRING* text = ASN1_IA5STRING_new();
      ASN1_STRING_set(text, name.data(), static_cast<int>(name.size()));
      GENERAL_NAME_set0_value(entry, GEN_DNS, text);
    }
    sk_GENERAL_NAME_push(all.get(), entry);
  }
  return X509_add1_ext_i2d(certificate, NID_subject_alt_name, all.get(), 0, X509V3_ADD_DEFAULT) ==
         1;
}

bool SetSerial(X509* certificate) {
  unsigned char bytes[kSerialBytes];
  if (RAND_bytes(bytes, sizeof(bytes)) != 1) return false;
  bytes[0] &= 0x7F;  // positive
  BIGNUM* number = BN_bin2bn(bytes, sizeof(bytes), nullptr);
  const bool set = number != nullptr &&
                   BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nullptr;
  BN_free(number);
  return set;
}

bool SetCommonName(X509* certificate, const std::string& name) {
  // Longer ones do not fit the field; what counts is the list of names.
  const std::string fitting = name.substr(0, ub_common_name);
  return X509_NAME_add_entry_by_NID(X509_get_subject_name(certificate), NID_commonName,
                                    MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(fitting.data()),
                                    static_cast<int>(fitting.size()), -1, 0) == 1;
}

bool SetValidity(X509* certificate, Validity validity) {
  return ASN1_TIME_set(X509_getm_notBefore(certificate), absl::ToTimeT(validity.from)) != nullptr &&
         ASN1_TIME_set(X509_getm_notAfter(certificate), absl::ToTimeT(validity.until)) != nullptr;
}

// All but its extensions and its signature.
Certificate Begin(EVP_PKEY* key, const std::string& common_name, Validity validity) {
  Certificate certificate(X509_new());
  const bool done = certificate != nullptr && X509_set_version(certificate.get(), kVersion3) == 1 &&
                    SetSerial(certificate.get()) && SetCommonName(certificate.get(), common_name) &&
                    SetValidity(certificate.get(), validity) &&
                    X509_set_pubkey(certificate.get(), key) == 1;
  return done ? std::move(certificate) : nullptr;
}

absl::StatusOr<KeyAndCertificate> ToPem(EVP_PKEY* key, X509* certificate) {
  const Bio key_text(BIO_new(BIO_s_mem()));
  const Bio certificate_text(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_PKCS8PrivateKey(key_text.get(), key, nullptr, nullptr, 0, nullptr, nullptr) !=
          1 ||
      PEM_write_bio_X509(certificate_text.get(), certificate) != 1) {
    return Failed("write a certificate as PEM");
  }
  return KeyAndCertificate{.key = TextOf(key_text.get()),
                           .certificate = TextOf(certificate_text.get())};
}

}  // namespace

absl::StatusOr<KeyAndCertificate> MakeAuthority(const std::string& common_name, Validity validity) {
  ERR_clear_error();
  const Key key(EVP_EC_gen("P-256"));
  if (key == nullptr) return Failed("make a key");
  const Certificate certificate = Begin(key.get(), common_name, validity);
  if (certificate == nullptr) return Failed("make a certificate");
  X509* const x509 = certificate.get();
  const bool done = X509_set_issuer_name(x509, X509_get_subject_name(x509)) == 1 &&
                    AddExtension(x509, x509, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
                    AddExtension(x509, x509, NID_key_usage, "critical,keyCertSign,cRLSign") &&
                    AddExtension(x509, x509, NID_subject_key_identifier, "hash") &&
                    AddExtension(x509, x509, NID_authority_key_identifier, "keyid:always") &&
                    X509_sign(x509, key.get(), EVP_sha256()) != 0;
  if (!done) return Failed("make a certificate");
  return ToPem(key.get(), x509);
}

absl::StatusOr<KeyAndCertificate> MakeServerCertificate(const KeyAndCertificate& authority,
                                                        const std::vector<std::string>& names,
                                                        Validity validity) {
  ERR_clear_error();
  if (names.empty()) return absl::InvalidArgumentError("a certificate needs a name");
  const Certificate issuer = ParseCertificate(authority.certificate);
  const Key issuer_key = ParseKey(authority.key);
  if (issuer == nullptr || issuer_key == nullptr ||
      X509_check_private_key(issuer.get(), issuer_key.get()) != 1) {
    ERR_clear_error();
    return absl::InvalidArgumentError("the authority's certificate and key do not belong together");
  }
  const Key key(EVP_EC_gen("P-256"));
  if (key == nullptr) return Failed("make a key");
  const Certificate certificate = Begin(key.get(), names.front(), validity);
  if (certificate == nullptr) return Failed("make a certificate");
  X509* const x509 = certificate.get();
  const bool done =
      X509_set_issuer_name(x509, X509_get_subject_name(issuer.get())) == 1 &&
      AddExtension(x509, issuer.get(), NID_basic_constraints, "critical,CA:FALSE") &&
      AddExtension(x509, issuer.get(), NID_key_usage, "critical,digitalSignature") &&
      AddExtension(x509, issuer.get(), NID_ext_key_usage, "serverAuth") &&
      AddExtension(x509, issuer.get(), NID_subject_key_identifier, "hash") &&
      AddExtension(x509, issuer.get(), NID_authority_key_identifier, "keyid:always") &&
      AddNames(x509, names) && X509_sign(x509, issuer_key.get(), EVP_sha256()) != 0;
  if (!done) return Failed("make a certificate");
  return ToPem(key.get(), x509);
}

absl::StatusOr<CertificateFacts> ReadCertificate(const std::string& pem) {
  const Certificate certificate = ParseCertificate(pem);
  if (certificate == nullptr) return absl::InvalidArgumentError("there is no certificate in PEM");
  CertificateFacts facts;
  const std::optional<absl::Time> until = EndOf(X509_get0_notAfter(certificate.get()));
  if (!until) return absl::InvalidArgumentError("the certificate's end cannot be read");
  facts.until = *until;
  char name[256] = "";
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate.get()), NID_commonName, name,
                            sizeof(name));
  facts.subject = name;
  ERR_clear_error();
  return facts;
}

bool IsSignedBy(const std::string& pem, const std::string& authority_pem) {
  const Certificate certificate = ParseCertificate(pem);
  const Certificate authority = ParseCertificate(authority_pem);
  if (certificate == nullptr || authority == nullptr) return false;
  const bool is = X509_verify(certificate.get(), X509_get0_pubkey(authority.get())) == 1;
  ERR_clear_error();
  return is;
}

bool IsFor(const std::string& pem, const std::vector<std::string>& names) {
  const Certificate certificate = ParseCertificate(pem);
  if (certificate == nullptr) return false;
  for (const std::string& name : names) {
    const bool listed = ParseAddress(name) != nullptr
                            ? X509_check_ip_asc(certificate.get(), name.c_str(), 0) == 1
                            : X509_check_host(certificate.get(), name.data(), name.size(),
                                              X509_CHECK_FLAG_NEVER_CHECK_SUBJECT, nullptr) == 1;
    if (!listed) return false;
  }
  ERR_clear_error();
  return true;
}

}  // namespace berth::transport
