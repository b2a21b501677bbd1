#include "model/ids.h"

#include "absl/strings/str_format.h"

namespace berth::model {

std::string RandomIdSource::NewHex32() {
  const uint64_t high = rng_.Next();
  const uint64_t low = rng_.Next();
  return absl::StrFormat("%016x%016x", high, low);
}

// RFC 4122, version 4: all random but for the version and variant bits.
std::string RandomIdSource::NewUuid() {
  const uint64_t high = (rng_.Next() & ~uint64_t{0xF000}) | 0x4000;
  const uint64_t low = (rng_.Next() & ~(uint64_t{0b11} << 62)) | (uint64_t{0b10} << 62);
  return absl::StrFormat("%08x-%04x-%04x-%04x-%012x", high >> 32, (high >> 16) & 0xFFFF,
                         high & 0xFFFF, low >> 48, low & 0xFFFFFFFFFFFF);
}

}  // namespace berth::model
