// Which names and addresses mean this machine itself.
#pragma once

#include <string_view>

namespace berth::transport {

// 127.0.0.0/8, ::1 with or without brackets, localhost.
bool IsLoopback(std::string_view host);

// A Host header's value without its port: "[::1]:8080" -> "::1".
std::string_view HostOf(std::string_view authority);

}  // namespace berth::transport
