// One table per enum, read both ways: the enumerator and its ECS spelling.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "model/check.h"

namespace berth::model {

template <class Enum>
struct EnumEntry {
  Enum value;
  std::string_view name;
};

// Requires: the value is in the table. A table lists every enumerator; a test walks it.
template <class Enum, size_t N>
std::string_view NameOf(const EnumEntry<Enum> (&table)[N], Enum value) {
  for (const EnumEntry<Enum>& entry : table) {
    if (entry.value == value) return entry.name;
  }
  BERTH_CHECK(false && "an enumerator without a name");
}

template <class Enum, size_t N>
std::optional<Enum> ValueOf(const EnumEntry<Enum> (&table)[N], std::string_view name) {
  for (const EnumEntry<Enum>& entry : table) {
    if (entry.name == name) return entry.value;
  }
  return std::nullopt;
}

}  // namespace berth::model
