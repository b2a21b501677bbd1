// FNV-1a with 64 bits: a check sum of decisions that other programs can make too.
#pragma once

#include <cstdint>
#include <string_view>

namespace berth::simulator {

class Fnv {
 public:
  void Add(std::string_view text) {
    for (const char c : text) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  }
  uint64_t hash() const { return hash_; }

 private:
  uint64_t hash_ = 14695981039346656037ULL;
};

}  // namespace berth::simulator
