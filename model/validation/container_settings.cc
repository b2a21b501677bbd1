#include <string>

#include "absl/strings/str_format.h"
#include "model/errors.h"
#include "model/validation/rules.h"
#include "model/vocabulary.h"

namespace berth::model::validation {
namespace {

// Seconds, but for the retries. Defaults are filled in by who decodes the definition.
constexpr int64_t kHealthIntervalMin = 5;
constexpr int64_t kHealthIntervalMax = 300;
constexpr int64_t kHealthTimeoutMin = 2;
constexpr int64_t kHealthTimeoutMax = 60;
constexpr int64_t kHealthRetriesMin = 1;
constexpr int64_t kHealthRetriesMax = 10;
constexpr int64_t kHealthStartPeriodMax = 300;
constexpr int64_t kRestartAttemptPeriodMin = 60;
constexpr int64_t kRestartAttemptPeriodMax = 1800;
constexpr size_t kIgnoredExitCodesMax = 50;
constexpr int64_t kSwappinessMax = 100;
constexpr int64_t kUnlimited = -1;  // in a ulimit

absl::Status CheckLogs(const ContainerDefinition& container) {
  if (!container.log_configuration.has_value()) return absl::OkStatus();
  const LogConfiguration& log = *container.log_configuration;
  if (!IsOneOf(kLogDrivers, log.driver)) {
    return Wrong(container, "logConfiguration.logDriver", absl::StrFormat("'%s'", log.driver),
                 "one of " + Listed(kLogDrivers));
  }
  if (log.driver == "awslogs" &&
      (!log.options.contains("awslogs-region") || !log.options.contains("awslogs-group"))) {
    return ClientError("Log driver awslogs requires options: awslogs-region, awslogs-group");
  }
  return absl::OkStatus();
}

absl::Status CheckHealth(const ContainerDefinition& container) {
  if (!container.health_check.has_value()) return absl::OkStatus();
  const HealthCheck& check = *container.health_check;
  if (check.command.empty()) {
    return Wrong(container, "healthCheck.command", "empty",
                 "the command to run, such as [\"CMD-SHELL\", \"curl -f http://localhost/\"]");
  }
  struct Bound {
    std::string_view member;
    std::optional<int64_t> value;
    int64_t min;
    int64_t max;
  };
  const Bound bounds[] = {
      {"healthCheck.interval", check.interval_seconds, kHealthIntervalMin, kHealthIntervalMax},
      {"healthCheck.timeout", check.timeout_seconds, kHealthTimeoutMin, kHealthTimeoutMax},
      {"healthCheck.retries", check.retries, kHealthRetriesMin, kHealthRetriesMax},
      {"healthCheck.startPeriod", check.start_period_seconds, 0, kHealthStartPeriodMax},
  };
  for (const Bound& bound : bounds) {
    absl::Status status = CheckRange(container, bound.member, bound.value, bound.min, bound.max);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CheckRestarts(const ContainerDefinition& container) {
  if (!container.restart_policy.has_value()) return absl::OkStatus();
  const RestartPolicy& policy = *container.restart_policy;
  if (policy.ignored_exit_codes.size() > kIgnoredExitCodesMax) {
    return Wrong(container, "the number of restartPolicy.ignoredExitCodes",
                 absl::StrFormat("%d", policy.ignored_exit_codes.size()),
                 absl::StrFormat("at most %d", kIgnoredExitCodesMax));
  }
  return CheckRange(container, "restartPolicy.restartAttemptPeriod", policy.attempt_period_seconds,
                    kRestartAttemptPeriodMin, kRestartAttemptPeriodMax);
}

absl::Status CheckUlimits(const ContainerDefinition& container) {
  for (size_t i = 0; i < container.ulimits.size(); ++i) {
    const Ulimit& ulimit = container.ulimits[i];
    if (!IsOneOf(kUlimitNames, ulimit.name)) {
      return Wrong(container, absl::StrFormat("ulimits[%d].name", i),
                   absl::StrFormat("'%s'", ulimit.name), "one of " + Listed(kUlimitNames));
    }
    const bool below = ulimit.soft != kUnlimited && ulimit.soft <= ulimit.hard;
    if (ulimit.hard != kUnlimited && !below) {
      return Wrong(container, absl::StrFormat("ulimits[%d].softLimit", i),
                   absl::StrFormat("%d", ulimit.soft),
                   absl::StrFormat("at most hardLimit, which is %d", ulimit.hard));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckTimeouts(const ContainerDefinition& container) {
  absl::Status status =
      CheckRange(container, "startTimeout", container.start_timeout_seconds, 0, kIntegerMax);
  if (!status.ok()) return status;
  return CheckRange(container, "stopTimeout", container.stop_timeout_seconds, 0, kIntegerMax);
}

absl::Status CheckSwap(const ContainerDefinition& container) {
  absl::Status status =
      CheckRange(container, "linuxParameters.maxSwap", container.max_swap_mib, 0, kIntegerMax);
  if (!status.ok()) return status;
  status =
      CheckRange(container, "linuxParameters.swappiness", container.swappiness, 0, kSwappinessMax);
  if (!status.ok()) return status;
  if (container.swappiness.has_value() && !container.max_swap_mib.has_value()) {
    return Wrong(container, "linuxParameters.swappiness", "given without maxSwap",
                 "given together with maxSwap");
  }
  return absl::OkStatus();
}

// Under awsvpc the task's network interface decides these, and under all but bridge there is
// nothing that a link could join.
absl::Status CheckNetwork(const ContainerDefinition& container, NetworkMode mode) {
  if (mode != NetworkMode::kBridge && !container.links.empty()) {
    return ClientError(
        absl::StrFormat("Links are not supported when networkMode=%s.", ToString(mode)));
  }
  if (mode != NetworkMode::kAwsvpc) return absl::OkStatus();
  const std::pair<std::string_view, bool> given[] = {
      {"hostname", !container.hostname.empty()},
      {"dnsServers", !container.dns_servers.empty()},
      {"dnsSearchDomains", !container.dns_search_domains.empty()},
      {"extraHosts", !container.extra_hosts.empty()},
      {"disableNetworking", container.disable_networking},
  };
  for (const auto& [member, is_given] : given) {
    if (is_given) return Wrong(container, member, "given", "absent when networkMode=awsvpc");
  }
  return absl::OkStatus();
}

absl::Status CheckFirelens(const ContainerDefinition& container) {
  if (container.firelens_type.empty() || IsOneOf(kFirelensTypes, container.firelens_type)) {
    return absl::OkStatus();
  }
  return Wrong(container, "firelensConfiguration.type",
               absl::StrFormat("'%s'", container.firelens_type),
               "one of " + Listed(kFirelensTypes));
}

}  // namespace

absl::Status CheckContainerSettings(const TaskSpec& spec) {
  using Check = absl::Status (*)(const ContainerDefinition&);
  constexpr Check kChecks[] = {CheckLogs,     CheckHealth, CheckRestarts, CheckUlimits,
                               CheckTimeouts, CheckSwap,   CheckFirelens};
  const NetworkMode mode = EffectiveNetworkMode(spec);
  for (const ContainerDefinition& container : spec.containers) {
    for (const Check check : kChecks) {
      if (absl::Status status = check(container); !status.ok()) return status;
    }
    if (absl::Status status = CheckNetwork(container, mode); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace berth::model::validation
