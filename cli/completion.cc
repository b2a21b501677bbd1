// `berth completion bash`: made from the flags themselves, so that it cannot fall behind them.
#include <iostream>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.h"
#include "cli/exit_code.h"

namespace berth::cli {
namespace {

constexpr char kFooter[] = R"(
Example:
  source <(berth completion bash)
)";

std::string LongFlags(const CLI::App& command) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return fmt::format("{}", fmt::join(flags, " "));
}

// What can follow a command: its flags, and the commands within it with theirs.
std::string Words(const CLI::App& command) {
  std::vector<std::string> words = {LongFlags(command)};
  for (const CLI::App* inner : command.get_subcommands([](const CLI::App*) { return true; })) {
    words.push_back(inner->get_name());
    words.push_back(LongFlags(*inner));
  }
  return fmt::format("{}", fmt::join(words, " "));
}

void PrintBash(const CLI::App& root) {
  std::vector<std::string> names;
  std::string cases;
  for (const CLI::App* command : root.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
    cases += fmt::format("    {}) words=\"{}\" ;;\n", command->get_name(),
                         command->get_name() == "completion" ? "bash" : Words(*command));
  }
  std::cout << fmt::format(R"(_berth() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="{} {}"
  else
    case "${{COMP_WORDS[1]}}" in
{}    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _berth berth
)",
                           fmt::join(names, " "), LongFlags(root), cases);
}

}  // namespace

Command AddCompletion(CLI::App& root) {
  CLI::App* command = root.add_subcommand("completion", "Print the completion script of a shell");
  command->footer(kFooter);
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "Which shell")->check(CLI::IsMember({"bash"}))->required();
  return {command, [&root, shell] {
            PrintBash(root);
            return kOk;
          }};
}

}  // namespace berth::cli
