// Characters of UTF-8 text. What is not UTF-8 is no error here: each byte of it counts as a
// character of its own that equals no other.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace berth::model {

// Bytes that are not UTF-8 stand at and above this, beyond what Unicode has.
inline constexpr char32_t kStrayByte = 0x110000;
inline constexpr char32_t kCharacterMax = kStrayByte + 0xFF;

std::u32string DecodeUtf8(std::string_view text);
size_t CountCharacters(std::string_view text);
// The first `count` characters.
std::string_view FirstCharacters(std::string_view text, size_t count);

}  // namespace berth::model
