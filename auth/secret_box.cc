#include "auth/secret_box.h"

#include <memory>
#include <utility>

#include <openssl/evp.h>
#include <openssl/rand.h>

#include "absl/strings/str_format.h"
#include "auth/hmac.h"
#include "auth/private_file.h"
#include "model/check.h"

namespace berth::auth {
namespace {

constexpr std::string_view kVersion = "v1:";
constexpr size_t kNonceBytes = 12;
constexpr size_t kTagBytes = 16;

using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

unsigned char* Bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }
const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string RandomBytes(size_t count) {
  std::string bytes(count, '\0');
  BERTH_CHECK(RAND_bytes(Bytes(bytes), static_cast<int>(count)) == 1);
  return bytes;
}

std::optional<std::string> FromHex(std::string_view hex) {
  if (hex.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(hex.size() / 2);
  int high = 0;
  for (size_t i = 0; i < hex.size(); ++i) {
    const char c = hex[i];
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) return std::nullopt;
    if (i % 2 == 0) {
      high = digit;
    } else {
      bytes += static_cast<char>(high * 16 + digit);
    }
  }
  return bytes;
}

}  // namespace

SecretBox::SecretBox(std::string key) : key_(std::move(key)) {
  BERTH_CHECK(key_.size() == kKeyBytes);
}

std::string SecretBox::Seal(std::string_view secret, std::string_view owner) const {
  const std::string nonce = RandomBytes(kNonceBytes);
  std::string sealed(secret.size(), '\0');
  std::string tag(kTagBytes, '\0');
  const CipherContext context(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
  int size = 0;
  const bool done =
      context != nullptr &&
      EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, Bytes(std::string_view(key_)),
                         Bytes(std::string_view(nonce))) == 1 &&
      EVP_EncryptUpdate(context.get(), nullptr, &size, Bytes(owner),
                        static_cast<int>(owner.size())) == 1 &&
      EVP_EncryptUpdate(context.get(), Bytes(sealed), &size, Bytes(secret),
                        static_cast<int>(secret.size())) == 1 &&
      EVP_EncryptFinal_ex(context.get(), Bytes(sealed) + size, &size) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes, tag.data()) == 1;
  BERTH_CHECK(done);
  return std::string(kVersion) + ToHex(nonce + sealed + tag);
}

std::optional<std::string> SecretBox::Open(std::string_view sealed, std::string_view owner) const {
  if (!sealed.starts_with(kVersion)) return std::nullopt;
  const std::optional<std::string> bytes = FromHex(sealed.substr(kVersion.size()));
  if (!bytes || bytes->size() < kNonceBytes + kTagBytes) return std::nullopt;
  const std::string_view all = *bytes;
  const std::string_view nonce = all.substr(0, kNonceBytes);
  const std::string_view text = all.substr(kNonceBytes, all.size() - kNonceBytes - kTagBytes);
  std::string tag(all.substr(all.size() - kTagBytes));

  std::string secret(text.size(), '\0');
  const CipherContext context(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
  int size = 0;
  const bool done =
      context != nullptr &&
      EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, Bytes(std::string_view(key_)),
                         Bytes(nonce)) == 1 &&
      EVP_DecryptUpdate(context.get(), nullptr, &size, Bytes(owner),
                        static_cast<int>(owner.size())) == 1 &&
      EVP_DecryptUpdate(context.get(), Bytes(secret), &size, Bytes(text),
                        static_cast<int>(text.size())) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, tag.data()) == 1 &&
      EVP_DecryptFinal_ex(context.get(), Bytes(secret) + size, &size) == 1;
  if (!done) return std::nullopt;
  return secret;
}

absl::StatusOr<SecretBox> LoadSecretBox(const std::string& path, bool may_make) {
  absl::StatusOr<std::optional<std::string>> found =
      ReadPrivateFile(path, 2 * SecretBox::kKeyBytes + 1);
  if (!found.ok()) return found.status();
  if (!found->has_value()) {
    if (!may_make) {
      return absl::FailedPreconditionError(absl::StrFormat(
          "%s is missing, and without it the secrets of the access keys in the database cannot be "
          "opened; put it back from where it was backed up",
          path));
    }
    std::string key = RandomBytes(SecretBox::kKeyBytes);
    if (absl::Status status = WritePrivateFile(path, ToHex(key) + "\n"); !status.ok()) {
      return status;
    }
    return SecretBox(std::move(key));
  }
  std::string_view text = **found;
  if (text.ends_with('\n')) text.remove_suffix(1);
  std::optional<std::string> key = FromHex(text);
  if (!key || key->size() != SecretBox::kKeyBytes) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "%s does not hold 64 hexadecimal digits; put it back from where it was backed up", path));
  }
  return SecretBox(*std::move(key));
}

}  // namespace berth::auth
