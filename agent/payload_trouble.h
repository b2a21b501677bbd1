// What the decoding of a payload stops with, shared by the files that decode one. The first of each
// kind is kept; undecodable beats refused, since the server then knows that it sent nonsense.
#pragma once

#include <string>
#include <string_view>

#include "absl/strings/str_format.h"

namespace berth::agent {

struct Trouble {
  std::string undecodable = {};
  std::string refusal = {};
  bool any() const { return !undecodable.empty() || !refusal.empty(); }
};

inline void Undecodable(Trouble& trouble, std::string_view what) {
  // The official agent's own spelling; servers match on it.
  if (trouble.undecodable.empty()) {
    trouble.undecodable = absl::StrFormat("UnrecogniedTaskError: Error loading task - %s", what);
  }
}

inline void Refuse(Trouble& trouble, std::string_view what) {
  if (trouble.refusal.empty()) {
    trouble.refusal = absl::StrFormat("ResourceInitializationError: %s", what);
  }
}

inline void RefuseUnsupported(Trouble& trouble, std::string_view what) {
  Refuse(trouble, absl::StrFormat("%s is not supported by this version of Berth", what));
}

}  // namespace berth::agent
