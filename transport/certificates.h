// Certificates that Berth makes itself: an authority, and server certificates that it signs. For
// who has no authority of his own; see self_signed.h for the files.
//
// Pure but for the keys' randomness: time comes in, PEM goes out. ECDSA on P-256, which a server
// signs with thirty times as fast as with RSA: a fleet that reconnects makes it sign for each
// agent.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace berth::transport {

struct KeyAndCertificate {
  std::string key = {};          // PEM, not encrypted
  std::string certificate = {};  // PEM
};

struct Validity {
  absl::Time from = absl::UnixEpoch();
  absl::Time until = absl::UnixEpoch();
};

// One that can sign server certificates and no further authorities.
absl::StatusOr<KeyAndCertificate> MakeAuthority(const std::string& common_name, Validity validity);

// For the names, each a host's name or a numeric address; the first is the common name too.
absl::StatusOr<KeyAndCertificate> MakeServerCertificate(const KeyAndCertificate& authority,
                                                        const std::vector<std::string>& names,
                                                        Validity validity);

// What a certificate in PEM says of itself.
struct CertificateFacts {
  std::string subject = {};  // the common name
  absl::Time until = absl::UnixEpoch();
};
absl::StatusOr<CertificateFacts> ReadCertificate(const std::string& pem);

// Whether the certificate is signed by the authority's, and is for each of the names.
bool IsSignedBy(const std::string& pem, const std::string& authority_pem);
bool IsFor(const std::string& pem, const std::vector<std::string>& names);

}  // namespace berth::transport
