// Names of the network library that every file of transport/ uses.
#pragma once

#include <utility>

#include <boost/asio/awaitable.hpp>

namespace berth::transport {

namespace net = boost::asio;

}  // namespace berth::transport
