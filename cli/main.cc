#include <exception>
#include <iostream>
#include <string>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/setting_sources.h"

namespace {

constexpr char kFooter[] = R"(
Settings come from a flag, else the environment, else the file of --config, else the default.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 no place for the task, 5 the server refused this agent
for good.

Examples:
  berth dev                                    a whole cluster on this machine
  berth server --listen 127.0.0.1:8080 --data /var/lib/berth
  berth key create --role agent --user node-7 --data /var/lib/berth
  berth agent --server http://127.0.0.1:8080 --cluster default --gpus simulated:2x22587
  berth plan --task-definition web --count 3   where three tasks would go, and why there
  berth explain service web                    why its tasks found no place
  berth simulate --nodes nodes.csv --tasks tasks.csv --policy fgd,best-fit
  berth doctor                                 what this machine has and lacks
  source <(berth completion bash)              completion for this shell
)";

// CLI11 alone would say of a mistyped command only that one is required.
void CheckCommandName(const CLI::App& root, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  const std::string name = argv[1];
  const auto has_name = [&](const CLI::App* command) { return command->get_name() == name; };
  if (root.get_subcommands(has_name).empty()) {
    throw berth::cli::UsageError("there is no command '" + name + "'");
  }
}

// glibc raises this bound with every large block that is freed, and then keeps such blocks: after a
// thousand large requests at a time the server would stay as large as they made it.
void ReturnLargeBlocksToTheSystem() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 128 * 1024);
#endif
}

int Main(int argc, char** argv) {
  ReturnLargeBlocksToTheSystem();
  CLI::App root("Berth: a GPU cluster scheduler that speaks the Amazon ECS API.", "berth");
  root.set_version_flag("--version", std::string("berth ") + BERTH_VERSION);
  root.footer(kFooter);
  root.require_subcommand(1);

  const std::vector<berth::cli::Command> commands = {
      berth::cli::AddDev(root),          berth::cli::AddServer(root),
      berth::cli::AddAgent(root),        berth::cli::AddKey(root),
      berth::cli::AddExplain(root),      berth::cli::AddPlan(root),
      berth::cli::AddDefrag(root),       berth::cli::AddExport(root),
      berth::cli::AddDoctor(root),       berth::cli::AddCompletion(root),
      berth::cli::AddApiReference(root), berth::cli::AddSimulate(root),
  };

  CheckCommandName(root, argc, argv);
  try {
    root.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 prints the help or the complaint; its own exit codes are finer than ours.
    return root.exit(error) == 0 ? berth::cli::kOk : berth::cli::kUsage;
  }

  for (const berth::cli::Command& command : commands) {
    if (command.flags->parsed()) return command.run();
  }
  return berth::cli::kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Main(argc, argv);
  } catch (const berth::cli::UsageError& error) {
    std::cerr << "berth: " << error.what() << "\nRun with --help for more information.\n";
    return berth::cli::kUsage;
  } catch (const std::exception& error) {
    std::cerr << "berth: " << error.what() << '\n';
    return berth::cli::kFailure;
  }
}
