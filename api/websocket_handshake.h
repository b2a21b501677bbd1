// A request to become a websocket, with the connection that it came on. Apart from http_handler.h
// because Beast is slow to compile.
#pragma once

#include <utility>

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include "api/net.h"
#include "transport/stream.h"

namespace berth::api {

struct WebsocketHandshake {
  transport::Stream stream;
  const boost::beast::http::request<boost::beast::http::string_body>& request;
};

}  // namespace berth::api
