// The closed word lists of a task definition, as the API model has them.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

namespace berth::model {

inline constexpr std::string_view kLogDrivers[] = {"awsfirelens", "awslogs",   "fluentd", "gelf",
                                                   "journald",    "json-file", "splunk",  "syslog"};
inline constexpr std::string_view kUlimitNames[] = {
    "core",   "cpu",   "data", "fsize",  "locks",  "memlock",    "msgqueue", "nice",
    "nofile", "nproc", "rss",  "rtprio", "rttime", "sigpending", "stack"};
inline constexpr std::string_view kPidModes[] = {"host", "task"};
inline constexpr std::string_view kIpcModes[] = {"host", "none", "task"};
inline constexpr std::string_view kFirelensTypes[] = {"fluentbit", "fluentd"};
inline constexpr std::string_view kEnvironmentFileType = "s3";
inline constexpr std::string_view kMemberOf = "memberOf";

inline constexpr std::string_view kGpuType = "GPU";
inline constexpr std::string_view kInferenceAcceleratorType = "InferenceAccelerator";
inline constexpr std::string_view kNeuronDeviceType = "NeuronDevice";
inline constexpr std::string_view kAllGpus = "ALL";

template <size_t N>
bool IsOneOf(const std::string_view (&words)[N], std::string_view word) {
  return std::ranges::find(words, word) != std::end(words);
}

// "a, b, c", for messages that say what would be right.
template <size_t N>
std::string Listed(const std::string_view (&words)[N]) {
  std::string text;
  for (const std::string_view word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

}  // namespace berth::model
