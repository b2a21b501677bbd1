#include "cli/logging.h"

#include <memory>
#include <string_view>

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "absl/time/time.h"

namespace berth::cli {
namespace {

// spdlog's pattern for the message of a JSON line: the message escaped, quotes and all.
class JsonStringFlag : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& out) override {
    const auto append = [&out](std::string_view text) {
      out.append(text.data(), text.data() + text.size());
    };
    append("\"");
    for (const char c : std::string_view(message.payload.data(), message.payload.size())) {
      switch (c) {
        case '"':
          append("\\\"");
          break;
        case '\\':
          append("\\\\");
          break;
        case '\n':
          append("\\n");
          break;
        case '\r':
          append("\\r");
          break;
        case '\t':
          append("\\t");
          break;
        default:
          if (static_cast<unsigned char>(c) < 0x20) {
            append(fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c))));
          } else {
            out.push_back(c);
          }
      }
    }
    append("\"");
  }

  std::unique_ptr<spdlog::custom_flag_formatter> clone() const override {
    return std::make_unique<JsonStringFlag>();
  }
};

std::unique_ptr<spdlog::formatter> JsonFormatter() {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<JsonStringFlag>('*').set_pattern(
      R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l","thread":%t,"message":%*})");
  return formatter;
}

}  // namespace

void AddLogFlags(CLI::App& command, SettingSources& sources, LogSettings& settings) {
  sources.FromEnvironment(
      command.add_option("--log-format", settings.format, "How logs are written to stderr")
          ->check(CLI::IsMember({"text", "json"}))
          ->type_name("FORMAT")
          ->capture_default_str(),
      {"BERTH_LOG_FORMAT"});
  sources.FromEnvironment(
      command.add_option("--log-level", settings.level, "The least that is logged")
          ->check(CLI::IsMember({"debug", "info", "warning", "error"}))
          ->type_name("LEVEL")
          ->capture_default_str(),
      {"BERTH_LOG_LEVEL"});
}

void StartLogging(const LogSettings& settings) {
  auto logger = spdlog::stderr_color_mt("berth");
  if (settings.format == "json") {
    logger->set_formatter(JsonFormatter());
  } else {
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e %^%-7l%$ %v");
  }
  logger->set_level(spdlog::level::from_str(settings.level));
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace berth::cli
