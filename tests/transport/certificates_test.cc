// Certificates of our own: who signed them, whom they are for, how long they last, and the files.
#include "transport/certificates.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include <catch2/catch.hpp>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include "tests/transport/temp_folder.h"
#include "transport/self_signed.h"
#include "transport/tls.h"
#include "transport/tls_context.h"

namespace berth::transport {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);
const Validity kYear{.from = kNow, .until = kNow + absl::Hours(24 * 365)};

KeyAndCertificate Authority() {
  auto made = MakeAuthority("test authority", kYear);
  REQUIRE(made.ok());
  return *made;
}

std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

mode_t ModeOf(const std::string& path) {
  struct stat file {};
  REQUIRE(::stat(path.c_str(), &file) == 0);
  return file.st_mode & 0777;
}

TEST_CASE("a certificate is for the names that it was made for, and for no others",
          "[certificates]") {
  const auto server =
      MakeServerCertificate(Authority(), {"berth.example", "127.0.0.1", "::1", "host:8443"}, kYear);
  REQUIRE(server.ok());

  CHECK(IsFor(server->certificate, {"berth.example", "127.0.0.1", "::1"}));
  CHECK(IsFor(server->certificate, {"host:8443"}));
  CHECK_FALSE(IsFor(server->certificate, {"berth.example", "other.example"}));
  CHECK_FALSE(IsFor(server->certificate, {"127.0.0.2"}));
  CHECK_FALSE(IsFor(server->certificate, {"sub.berth.example"}));
}

TEST_CASE("a name cannot smuggle further names into a certificate", "[certificates]") {
  const auto server = MakeServerCertificate(Authority(), {"a.example,DNS:b.example"}, kYear);
  REQUIRE(server.ok());

  CHECK_FALSE(IsFor(server->certificate, {"b.example"}));
}

TEST_CASE("a certificate is signed by its authority alone", "[certificates]") {
  const KeyAndCertificate authority = Authority();
  const auto server = MakeServerCertificate(authority, {"localhost"}, kYear);
  REQUIRE(server.ok());

  CHECK(IsSignedBy(server->certificate, authority.certificate));
  CHECK_FALSE(IsSignedBy(server->certificate, Authority().certificate));
}

TEST_CASE("a certificate says when it ends", "[certificates]") {
  const auto server = MakeServerCertificate(Authority(), {"localhost"}, kYear);
  REQUIRE(server.ok());

  const auto facts = ReadCertificate(server->certificate);

  REQUIRE(facts.ok());
  CHECK(facts->until == kYear.until);
  CHECK(facts->subject == "localhost");
}

TEST_CASE("an authority's certificate with another's key signs nothing", "[certificates]") {
  KeyAndCertificate mixed = Authority();
  mixed.key = Authority().key;

  const auto server = MakeServerCertificate(mixed, {"localhost"}, kYear);

  CHECK(server.status().message() == "the authority's certificate and key do not belong together");
}

TEST_CASE("the first start makes four files, of which the keys are for their owner alone",
          "[certificates]") {
  const TempFolder folder;
  const auto made = EnsureSelfSigned(folder.path(), {"localhost"}, kNow);
  REQUIRE(made.ok());

  const SelfSignedFiles files = SelfSignedFilesIn(folder.path());
  CHECK(*made);
  CHECK(ModeOf(files.ca) == 0644);
  CHECK(ModeOf(files.ca_key) == 0600);
  CHECK(ModeOf(files.certificate) == 0644);
  CHECK(ModeOf(files.key) == 0600);
  CHECK(IsSignedBy(ReadAll(files.certificate), ReadAll(files.ca)));
  CHECK(MakeServerTls(files.certificate, files.key).ok());
  CHECK(MakeClientTls(files.ca).ok());
}

TEST_CASE("what has to be made anew, and what stays", "[certificates]") {
  struct Case {
    std::string why;
    absl::Duration later;
    std::vector<std::string> names;
    std::string removed;
    bool made;
    bool same_authority;
  };
  const auto c = GENERATE(values<Case>({
      {"the same again", absl::Hours(1), {"localhost"}, "", false, true},
      {"31 days are left", absl::Hours(24 * 334), {"localhost"}, "", false, true},
      {"29 days are left", absl::Hours(24 * 336), {"localhost"}, "", true, true},
      {"it has ended", absl::Hours(24 * 400), {"localhost"}, "", true, true},
      {"a name is new", absl::Hours(1), {"localhost", "10.0.0.1"}, "", true, true},
      {"its key is gone", absl::Hours(1), {"localhost"}, "server-key.pem", true, true},
      {"it is gone", absl::Hours(1), {"localhost"}, "server.pem", true, true},
      {"the authority is gone", absl::Hours(1), {"localhost"}, "ca.pem", true, false},
      {"the authority is near its end", absl::Hours(24 * 3640), {"localhost"}, "", true, false},
      {"the authority's key is gone, and not needed yet",
       absl::Hours(1),
       {"localhost"},
       "ca-key.pem",
       false,
       true},
  }));
  INFO(c.why);
  const TempFolder folder;
  REQUIRE(EnsureSelfSigned(folder.path(), {"localhost"}, kNow).ok());
  const SelfSignedFiles files = SelfSignedFilesIn(folder.path());
  const std::string ca = ReadAll(files.ca);
  if (!c.removed.empty()) std::filesystem::remove(folder.path() + "/" + c.removed);

  const auto made = EnsureSelfSigned(folder.path(), c.names, kNow + c.later);

  REQUIRE(made.ok());
  CHECK(*made == c.made);
  CHECK((ReadAll(files.ca) == ca) == c.same_authority);
  CHECK(IsSignedBy(ReadAll(files.certificate), ReadAll(files.ca)));
  CHECK(IsFor(ReadAll(files.certificate), c.names));
  CHECK(MakeServerTls(files.certificate, files.key).ok());
}

TEST_CASE("without the authority's key a renewal says which file is missing", "[certificates]") {
  const TempFolder folder;
  REQUIRE(EnsureSelfSigned(folder.path(), {"localhost"}, kNow).ok());
  std::filesystem::remove(folder.path() + "/ca-key.pem");

  const auto made = EnsureSelfSigned(folder.path(), {"localhost"}, kNow + absl::Hours(24 * 360));

  CHECK(made.status().code() == absl::StatusCode::kFailedPrecondition);
  CHECK(std::string(made.status().message()).find("ca-key.pem") != std::string::npos);
}

TEST_CASE("a folder that cannot be written says so", "[certificates]") {
  const auto made = EnsureSelfSigned("/proc/no-such-folder", {"localhost"}, kNow);

  CHECK(std::string(made.status().message()).find("cannot make /proc/no-such-folder/ca-key.pem") !=
        std::string::npos);
}

TEST_CASE(
    "the names of a self-signed certificate: loopback, this machine, the given ones, once each",
    "[certificates]") {
  const std::vector<std::string> names = SelfSignedNames({"berth.example", "127.0.0.1", ""});

  const auto count = [&](const std::string& name) {
    return std::count(names.begin(), names.end(), name);
  };
  CHECK(count("localhost") == 1);
  CHECK(count("127.0.0.1") == 1);
  CHECK(count("::1") == 1);
  CHECK(count("berth.example") == 1);
  CHECK(count("") == 0);
}

TEST_CASE("files that are no certificate, no key, or not a pair are refused by name",
          "[certificates]") {
  const TempFolder folder;
  const KeyAndCertificate authority = Authority();
  const auto a = MakeServerCertificate(authority, {"localhost"}, kYear);
  const auto b = MakeServerCertificate(authority, {"localhost"}, kYear);
  REQUIRE(a.ok());
  REQUIRE(b.ok());
  const std::string certificate = folder.Write("a.pem", a->certificate);
  const std::string other_key = folder.Write("b-key.pem", b->key);
  const std::string garbage = folder.Write("garbage.pem", "not PEM");

  const auto message = [](const auto& result) { return std::string(result.status().message()); };
  CHECK(message(MakeServerTls(garbage, other_key)).find(garbage + " has no certificate in PEM") ==
        0);
  CHECK(message(MakeServerTls(certificate, garbage)).find(garbage + " has no key in PEM") == 0);
  CHECK_FALSE(MakeServerTls(certificate, other_key).ok());
  CHECK(message(MakeClientTls(garbage)).find(garbage + " has no certificate in PEM") == 0);
  const std::string absent = folder.path() + "/absent.pem";
  const std::string why = "cannot read " + absent + ": No such file or directory";
  CHECK(message(MakeClientTls(absent)) == why);
  CHECK(message(MakeServerTls(absent, other_key)) == why);
  CHECK(message(MakeServerTls(certificate, absent)) == why);
  CHECK(message(MakeServerTls(certificate, folder.path())) ==
        "cannot read " + folder.path() + ": Is a directory");
}

// As `openssl req -x509 -newkey rsa:BITS` makes it. The key is in a file too, encrypted.
KeyAndCertificate Rsa(int bits, const char* passphrase) {
  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_RSA_gen(static_cast<unsigned>(bits)),
                                                          EVP_PKEY_free);
  std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), X509_free);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key.get());
  X509_sign(certificate.get(), key.get(), EVP_sha256());
  const auto text = [](const auto& write) {
    std::unique_ptr<BIO, decltype(&BIO_free_all)> bio(BIO_new(BIO_s_mem()), BIO_free_all);
    REQUIRE(write(bio.get()) == 1);
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(bio.get(), &bytes);
    return std::string(bytes, static_cast<size_t>(size));
  };
  return {
      .key = text([&](BIO* bio) {
        return PEM_write_bio_PKCS8PrivateKey(bio, key.get(), EVP_aes_128_cbc(), passphrase,
                                             static_cast<int>(std::strlen(passphrase)), nullptr,
                                             nullptr);
      }),
      .certificate = text([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate.get()); })};
}

TEST_CASE("a key with a passphrase is refused, and nobody is asked for it", "[certificates]") {
  const TempFolder folder;
  const KeyAndCertificate pair = Rsa(2048, "secret");
  const std::string certificate = folder.Write("server.pem", pair.certificate);
  const std::string key = folder.Write("server-key.pem", pair.key);

  const std::string why(MakeServerTls(certificate, key).status().message());

  CHECK_THAT(why, Catch::StartsWith("the key in " + key + " is encrypted with a passphrase") &&
                      Catch::Contains("openssl pkey -in " + key));
  // As an authority's, too.
  CHECK_FALSE(MakeServerCertificate(pair, {"localhost"}, kYear).ok());
}

TEST_CASE("a certificate with a key that is too short says so", "[certificates]") {
  const TempFolder folder;
  const KeyAndCertificate pair = Rsa(1024, "secret");
  const std::string certificate = folder.Write("server.pem", pair.certificate);

  const std::string why(MakeServerTls(certificate, certificate).status().message());

  CHECK_THAT(why, Catch::StartsWith("the certificate in " + certificate + " cannot be used") &&
                      Catch::Contains("2048 bits"));
}

TEST_CASE("all authorities of a file are trusted, whatever else is in it", "[certificates]") {
  const TempFolder folder;
  const KeyAndCertificate a = Authority();
  const KeyAndCertificate b = Authority();
  const std::string both =
      folder.Write("both.pem", a.key + a.certificate + "words\n" + b.certificate);

  const auto count = [](const absl::StatusOr<TlsContextPtr>& tls) {
    REQUIRE(tls.ok());
    const X509_STORE* trusted = SSL_CTX_get_cert_store((*tls)->ssl.native_handle());
    return sk_X509_OBJECT_num(X509_STORE_get0_objects(trusted));
  };
  CHECK(count(MakeClientTls(both)) == count(MakeClientTls("")) + 2);
}

}  // namespace
}  // namespace berth::transport
