// `berth simulate`: replays a trace against GPU policies, many runs side by side.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/setting_sources.h"
#include "simulator/experiment.h"
#include "simulator/openb.h"
#include "simulator/report.h"
#include "simulator/trace.h"

namespace berth::cli {
namespace {

using placement::GpuPolicyKind;
using simulator::RunResult;
using simulator::Trace;
using simulator::TraceResults;

constexpr char kFooter[] = R"(
Tasks of the trace arrive in an order drawn by the seed until they have asked for 130 % of the GPUs;
none leaves, and one that does not fit is dropped. Same seed, same answer. Tasks that `berth export`
wrote arrive in the order in which they did; the seed then draws copies of them up to 130 %.
docs/placement.md says where to get the traces, what the policies do and what the figures mean.

--output json prints one array, with one object for each policy and seed: policy, seed, arrived,
failed, alloc_pct_at_100, alloc_pct_at_130, decision_hash. With several --tasks each also has tasks.

Exit codes: 0 done, 1 failed, 2 wrong usage or a file that makes no sense.

Examples:
  berth simulate --nodes nodes.csv --tasks tasks.csv
  berth simulate --nodes nodes.csv --tasks tasks.csv --policy fgd,best-fit --seeds 42-51 --svg out.svg
  berth simulate --nodes nodes.csv --tasks tasks.csv --policy fgd --seeds 7 --output json
)";

constexpr int64_t kSeedMax = INT32_MAX;
constexpr int64_t kSeedsMax = 10'000;
constexpr std::chrono::milliseconds kProgressInterval{100};

struct Settings {
  std::string nodes = {};
  std::vector<std::string> tasks = {};
  std::vector<std::string> policies = {};
  std::string seeds = "42-51";
  std::string mix = "learned";
  std::string output = "table";
  std::string svg = {};
};

// --- what was asked for

std::vector<GpuPolicyKind> ParsePolicies(const std::vector<std::string>& names) {
  if (names.empty()) return placement::GpuPolicyKinds();
  std::vector<GpuPolicyKind> kinds;
  for (const std::string& name : names) {
    const std::optional<GpuPolicyKind> kind = placement::GpuPolicyKindFrom(name);
    if (!kind) {
      std::vector<std::string_view> known;
      for (const GpuPolicyKind other : placement::GpuPolicyKinds())
        known.push_back(ToString(other));
      throw UsageError(fmt::format("--policy: there is no policy '{}'; there are {}", name,
                                   fmt::join(known, ", ")));
    }
    if (std::find(kinds.begin(), kinds.end(), *kind) != kinds.end()) {
      throw UsageError(fmt::format("--policy: '{}' is given twice", name));
    }
    kinds.push_back(*kind);
  }
  return kinds;
}

int64_t ParseSeed(std::string_view text) {
  int64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size() || seed < 0 || seed > kSeedMax) {
    throw UsageError(fmt::format(
        "--seeds: '{}' is not a whole number from 0 to {}; write 42, 42-51 or 1,5,42-51", text,
        kSeedMax));
  }
  return seed;
}

std::vector<int64_t> ParseSeeds(std::string_view text) {
  std::vector<int64_t> seeds;
  while (true) {
    const size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    const size_t dash = part.find('-');
    const int64_t first = ParseSeed(part.substr(0, dash));
    const int64_t last = dash == std::string_view::npos ? first : ParseSeed(part.substr(dash + 1));
    if (last < first) throw UsageError(fmt::format("--seeds: {} goes backwards", part));
    if (last - first >= kSeedsMax - std::ssize(seeds)) {
      throw UsageError(fmt::format("--seeds: more than {}", kSeedsMax));
    }
    for (int64_t seed = first; seed <= last; ++seed) seeds.push_back(seed);
    if (comma == std::string_view::npos) return seeds;
    text.remove_prefix(comma + 1);
  }
}

std::string ReadFile(const std::string& setting, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) throw UsageError(fmt::format("{}: cannot read {}", setting, path));
  return text;
}

// The value, or the end: the file and what is wrong with it.
template <class T>
T ValueOr(absl::StatusOr<T> result, const std::string& path) {
  if (result.ok()) return *std::move(result);
  throw UsageError(fmt::format("{}: {}", path, std::string(result.status().message())));
}

std::vector<Trace> ReadTraces(const Settings& settings) {
  const std::vector<simulator::TraceNode> nodes =
      ValueOr(simulator::ReadTraceNodes(ReadFile("--nodes", settings.nodes)), settings.nodes);
  std::vector<Trace> traces;
  for (const std::string& path : settings.tasks) {
    traces.push_back(
        ValueOr(simulator::PrepareTrace(
                    nodes, ValueOr(simulator::ReadTraceTasks(ReadFile("--tasks", path)), path)),
                path));
    for (const std::string& models : traces.back().models_missing) {
      std::cerr << fmt::format("berth: {}: no node has GPUs of {}: tasks that want them fail\n",
                               path, models);
    }
  }
  return traces;
}

// --- the runs

struct Job {
  size_t trace = 0;
  GpuPolicyKind policy = GpuPolicyKind::kRandom;
  int64_t seed = 0;
};

// On a terminal, a bar on stderr; else nothing.
class Progress {
 public:
  explicit Progress(size_t jobs) : jobs_(jobs), shown_(isatty(STDERR_FILENO) != 0) {}
  ~Progress() {
    if (shown_) std::cerr << "\r\x1b[K" << std::flush;
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Show(size_t done) const {
    if (!shown_) return;
    constexpr size_t kWidth = 40;
    const size_t filled = jobs_ == 0 ? kWidth : done * kWidth / jobs_;
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began_;
    const std::string left =
        done == 0 ? ""
                  : fmt::format(", {:.0f} s left", spent.count() / static_cast<double>(done) *
                                                       static_cast<double>(jobs_ - done));
    std::cerr << fmt::format("\r\x1b[K[{}{}] {} of {} runs{}", std::string(filled, '#'),
                             std::string(kWidth - filled, ' '), done, jobs_, left)
              << std::flush;
  }

 private:
  const size_t jobs_;
  const bool shown_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

// All jobs, on all cores; results in the jobs' order.
std::vector<RunResult> RunAll(const std::vector<Job>& jobs, const std::vector<Trace>& traces,
                              simulator::MixSource mix) {
  std::vector<absl::StatusOr<RunResult>> results(jobs.size(), absl::StatusOr<RunResult>());
  std::atomic<size_t> next = 0;
  std::atomic<size_t> done = 0;
  const auto work = [&] {
    for (size_t i = next++; i < jobs.size(); i = next++) {
      results[i] =
          simulator::RunExperiment(traces[jobs[i].trace], jobs[i].policy, jobs[i].seed, mix);
      ++done;
    }
  };
  {
    Progress progress(jobs.size());
    std::vector<std::jthread> threads;
    const size_t cores = std::max(1U, std::thread::hardware_concurrency());
    for (size_t i = 0; i < std::min(cores, jobs.size()); ++i) threads.emplace_back(work);
    while (done < jobs.size()) {
      progress.Show(done);
      std::this_thread::sleep_for(kProgressInterval);
    }
  }
  std::vector<RunResult> runs;
  for (absl::StatusOr<RunResult>& result : results) {
    if (!result.ok()) throw UsageError(std::string(result.status().message()));
    runs.push_back(*std::move(result));
  }
  return runs;
}

std::vector<TraceResults> Simulate(const Settings& settings) {
  const std::vector<GpuPolicyKind> policies = ParsePolicies(settings.policies);
  const std::vector<int64_t> seeds = ParseSeeds(settings.seeds);
  const std::vector<Trace> traces = ReadTraces(settings);
  std::vector<Job> jobs;
  for (size_t trace = 0; trace < traces.size(); ++trace) {
    for (const GpuPolicyKind policy : policies) {
      for (const int64_t seed : seeds) {
        jobs.push_back({.trace = trace, .policy = policy, .seed = seed});
      }
    }
  }
  std::vector<RunResult> runs = RunAll(
      jobs, traces,
      settings.mix == "known" ? simulator::MixSource::kTrace : simulator::MixSource::kArrivals);

  std::vector<TraceResults> results;
  for (size_t trace = 0; trace < traces.size(); ++trace) {
    results.push_back({.name = std::filesystem::path(settings.tasks[trace]).stem().string(),
                       .nodes = std::ssize(traces[trace].nodes),
                       .gpus = traces[trace].gpus,
                       .tasks = std::ssize(traces[trace].tasks)});
  }
  for (size_t i = 0; i < jobs.size(); ++i) {
    results[jobs[i].trace].runs.push_back(std::move(runs[i]));
  }
  return results;
}

// --- what is printed

// As many decimals as mean anything.
double Rounded(double value) { return std::round(value * 1e4) / 1e4; }

std::string FormatJson(const std::vector<TraceResults>& traces) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> json(buffer);
  json.StartArray();
  for (const TraceResults& trace : traces) {
    for (const RunResult& run : trace.runs) {
      json.StartObject();
      if (traces.size() > 1) {
        json.Key("tasks");
        json.String(trace.name);
      }
      json.Key("policy");
      json.String(run.policy);
      json.Key("seed");
      json.Int64(run.seed);
      json.Key("arrived");
      json.Int64(run.arrived);
      json.Key("failed");
      json.Int64(run.failed);
      json.Key("alloc_pct_at_100");
      json.Double(Rounded(run.alloc_pct_at_100));
      json.Key("alloc_pct_at_130");
      json.Double(Rounded(run.alloc_pct_at_130));
      json.Key("decision_hash");
      json.String(run.decision_hash);
      json.EndObject();
    }
  }
  json.EndArray();
  return std::string(buffer.GetString()) + '\n';
}

int Run(const Settings& settings) {
  const std::vector<TraceResults> results = Simulate(settings);
  if (!settings.svg.empty()) {
    std::ofstream file(settings.svg, std::ios::binary);
    file << simulator::DrawSvg(results) << std::flush;
    if (!file) throw std::runtime_error("cannot write " + settings.svg);
  }
  if (settings.output == "json") {
    std::cout << FormatJson(results);
  } else if (settings.output == "csv") {
    std::cout << simulator::FormatCsv(results);
  } else {
    std::cout << simulator::FormatTable(results);
  }
  return std::cout.flush() ? kOk : kFailure;
}

}  // namespace

Command AddSimulate(CLI::App& root) {
  CLI::App* command =
      root.add_subcommand("simulate", "Replay a trace of tasks against GPU policies");
  command->footer(kFooter);
  auto settings = std::make_shared<Settings>();
  command
      ->add_option("--nodes", settings->nodes,
                   "The nodes: sn,cpu_milli,memory_mib,gpu,model; or what berth export wrote")
      ->type_name("CSV")
      ->required();
  command
      ->add_option(
          "--tasks", settings->tasks,
          "The tasks: name,cpu_milli,memory_mib,num_gpu,gpu_milli[,gpu_spec]; or what berth export "
          "wrote; may be given more than once")
      ->type_name("CSV")
      ->delimiter(',')
      ->required();
  command->add_option("--policy", settings->policies, "Which GPU policies; all when absent")
      ->type_name("P[,P...]")
      ->delimiter(',');
  command->add_option("--seeds", settings->seeds, "One run for each: 42, 42-51 or 1,5,42-51")
      ->type_name("SEEDS")
      ->capture_default_str();
  command
      ->add_option(
          "--mix", settings->mix,
          "What worth goes by: the tasks that have arrived, or the trace's own mix, known\n"
          "beforehand, which is what fgd always has")
      ->check(CLI::IsMember({"learned", "known"}))
      ->capture_default_str();
  command->add_option("--output", settings->output, "How to print")
      ->check(CLI::IsMember({"table", "json", "csv"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  command->add_option("--svg", settings->svg, "Draw allocation and fragmentation into this file")
      ->type_name("FILE");
  return {command, [settings] { return Run(*settings); }};
}

}  // namespace berth::cli
