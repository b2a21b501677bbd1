#include "model/utf8.h"

#include <algorithm>
#include <cstdint>

namespace berth::model {
namespace {

// How many bytes the character takes that begins with this one; 0: none begins so.
size_t LengthFrom(uint8_t first) {
  if (first < 0x80) return 1;
  if (first < 0xC2) return 0;
  if (first < 0xE0) return 2;
  if (first < 0xF0) return 3;
  return first < 0xF5 ? 4 : 0;
}

struct Decoded {
  char32_t character = 0;
  size_t bytes = 1;
};

// Requires: `text` is not empty.
Decoded DecodeFirst(std::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<uint8_t>(text[i]); };
  const Decoded stray{.character = kStrayByte + byte(0), .bytes = 1};
  const size_t length = LengthFrom(byte(0));
  if (length == 1) return {.character = byte(0), .bytes = 1};
  if (length == 0 || length > text.size()) return stray;
  char32_t character = byte(0) & (0xFFu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0u) != 0x80) return stray;
    character = character << 6 | (byte(i) & 0x3Fu);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = character >= 0xD800 && character <= 0xDFFF;
  if (character < kLeast[length] || character > 0x10FFFF || is_surrogate) return stray;
  return {.character = character, .bytes = length};
}

}  // namespace

std::u32string DecodeUtf8(std::string_view text) {
  std::u32string characters;
  characters.reserve(text.size());
  while (!text.empty()) {
    const Decoded first = DecodeFirst(text);
    characters.push_back(first.character);
    text.remove_prefix(first.bytes);
  }
  return characters;
}

size_t CountCharacters(std::string_view text) {
  size_t count = 0;
  for (; !text.empty(); ++count) text.remove_prefix(DecodeFirst(text).bytes);
  return count;
}

std::string_view FirstCharacters(std::string_view text, size_t count) {
  std::string_view rest = text;
  for (; count > 0 && !rest.empty(); --count) rest.remove_prefix(DecodeFirst(rest).bytes);
  return text.substr(0, text.size() - rest.size());
}

}  // namespace berth::model
