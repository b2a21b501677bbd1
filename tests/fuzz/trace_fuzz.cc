// Traces as users bring them: the text up to the first NUL is the file of nodes, the rest that of
// tasks. What is read must be safe to run, or be refused in words.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "simulator/experiment.h"

namespace {

// Larger ones take too long for a fuzzer, and show nothing new.
constexpr int64_t kMilliMax = 64 * berth::simulator::kMilliPerGpu;
constexpr int64_t kMilliAskedMin = 200;

template <class T>
bool IsRefused(const absl::StatusOr<T>& result) {
  if (!result.ok() && result.status().message().empty()) std::abort();
  return !result.ok();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t end = input.find('\0');
  const auto nodes = berth::simulator::ReadTraceNodes(input.substr(0, end));
  const auto tasks = berth::simulator::ReadTraceTasks(
      end == std::string_view::npos ? std::string_view() : input.substr(end + 1));
  if (IsRefused(nodes) || IsRefused(tasks)) return 0;
  const auto trace = berth::simulator::PrepareTrace(*nodes, *tasks);
  if (IsRefused(trace)) return 0;
  if (trace->gpu_milli > kMilliMax || trace->gpu_milli_asked < kMilliAskedMin) return 0;
  const auto run =
      berth::simulator::RunExperiment(*trace, berth::placement::GpuPolicyKind::kFgd, 1);
  if (!IsRefused(run) && run->failed > run->arrived) std::abort();
  return 0;
}
