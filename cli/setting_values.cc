#include "cli/setting_values.h"

#include <charconv>
#include <optional>
#include <string_view>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <rapidjson/document.h>

namespace berth::cli {
namespace {

constexpr int64_t kPortMax = 65535;

std::optional<int64_t> ParseInteger(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int64_t> ParsePort(std::string_view text) {
  const std::optional<int64_t> port = ParseInteger(text);
  if (!port || *port < 0 || *port > kPortMax) return std::nullopt;
  return port;
}

std::vector<std::string_view> SplitAtCommas(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return parts;
}

}  // namespace

ListenAddress ParseListenAddress(const std::string& setting, const std::string& text) {
  const auto wrong = [&](std::string_view why) {
    return UsageError(
        fmt::format("{}: '{}' {}; give HOST:PORT, such as 127.0.0.1:8080", setting, text, why));
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) throw wrong("has no port");

  ListenAddress address;
  address.host = text.substr(0, colon);
  const std::optional<int64_t> port = ParsePort(std::string_view(text).substr(colon + 1));
  if (!port) throw wrong("has no port between 0 and 65535");
  address.port = static_cast<uint16_t>(*port);

  if (address.host == "localhost") address.host = "127.0.0.1";
  if (address.host.size() > 2 && address.host.front() == '[' && address.host.back() == ']') {
    address.host = address.host.substr(1, address.host.size() - 2);
  }
  in_addr v4{};
  in6_addr v6{};
  const bool is_v4 = inet_pton(AF_INET, address.host.c_str(), &v4) == 1;
  if (!is_v4 && inet_pton(AF_INET6, address.host.c_str(), &v6) != 1) {
    throw wrong("names no numeric address of this machine");
  }
  address.any = is_v4 ? v4.s_addr == INADDR_ANY : IN6_IS_ADDR_UNSPECIFIED(&v6);
  address.loopback = is_v4 ? (ntohl(v4.s_addr) >> 24) == 127 : IN6_IS_ADDR_LOOPBACK(&v6);
  return address;
}

absl::Duration ParseDuration(const std::string& setting, const std::string& text,
                             absl::Duration least) {
  absl::Duration duration;
  if (!absl::ParseDuration(text, &duration) || duration < least) {
    throw UsageError(fmt::format("{}: '{}' is not a duration of {} or more, such as 30s or 1h30m",
                                 setting, text, absl::FormatDuration(least)));
  }
  return duration;
}

std::vector<int64_t> ParsePorts(const std::string& setting, const std::string& text) {
  const UsageError wrong(fmt::format(
      "{}: '{}' is not a list of ports between 0 and 65535, such as [22, 8080] or 22,8080", setting,
      text));
  std::vector<int64_t> ports;
  if (text.empty() || text.front() != '[') {
    for (const std::string_view part : SplitAtCommas(text)) {
      const std::optional<int64_t> port = ParsePort(part);
      if (!port) throw wrong;
      ports.push_back(*port);
    }
    return ports;
  }

  rapidjson::Document json;
  json.Parse(text);
  if (json.HasParseError() || !json.IsArray()) throw wrong;
  for (const auto& entry : json.GetArray()) {
    // The official agent takes numbers and strings alike.
    const std::optional<int64_t> port = entry.IsString() ? ParsePort(entry.GetString())
                                        : entry.IsInt()  ? std::optional<int64_t>(entry.GetInt())
                                                         : std::nullopt;
    if (!port || *port < 0 || *port > kPortMax) throw wrong;
    ports.push_back(*port);
  }
  return ports;
}

std::map<std::string, std::string> ParseNamedValues(const std::string& setting,
                                                    const std::string& text) {
  const UsageError wrong(
      fmt::format("{}: '{}' gives no names with values; write {{\"rack\":\"a\"}} or rack=a,tier=1",
                  setting, text));
  std::map<std::string, std::string> values;
  if (text.empty() || text.front() != '{') {
    for (const std::string_view part : SplitAtCommas(text)) {
      const size_t equals = part.find('=');
      if (equals == std::string_view::npos || equals == 0) throw wrong;
      values[std::string(part.substr(0, equals))] = part.substr(equals + 1);
    }
    return values;
  }

  rapidjson::Document json;
  json.Parse(text);
  if (json.HasParseError() || !json.IsObject()) throw wrong;
  for (const auto& member : json.GetObject()) {
    if (!member.value.IsString()) throw wrong;
    values[member.name.GetString()] = member.value.GetString();
  }
  return values;
}

api::ThrottleLimits ParseThrottle(const std::string& setting, const std::string& text) {
  constexpr std::string_view kOff = "off";
  const UsageError wrong(fmt::format(
      "{}: '{}' is neither off nor a list such as mutate=1000:2000,read=off, of calls per second "
      "and at once for mutate, read and agent",
      setting, text));
  api::ThrottleLimits limits;
  if (text.empty()) return limits;
  if (text == kOff) {
    limits.rates = {};
    return limits;
  }
  std::map<std::string, std::string> values;
  try {
    values = ParseNamedValues(setting, text);
  } catch (const UsageError&) {
    throw wrong;  // Whose example is of such limits.
  }
  for (const auto& [name, value] : values) {
    std::optional<size_t> index;
    for (size_t i = 0; i < api::kCallClasses; ++i) {
      if (name == api::ToString(static_cast<api::CallClass>(i))) index = i;
    }
    if (!index) throw wrong;
    if (value == kOff) {
      limits.rates[*index] = {};
      continue;
    }
    const size_t colon = value.find(':');
    const std::optional<int64_t> rate = ParseInteger(std::string_view(value).substr(0, colon));
    if (!rate || *rate < 1) throw wrong;
    const std::optional<int64_t> burst =
        colon == std::string::npos ? 2 * *rate
                                   : ParseInteger(std::string_view(value).substr(colon + 1));
    if (!burst || *burst < 1) throw wrong;
    limits.rates[*index] = {.per_second = static_cast<double>(*rate),
                            .burst = static_cast<double>(*burst)};
  }
  return limits;
}

// DOCKER_HOST has a scheme; a path has none.
std::string ParseSocketPath(const std::string& text) {
  constexpr std::string_view kUnix = "unix://";
  if (text.starts_with(kUnix)) return text.substr(kUnix.size());
  if (text.starts_with("/")) return text;
  throw UsageError(fmt::format(
      "--docker-socket: '{}' is no unix socket; give a path such as /var/run/docker.sock", text));
}

}  // namespace berth::cli
