#include "cli/setting_sources.h"

#include <cstdlib>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace berth::cli {
namespace {

// CLI11 marks where a section begins and ends with entries of these names.
bool IsSectionMark(const CLI::ConfigItem& item) { return item.name == "++" || item.name == "--"; }

bool HasCommand(const CLI::App& root, const std::string& name) {
  return !root.get_subcommands([&](const CLI::App* command) { return command->get_name() == name; })
              .empty();
}

void SetOption(CLI::Option* option, const std::vector<std::string>& values,
               const std::string& source) {
  try {
    if (option->get_expected_max() == 0) {
      // A flag without a value: "true", "on", "1" and their opposites.
      option->add_result(option->get_flag_value(option->get_single_name(), values.at(0)));
    } else {
      for (const std::string& value : values) option->add_result(value);
    }
    option->run_callback();
  } catch (const CLI::Error& error) {
    throw UsageError(fmt::format("{}: {}", source, error.what()));
  }
}

}  // namespace

SettingSources::SettingSources(CLI::App& command) : command_(command) {
  command
      .add_option("--config", config_file_,
                  "Read settings from a TOML or INI file: long flag names without the dashes, at "
                  "the top or under [" +
                      command.get_name() + "]")
      ->type_name("FILE");
}

void SettingSources::FromEnvironment(CLI::Option* option, std::vector<std::string> variables) {
  option->description(
      fmt::format("{} [env: {}]", option->get_description(), fmt::join(variables, ", ")));
  variables_.emplace_back(option, std::move(variables));
}

void SettingSources::Apply() {
  ApplyEnvironment();
  if (!config_file_.empty()) ApplyFile();
}

void SettingSources::ApplyEnvironment() {
  for (const auto& [option, variables] : variables_) {
    if (option->count() > 0) continue;
    for (const std::string& variable : variables) {
      const char* value = std::getenv(variable.c_str());
      if (value == nullptr || *value == '\0') continue;
      SetOption(option, {value}, "environment variable " + variable);
      break;
    }
  }
}

void SettingSources::ApplyFile() {
  std::ifstream file(config_file_);
  if (!file) throw UsageError(fmt::format("--config: cannot read {}", config_file_));

  std::vector<CLI::ConfigItem> items;
  try {
    items = CLI::ConfigTOML().from_config(file);
  } catch (const CLI::Error& error) {
    throw UsageError(fmt::format("{}: {}", config_file_, error.what()));
  }
  for (const CLI::ConfigItem& item : items) {
    if (IsSectionMark(item)) continue;
    if (!item.parents.empty() && item.parents != std::vector{command_.get_name()}) {
      // Another command's section: one file may serve them all.
      if (item.parents.size() == 1 && HasCommand(*command_.get_parent(), item.parents[0])) continue;
      throw UsageError(fmt::format("{}: there is no command for the section [{}]", config_file_,
                                   fmt::join(item.parents, ".")));
    }
    CLI::Option* option = command_.get_option_no_throw("--" + item.name);
    if (option == nullptr || item.name == "config" || item.name == "help") {
      throw UsageError(fmt::format("{}: '{}' is not a setting of `berth {}`", config_file_,
                                   item.name, command_.get_name()));
    }
    if (option->count() > 0) continue;  // a flag or the environment has the say
    SetOption(option, item.inputs, fmt::format("{}: {}", config_file_, item.name));
  }
}

}  // namespace berth::cli
