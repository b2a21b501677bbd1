// A local Docker image for tests that run real containers, made without a registry.
#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/support/source_dir.h"

namespace berth::testing {

// What a shell command printed, without the last line end. Its exit status goes unseen.
inline std::string OutputOf(const std::string& command) {
  std::string output;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return output;
  std::array<char, 4096> piece;
  while (const size_t n = ::fread(piece.data(), 1, piece.size(), pipe)) {
    output.append(piece.data(), n);
  }
  ::pclose(pipe);
  while (!output.empty() && output.back() == '\n') output.pop_back();
  return output;
}

inline bool DockerAnswers() { return std::system("docker info >/dev/null 2>&1") == 0; }

// Makes the image if it is not there. False: it cannot be made, and standard error says why.
inline bool MakeBusyboxImage(const std::string& image) {
  const std::filesystem::path script = SourceDir() / "deploy/demo/make-image.sh";
  return std::system((script.string() + " " + image).c_str()) == 0;
}

}  // namespace berth::testing
