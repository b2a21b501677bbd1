// What `berth doctor` looks at. Each check only looks: it starts, pulls and changes nothing.
#pragma once

#include <string>
#include <vector>

namespace berth::cli {

struct Finding {
  enum class Verdict {
    kOk,
    kAbsent,   // not there, and Berth does without it
    kProblem,  // `berth agent` would not work
  };
  std::string name = {};
  Verdict verdict = Verdict::kOk;
  std::string found = {};
  std::string advice = {};  // what to do, when there is something to do
};

struct DoctorSettings {
  std::string docker_socket = {};
  std::string data_dir = {};
  std::string listen = {};
};

// In the order in which they are printed.
std::vector<Finding> RunChecks(const DoctorSettings& settings);

}  // namespace berth::cli
