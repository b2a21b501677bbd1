// The subcommands of `berth`: one file each, added to the root by its function here.
#pragma once

#include <functional>

#include <CLI/CLI.hpp>

namespace berth::cli {

// Its flags on one side, what it does on the other. `run` is called once the command line has been
// parsed and names this command, and returns the exit code (exit_code.h).
struct Command {
  CLI::App* flags = nullptr;
  std::function<int()> run = {};
};

Command AddDev(CLI::App& root);
Command AddServer(CLI::App& root);
Command AddAgent(CLI::App& root);
Command AddKey(CLI::App& root);
Command AddExplain(CLI::App& root);
Command AddPlan(CLI::App& root);
Command AddDefrag(CLI::App& root);
Command AddExport(CLI::App& root);
Command AddDoctor(CLI::App& root);
Command AddCompletion(CLI::App& root);
Command AddApiReference(CLI::App& root);
Command AddSimulate(CLI::App& root);

}  // namespace berth::cli
