#include "auth/new_key.h"

#include <string_view>

#include <openssl/rand.h>

#include "model/check.h"

namespace berth::auth {
namespace {

constexpr std::string_view kIdPrefix = "AKIA";
constexpr std::string_view kBase32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Both alphabets' sizes divide 256, so that each letter is as likely as any other.
std::string RandomText(std::string_view alphabet, size_t length) {
  std::string text(length, '\0');
  BERTH_CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(text.data()),
                         static_cast<int>(text.size())) == 1);
  for (char& c : text) c = alphabet[static_cast<unsigned char>(c) % alphabet.size()];
  return text;
}

}  // namespace

Credentials NewAccessKey() {
  return {.access_key_id =
              std::string(kIdPrefix) + RandomText(kBase32, kKeyIdLength - kIdPrefix.size()),
          .secret_access_key = RandomText(kBase64, kSecretLength)};
}

}  // namespace berth::auth
