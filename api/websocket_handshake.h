// A request to become a websocket, with the connection that it came on. Apart from http_handler.h
// because Beast is slow to compile.
#pragma once

#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include "api/net.h"

namespace berth::api {

struct WebsocketHandshake {
  net::ip::tcp::socket& socket;
  const boost::beast::http::request<boost::beast::http::string_body>& request;
};

}  // namespace berth::api
