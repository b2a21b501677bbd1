// Certificates of a test's own, in a folder of its own.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/time/clock.h"
#include "tests/agent/agent_under_test.h"
#include "transport/certificates.h"
#include "transport/tls.h"

namespace berth::agent::testing {

struct TlsTerms {
  std::vector<std::string> names = {"localhost", "127.0.0.1"};
  absl::Duration left = absl::Hours(24);  // negative: it has ended
};

class TlsFiles {
 public:
  explicit TlsFiles(const TlsTerms& terms = {}) {
    const absl::Time now = absl::Now();
    const transport::Validity long_ones{now - absl::Hours(48), now + absl::Hours(48)};
    const auto authority = transport::MakeAuthority("authority", long_ones);
    const auto other = transport::MakeAuthority("another", long_ones);
    REQUIRE(authority.ok());
    REQUIRE(other.ok());
    const auto made = transport::MakeServerCertificate(*authority, terms.names,
                                                       {now - absl::Hours(48), now + terms.left});
    REQUIRE(made.ok());
    ca = Write("ca.pem", authority->certificate);
    other_ca = Write("other-ca.pem", other->certificate);
    const auto context = transport::MakeServerTls(Write("server.pem", made->certificate),
                                                  Write("server-key.pem", made->key));
    REQUIRE(context.ok());
    server = *context;
  }

  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = folder_.path() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }

  std::string ca;        // the path of the authority's certificate
  std::string other_ca;  // of one that signed nothing
  transport::TlsContextPtr server;

 private:
  TempDir folder_;
};

}  // namespace berth::agent::testing
