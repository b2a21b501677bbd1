#include "transport/host_names.h"

#include <string>

#include <boost/asio/ip/address.hpp>

#include "absl/strings/match.h"

namespace berth::transport {

bool IsLoopback(std::string_view host) {
  const std::string text(host);
  if (absl::EqualsIgnoreCase(text, "localhost")) return true;
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(text, error);
  if (error) return false;
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, address.to_v6())
        .is_loopback();
  }
  return address.is_loopback();
}

std::string_view HostOf(std::string_view authority) {
  if (!authority.empty() && authority.front() == '[') {
    const size_t end = authority.find(']');
    return end == std::string_view::npos ? authority : authority.substr(1, end - 1);
  }
  const size_t colon = authority.find(':');
  // More than one colon: an IPv6 address without brackets.
  if (colon != authority.rfind(':')) return authority;
  return authority.substr(0, colon);
}

}  // namespace berth::transport
