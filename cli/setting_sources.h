// Where a setting comes from: its flag, else the first of its environment variables that is set,
// else the file of --config, else its default.
//
// CLI11 parses the flags; the rest is here because its own order puts the file before the
// environment, and because a setting of ours may have AWS's name beside our own (ECS_CLUSTER,
// BERTH_CLUSTER).
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace berth::cli {

// A wrong setting, in words; `berth` prints it and exits with kUsage.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class SettingSources {
 public:
  // Adds --config to the command. The command outlives this.
  explicit SettingSources(CLI::App& command);

  // Lets the option be set by these variables too, the first one that is set and not empty; they
  // are named in its help.
  void FromEnvironment(CLI::Option* option, std::vector<std::string> variables);

  // Fills in what the command line left out. Throws UsageError, naming the variable, or the file
  // and the key.
  void Apply();

 private:
  void ApplyEnvironment();
  void ApplyFile();

  CLI::App& command_;
  std::string config_file_;
  std::vector<std::pair<CLI::Option*, std::vector<std::string>>> variables_;
};

}  // namespace berth::cli
