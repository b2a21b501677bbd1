// Logs go to stderr, as text for people or one JSON object a line for programs.
#pragma once

#include <string>

#include "cli/setting_sources.h"

namespace berth::cli {

struct LogSettings {
  std::string format = "text";
  std::string level = "info";
};

// Adds --log-format and --log-level.
void AddLogFlags(CLI::App& command, SettingSources& sources, LogSettings& settings);

// Sets up spdlog for the process. Call before the first thread.
void StartLogging(const LogSettings& settings);

}  // namespace berth::cli
