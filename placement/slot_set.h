// A set of instance slots as bits. Inside placement/ only.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth::placement {

class SlotSet {
 public:
  SlotSet() = default;
  explicit SlotSet(size_t slots) : words_((slots + kBits - 1) / kBits) {}

  void Insert(int32_t slot) {
    const size_t word = static_cast<size_t>(slot) / kBits;
    if (word >= words_.size()) words_.resize(word + 1);
    words_[word] |= Bit(slot);
  }
  void Erase(int32_t slot) {
    const size_t word = static_cast<size_t>(slot) / kBits;
    if (word < words_.size()) words_[word] &= ~Bit(slot);
  }
  bool Contains(int32_t slot) const {
    const size_t word = static_cast<size_t>(slot) / kBits;
    return word < words_.size() && (words_[word] & Bit(slot)) != 0;
  }

  // Slots beyond the shorter set are in neither.
  SlotSet& operator|=(const SlotSet& other) {
    if (words_.size() < other.words_.size()) words_.resize(other.words_.size());
    for (size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
    return *this;
  }
  SlotSet& operator&=(const SlotSet& other) {
    if (words_.size() > other.words_.size()) words_.resize(other.words_.size());
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
    return *this;
  }
  SlotSet& operator-=(const SlotSet& other) {
    const size_t both = words_.size() < other.words_.size() ? words_.size() : other.words_.size();
    for (size_t i = 0; i < both; ++i) words_[i] &= ~other.words_[i];
    return *this;
  }

  // In ascending order.
  template <class Visit>
  void ForEach(Visit visit) const {
    for (size_t i = 0; i < words_.size(); ++i) {
      for (uint64_t word = words_[i]; word != 0; word &= word - 1) {
        visit(static_cast<int32_t>(i * kBits + std::countr_zero(word)));
      }
    }
  }
  int64_t Count() const {
    int64_t count = 0;
    for (const uint64_t word : words_) count += std::popcount(word);
    return count;
  }
  int64_t bytes() const { return static_cast<int64_t>(words_.capacity() * sizeof(uint64_t)); }

 private:
  static constexpr size_t kBits = 64;
  static uint64_t Bit(int32_t slot) { return uint64_t{1} << (static_cast<size_t>(slot) % kBits); }

  std::vector<uint64_t> words_;
};

}  // namespace berth::placement
