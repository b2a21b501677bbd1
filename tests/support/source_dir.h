// Where this repository lies, for tests that read files of it. Not __FILE__, which may be relative
// to wherever the compiler ran.
#pragma once

#include <filesystem>

namespace berth::testing {

std::filesystem::path SourceDir();

}  // namespace berth::testing
