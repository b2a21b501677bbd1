#pragma once

#include <string>
#include <string_view>

namespace berth::api {

// 64 lower-case hex digits.
std::string Sha256Hex(std::string_view text);

}  // namespace berth::api
