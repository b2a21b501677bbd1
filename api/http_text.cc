#include "api/http_text.h"

#include <random>

#include <fmt/format.h>

#include "api/json_writer.h"

namespace berth::api {
namespace {

const char* Reason(unsigned status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 417:
      return "Expectation Failed";
    case 426:
      return "Upgrade Required";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    default:
      return status < 500 ? "Error" : "Server Error";
  }
}

}  // namespace

HttpResponse ErrorResponse(unsigned status, std::string_view type, std::string_view message) {
  JsonWriter json;
  json.BeginObject();
  json.String("__type", type);
  json.String("message", message);
  json.EndObject();
  return {.status = status, .error_type = std::string(type), .body = json.Take()};
}

std::string FormatResponseHead(const HttpResponse& response, const ResponseFraming& framing) {
  std::string head = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nDate: {}\r\n"
      "x-amzn-RequestId: {}\r\n",
      response.status, Reason(response.status), response.content_type, response.body.size(),
      absl::FormatTime("%a, %d %b %Y %H:%M:%S GMT", framing.date, absl::UTCTimeZone()),
      framing.request_id);
  if (!response.error_type.empty()) head += "x-amzn-ErrorType: " + response.error_type + "\r\n";
  if (!response.allow.empty()) head += "Allow: " + response.allow + "\r\n";
  if (response.status == 426) {
    head += "Upgrade: websocket\r\nConnection: Upgrade\r\n";
  } else if (!framing.keep_alive) {
    head += "Connection: close\r\n";
  } else if (framing.http_1_0) {
    head += "Connection: keep-alive\r\n";
  }
  head += "\r\n";
  return head;
}

std::string NewRequestId() {
  // Not a secret: it only has to differ.
  thread_local std::mt19937_64 random{[] {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }()};
  const uint64_t high = (random() & ~uint64_t{0xF000}) | 0x4000;
  const uint64_t low = (random() & ~(uint64_t{3} << 62)) | (uint64_t{2} << 62);
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xFFFF,
                     high & 0xFFFF, low >> 48, low & 0xFFFFFFFFFFFF);
}

}  // namespace berth::api
