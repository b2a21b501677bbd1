// What a `berth` process says by its exit code; printed by `berth --help`.
#pragma once

namespace berth::cli {

inline constexpr int kOk = 0;
inline constexpr int kFailure = 1;        // it did not work; trying again may help
inline constexpr int kUsage = 2;          // the command line, environment or file is wrong
inline constexpr int kDoesNotFit = 3;     // plan, explain: no place for it; defrag: no plan
inline constexpr int kAgentTerminal = 5;  // the server refused this agent for good: do not restart

}  // namespace berth::cli
