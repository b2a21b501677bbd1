// Names of the network library that every file of api/ uses.
#pragma once

#include <utility>

#include <boost/asio/awaitable.hpp>

namespace berth::api {

namespace net = boost::asio;

}  // namespace berth::api
