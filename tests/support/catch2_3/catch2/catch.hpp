// Catch2 3 (Ubuntu 24.04) under the name of Catch2 2 (Debian 12), which is what the tests include.
// tests/CMakeLists.txt puts this folder on the include path only where Catch2 3 was found.
#pragma once

#include <string>

#include <catch2/catch_all.hpp>

namespace Catch {

inline auto Contains(const std::string& text) { return Matchers::ContainsSubstring(text); }
using Matchers::EndsWith;
using Matchers::StartsWith;

}  // namespace Catch

using Catch::Approx;
