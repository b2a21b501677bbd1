// `berth api-reference`: docs/api.md as the tables of this version make it.
#include <iostream>

#include "api/reference.h"
#include "cli/command.h"
#include "cli/exit_code.h"

namespace berth::cli {
namespace {

constexpr char kFooter[] = R"(
Prints Markdown: each action of the ECS API, whether this version carries it out, and how it differs
from AWS's.

Examples:
  berth api-reference > docs/api.md            after a change to the actions
)";

}  // namespace

Command AddApiReference(CLI::App& root) {
  CLI::App* command =
      root.add_subcommand("api-reference", "Print what is built of the ECS API, as Markdown");
  command->footer(kFooter);
  return {command, [] {
            std::cout << api::ApiReference();
            return kOk;
          }};
}

}  // namespace berth::cli
