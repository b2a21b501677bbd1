#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/errors.h"
#include "model/validation/rules.h"

namespace berth::model::validation {
namespace {

// edges[i]: the containers that container i needs.
using Edges = std::vector<std::vector<size_t>>;

enum class Visit { kNew, kOpen, kDone };

bool ExtendsToCycle(const Edges& edges, size_t from, std::vector<Visit>& visits,
                    std::vector<size_t>& path) {
  visits[from] = Visit::kOpen;
  path.push_back(from);
  for (const size_t to : edges[from]) {
    if (visits[to] == Visit::kDone) continue;
    if (visits[to] == Visit::kOpen) {
      path.erase(path.begin(), std::ranges::find(path, to));
      path.push_back(to);
      return true;
    }
    if (ExtendsToCycle(edges, to, visits, path)) return true;
  }
  path.pop_back();
  visits[from] = Visit::kDone;
  return false;
}

// The containers of a cycle in order, the first again at the end; empty when there is none.
// Recursion is as deep as a task has containers, which is few.
std::vector<size_t> FindCycle(const Edges& edges) {
  std::vector<Visit> visits(edges.size(), Visit::kNew);
  std::vector<size_t> path;
  for (size_t i = 0; i < edges.size(); ++i) {
    if (visits[i] == Visit::kNew && ExtendsToCycle(edges, i, visits, path)) return path;
  }
  return {};
}

std::string Describe(const TaskSpec& spec, const std::vector<size_t>& cycle) {
  std::string text;
  for (const size_t i : cycle) {
    if (!text.empty()) text += " -> ";
    text += spec.containers[i].name;
  }
  return text;
}

absl::Status CheckDependency(const TaskSpec& spec, const ContainerDefinition& container,
                             size_t index, Edges::value_type& edges) {
  const ContainerDependency& dependency = container.depends_on[index];
  const std::optional<DependencyCondition> condition =
      ParseDependencyCondition(dependency.condition);
  if (!condition.has_value()) {
    return Wrong(container, absl::StrFormat("dependsOn[%d].condition", index),
                 absl::StrFormat("'%s'", dependency.condition),
                 "one of START, COMPLETE, SUCCESS, HEALTHY");
  }
  const std::optional<size_t> target = FindContainer(spec, dependency.container_name);
  if (!target.has_value()) {
    return ClientError(absl::StrFormat("Cannot depend on container '%s' because it does not exist",
                                       dependency.container_name));
  }
  const ContainerDefinition& needed = spec.containers[*target];
  if (&needed == &container) {
    return Wrong(container, absl::StrFormat("dependsOn[%d].containerName", index),
                 "the container itself", "another container of the task");
  }
  if (*condition == DependencyCondition::kHealthy && !needed.health_check.has_value()) {
    return Wrong(container, absl::StrFormat("dependsOn[%d].condition", index),
                 absl::StrFormat("HEALTHY, but container '%s' has no healthCheck", needed.name),
                 "START, COMPLETE or SUCCESS, or the other container needs a healthCheck");
  }
  const bool waits_for_end =
      *condition == DependencyCondition::kComplete || *condition == DependencyCondition::kSuccess;
  if (waits_for_end && needed.essential) {
    return ClientError(
        "A dependency container with SUCCESS or COMPLETE condition cannot be an essential "
        "container");
  }
  edges.push_back(*target);
  return absl::OkStatus();
}

// A container that `member` names: where it is, or why it cannot be named there.
absl::StatusOr<size_t> FindNamed(const TaskSpec& spec, const ContainerDefinition& container,
                                 std::string_view member, std::string_view name) {
  const std::optional<size_t> target = FindContainer(spec, name);
  if (!target.has_value()) {
    return Wrong(container, member, absl::StrFormat("'%s', which does not exist", name),
                 "the name of another container of the task");
  }
  if (&spec.containers[*target] == &container) {
    return Wrong(container, member, "the container itself", "another container of the task");
  }
  return *target;
}

}  // namespace

absl::Status CheckDependencies(const TaskSpec& spec) {
  const size_t containers = spec.containers.size();
  Edges dependencies(containers);
  Edges links(containers);
  Edges all(containers);
  for (size_t i = 0; i < containers; ++i) {
    const ContainerDefinition& container = spec.containers[i];
    for (size_t j = 0; j < container.depends_on.size(); ++j) {
      absl::Status status = CheckDependency(spec, container, j, dependencies[i]);
      if (!status.ok()) return status;
    }
    all[i] = dependencies[i];
    for (size_t j = 0; j < container.links.size(); ++j) {
      const std::string_view link = container.links[j];  // NAME or NAME:ALIAS
      const absl::StatusOr<size_t> target = FindNamed(
          spec, container, absl::StrFormat("links[%d]", j), link.substr(0, link.find(':')));
      if (!target.ok()) return target.status();
      links[i].push_back(*target);
      all[i].push_back(*target);
    }
    for (size_t j = 0; j < container.volumes_from.size(); ++j) {
      const absl::StatusOr<size_t> target =
          FindNamed(spec, container, absl::StrFormat("volumesFrom[%d].sourceContainer", j),
                    container.volumes_from[j].source_container);
      if (!target.ok()) return target.status();
      all[i].push_back(*target);
    }
  }

  if (!FindCycle(links).empty()) return ClientError("Container links should not have a cycle");
  if (const auto cycle = FindCycle(dependencies); !cycle.empty()) {
    return ClientError(absl::StrFormat(
        "dependsOn goes in a circle, so that no container can start: %s", Describe(spec, cycle)));
  }
  // Links and volumesFrom make a container wait for the other's start as dependsOn does.
  if (const auto cycle = FindCycle(all); !cycle.empty()) {
    return ClientError(absl::StrFormat(
        "dependsOn, links and volumesFrom together go in a circle, so that no container can start: "
        "%s",
        Describe(spec, cycle)));
  }
  return absl::OkStatus();
}

}  // namespace berth::model::validation
