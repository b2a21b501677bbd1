#include "api/metrics.h"

#include <fmt/format.h>

namespace berth::api {
namespace {

template <size_t kBuckets>
void RenderHistogram(std::string& out, std::string_view name, std::string_view help,
                     const Histogram<kBuckets>& histogram) {
  auto to = std::back_inserter(out);
  fmt::format_to(to, "# HELP {} {}\n# TYPE {} histogram\n", name, help, name);
  uint64_t total = 0;
  for (size_t i = 0; i < kBuckets; ++i) {
    total += histogram.count(i);
    fmt::format_to(to, "{}_bucket{{le=\"{}\"}} {}\n", name, histogram.bounds()[i], total);
  }
  total += histogram.count(kBuckets);
  fmt::format_to(to, "{}_bucket{{le=\"+Inf\"}} {}\n{}_sum {}\n{}_count {}\n", name, total, name,
                 histogram.sum(), name, total);
}

void RenderHead(std::string& out, std::string_view name, std::string_view type,
                std::string_view help) {
  fmt::format_to(std::back_inserter(out), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

template <class Number>
void RenderGauge(std::string& out, std::string_view name, std::string_view help, Number value) {
  RenderHead(out, name, "gauge", help);
  fmt::format_to(std::back_inserter(out), "{} {}\n", name, value);
}

}  // namespace

void Metrics::CountRequest(std::string_view action, std::string_view code, absl::Duration took) {
  request_seconds_.Add(absl::ToDoubleSeconds(took));
  absl::MutexLock lock(&mutex_);
  ++requests_[{std::string(action), std::string(code)}];
}

void Metrics::CountThrottled(std::string_view call_class) {
  absl::MutexLock lock(&mutex_);
  ++throttled_[std::string(call_class)];
}

void Metrics::CountCommit(size_t changes, absl::Duration took) {
  commit_seconds_.Add(absl::ToDoubleSeconds(took));
  commit_changes_.Add(static_cast<double>(changes));
}

std::string Metrics::Render(const Gauges& gauges) const {
  std::string out;
  auto to = std::back_inserter(out);

  RenderHead(out, "berth_requests_total", "counter", "API calls by action and error code");
  {
    absl::MutexLock lock(&mutex_);
    for (const auto& [key, count] : requests_) {
      fmt::format_to(to, "berth_requests_total{{action=\"{}\",code=\"{}\"}} {}\n", key.first,
                     key.second, count);
    }
  }
  RenderHead(out, "berth_throttled_total", "counter", "Calls refused as too many, by class");
  {
    absl::MutexLock lock(&mutex_);
    for (const auto& [call_class, count] : throttled_) {
      fmt::format_to(to, "berth_throttled_total{{class=\"{}\"}} {}\n", call_class, count);
    }
  }
  RenderHead(out, "berth_audit_entries_dropped_total", "counter",
             "Entries that the audit log could not keep");
  fmt::format_to(to, "berth_audit_entries_dropped_total {}\n", gauges.audit_entries_dropped);
  RenderHistogram(out, "berth_request_seconds", "Time from a whole request to its answer",
                  request_seconds_);
  RenderHistogram(out, "berth_commit_seconds", "Time of one commit to the store", commit_seconds_);
  RenderHistogram(out, "berth_commit_changes", "Changes in one commit", commit_changes_);
  RenderHead(out, "berth_failed_commits_total", "counter", "Commits that the store refused");
  fmt::format_to(to, "berth_failed_commits_total {}\n", failed_commits_.load());

  RenderGauge(out, "berth_loop_queue_length", "Commands that wait for the cluster loop",
              gauges.queue_length);
  RenderGauge(out, "berth_http_connections", "Open connections, agents' channels included",
              gauges.connections);
  RenderGauge(out, "berth_connected_agents", "Container instances whose agent is connected",
              gauges.connected_agents);
  RenderGauge(out, "berth_store_works", "0 while the store fails and writes are refused",
              gauges.store_works ? 1 : 0);

  RenderGauge(out, "berth_throttle_buckets", "Callers and classes that are being throttled apart",
              gauges.throttle_buckets);
  // Cluster names are of [A-Za-z0-9_-], so that they need no escaping.
  RenderHead(out, "berth_container_instances", "gauge", "Registered container instances");
  for (const Gauges::Cluster& cluster : gauges.clusters) {
    fmt::format_to(to, "berth_container_instances{{cluster=\"{}\"}} {}\n", cluster.name,
                   cluster.instances);
  }
  RenderHead(out, "berth_tasks", "gauge", "Tasks by last status");
  for (const Gauges::Cluster& cluster : gauges.clusters) {
    fmt::format_to(to, "berth_tasks{{cluster=\"{}\",status=\"RUNNING\"}} {}\n", cluster.name,
                   cluster.running_tasks);
    fmt::format_to(to, "berth_tasks{{cluster=\"{}\",status=\"PENDING\"}} {}\n", cluster.name,
                   cluster.pending_tasks);
  }
  const auto per_cluster = [&](std::string_view name, std::string_view help, auto value_of) {
    RenderHead(out, name, "gauge", help);
    for (const Gauges::Cluster& cluster : gauges.clusters) {
      fmt::format_to(to, "{}{{cluster=\"{}\"}} {}\n", name, cluster.name,
                     value_of(cluster.fragmentation));
    }
  };
  per_cluster("berth_gpu_memory_idle_mib", "GPU memory that no task holds, where tasks may go",
              [](const auto& figures) { return figures.idle_mib; });
  per_cluster("berth_gpu_memory_fragmented_mib",
              "Of that, what a typical task of late could not use, in the mean",
              [](const auto& figures) { return figures.fragmented_mib(); });
  per_cluster("berth_gpu_memory_fragmentation_ratio", "Fragmented by idle GPU memory, 0 to 1",
              [](const auto& figures) { return figures.ratio(); });
  return out;
}

}  // namespace berth::api
