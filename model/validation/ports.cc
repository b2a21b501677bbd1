#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/errors.h"
#include "model/validation/rules.h"

namespace berth::model::validation {
namespace {

constexpr int64_t kPortMax = 65535;
constexpr int64_t kDynamicHostPort = 0;  // the agent finds a free one
constexpr int64_t kPortRangesMax = 100;  // per container
constexpr size_t kPortNameLengthMax = 64;

struct PortRange {
  Protocol protocol = Protocol::kTcp;
  int64_t first = 0;
  int64_t last = 0;
};

bool IsPort(int64_t port) { return port >= 0 && port <= kPortMax; }

std::string Member(size_t index, std::string_view member) {
  return absl::StrFormat("portMappings[%d].%s", index, member);
}

std::optional<int64_t> ParsePort(std::string_view digits) {
  int64_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (port < 1 || port > kPortMax) return std::nullopt;
  return port;
}

// "8000-8010", the first below the last.
std::optional<PortRange> ParseRange(const PortMapping& mapping) {
  const std::string_view text = mapping.container_port_range;
  const size_t hyphen = text.find('-');
  if (hyphen == std::string_view::npos) return std::nullopt;
  const std::optional<int64_t> first = ParsePort(text.substr(0, hyphen));
  const std::optional<int64_t> last = ParsePort(text.substr(hyphen + 1));
  if (!first.has_value() || !last.has_value() || *first >= *last) return std::nullopt;
  return PortRange{.protocol = mapping.protocol, .first = *first, .last = *last};
}

bool IsPortName(std::string_view name) {
  return name.size() <= kPortNameLengthMax && !name.starts_with('-') &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
         });
}

const PortRange* FindOverlap(const PortRange& range, const std::vector<PortRange>& taken) {
  const auto found = std::ranges::find_if(taken, [&](const PortRange& other) {
    return other.protocol == range.protocol && other.first <= range.last &&
           range.first <= other.last;
  });
  return found == taken.end() ? nullptr : &*found;
}

std::string ToString(const PortRange& range) {
  if (range.first == range.last) return absl::StrFormat("port %d", range.first);
  return absl::StrFormat("range %d-%d", range.first, range.last);
}

// Goes over the containers of a task, and knows the ports that those before have taken.
class PortCheck {
 public:
  explicit PortCheck(NetworkMode mode) : mode_(mode) {}

  absl::Status CheckContainer(const ContainerDefinition& container) {
    mappings_.clear();
    if (!ContainersShareOnePortSpace()) {
      singles_.clear();
      ranges_.clear();
    }
    if (mode_ == NetworkMode::kNone && !container.port_mappings.empty()) {
      return Wrong(container, "portMappings", "not empty", "empty when networkMode=none");
    }
    if (std::ranges::count_if(container.port_mappings, &HasRange) > kPortRangesMax) {
      return Wrong(container, "the number of containerPortRange entries",
                   absl::StrFormat("above %d", kPortRangesMax),
                   absl::StrFormat("at most %d", kPortRangesMax));
    }
    for (size_t i = 0; i < container.port_mappings.size(); ++i) {
      const PortMapping& mapping = container.port_mappings[i];
      absl::Status status = HasRange(mapping) ? CheckRangeMapping(container, i, mapping)
                                              : CheckSingleMapping(container, mapping);
      if (!status.ok()) return status;
      if (!IsPortName(mapping.name)) {
        return Wrong(container, Member(i, "name"), absl::StrFormat("'%s'", mapping.name),
                     absl::StrFormat("at most %d of a-z, 0-9, _ and -, not starting with -",
                                     kPortNameLengthMax));
      }
    }
    return absl::OkStatus();
  }

 private:
  static bool HasRange(const PortMapping& mapping) { return !mapping.container_port_range.empty(); }

  bool ContainersShareOnePortSpace() const {
    return mode_ == NetworkMode::kHost || mode_ == NetworkMode::kAwsvpc;
  }

  absl::Status CheckSingleMapping(const ContainerDefinition& container,
                                  const PortMapping& mapping) {
    if (!mapping.container_port.has_value() || !IsPort(*mapping.container_port)) {
      return ClientError(
          absl::StrFormat("Invalid 'containerPort' setting for container '%s'.", container.name));
    }
    const int64_t port = *mapping.container_port;
    const int64_t host_port =
        mapping.host_port.value_or(ContainersShareOnePortSpace() ? port : kDynamicHostPort);
    if (!IsPort(host_port)) {
      return ClientError(
          absl::StrFormat("Invalid 'hostPort' setting for container '%s'.", container.name));
    }
    if (ContainersShareOnePortSpace() && host_port != port) {
      return ClientError(absl::StrFormat(
          "When networkMode=%s, the host ports and container ports in port mappings must match.",
          model::ToString(mode_)));
    }
    if (host_port != kDynamicHostPort && !host_ports_.emplace(mapping.protocol, host_port).second) {
      return ClientError(absl::StrFormat("%s host port '%d' is mapped multiple times in task.",
                                         mapping.protocol == Protocol::kTcp ? "TCP" : "UDP",
                                         host_port));
    }
    if (!mappings_.emplace(mapping.protocol, port, host_port).second) {
      return ClientError(absl::StrFormat(
          "container '%s': portMappings maps container port %d/%s more than once; give each port "
          "and protocol once",
          container.name, port, model::ToString(mapping.protocol)));
    }
    singles_.push_back({.protocol = mapping.protocol, .first = port, .last = port});
    if (const PortRange* range = FindOverlap(singles_.back(), ranges_)) {
      return ClientError(absl::StrFormat(
          "container '%s': containerPort %d lies in the %s of another mapping; a port can be in "
          "one mapping only",
          container.name, port, ToString(*range)));
    }
    return absl::OkStatus();
  }

  absl::Status CheckRangeMapping(const ContainerDefinition& container, size_t index,
                                 const PortMapping& mapping) {
    const std::string member = Member(index, "containerPortRange");
    const std::string found = absl::StrFormat("'%s'", mapping.container_port_range);
    if (mode_ != NetworkMode::kBridge && mode_ != NetworkMode::kAwsvpc) {
      return Wrong(container, member, found,
                   absl::StrFormat("absent when networkMode=%s", model::ToString(mode_)));
    }
    if (mapping.container_port.has_value() || mapping.host_port.has_value()) {
      return Wrong(container, member, "given beside containerPort or hostPort",
                   "the only port of its mapping");
    }
    const std::optional<PortRange> range = ParseRange(mapping);
    if (!range.has_value()) {
      return Wrong(container, member, found,
                   "FIRST-LAST, both from 1 to 65535 and the first below the last");
    }
    const PortRange* overlap = FindOverlap(*range, ranges_);
    if (overlap == nullptr) overlap = FindOverlap(*range, singles_);
    if (overlap != nullptr) {
      return Wrong(container, member, found,
                   absl::StrFormat("apart from the %s of another mapping", ToString(*overlap)));
    }
    ranges_.push_back(*range);
    return absl::OkStatus();
  }

  NetworkMode mode_;
  std::set<std::pair<Protocol, int64_t>> host_ports_;          // of the whole task
  std::set<std::tuple<Protocol, int64_t, int64_t>> mappings_;  // of one container
  // Container ports, of one container or of all that share a port space.
  std::vector<PortRange> singles_;
  std::vector<PortRange> ranges_;
};

}  // namespace

absl::Status CheckPorts(const TaskSpec& spec) {
  PortCheck check(EffectiveNetworkMode(spec));
  for (const ContainerDefinition& container : spec.containers) {
    if (absl::Status status = check.CheckContainer(container); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace berth::model::validation
