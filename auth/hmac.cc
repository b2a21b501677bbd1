#include "auth/hmac.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include "model/check.h"

namespace berth::auth {
namespace {

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string ToHex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

std::string Sha256Hex(std::string_view text) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(Bytes(text), text.size(), digest);
  return ToHex({reinterpret_cast<const char*>(digest), sizeof(digest)});
}

std::string HmacSha256(std::string_view key, std::string_view text) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  unsigned int size = 0;
  const unsigned char* done = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                                   Bytes(text), text.size(), digest, &size);
  BERTH_CHECK(done != nullptr && size == sizeof(digest));
  return {reinterpret_cast<const char*>(digest), sizeof(digest)};
}

bool EqualInConstantTime(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace berth::auth
