// The two hashes that signatures are made of.
#pragma once

#include <string>
#include <string_view>

namespace berth::auth {

// 64 lower-case hex digits.
std::string Sha256Hex(std::string_view text);

// 32 bytes.
std::string HmacSha256(std::string_view key, std::string_view text);

std::string ToHex(std::string_view bytes);

// Takes as long wherever the two differ. Only their lengths show.
bool EqualInConstantTime(std::string_view a, std::string_view b);

}  // namespace berth::auth
