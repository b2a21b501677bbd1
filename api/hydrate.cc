#include "api/hydrate.h"

#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_format.h"
#include "api/aws_json.h"
#include "api/shapes/task_definition.h"
#include "api/shapes/task_override.h"

namespace berth::api {

namespace {

using model::Task;
using model::TaskDefinition;
using model::TaskOverrides;
using model::TaskSpec;

absl::Status Damaged(std::string_view record, const absl::Status& why) {
  return absl::DataLossError(
      absl::StrFormat("%s cannot be read back: %s", record, std::string(why.message())));
}

absl::Status HydrateCluster(const model::Cluster& cluster) {
  const auto body =
      JsonBody::Parse(cluster.document, schema::InputOf(*schema::FindOperation("CreateCluster")));
  return body.status();
}

absl::Status HydrateDefinition(TaskDefinition& definition) {
  if (definition.document == nullptr) return absl::DataLossError("it has no document");
  const absl::StatusOr<JsonBody> body = JsonBody::Parse(*definition.document, DefinitionShape());
  if (!body.ok()) return body.status();
  definition.spec = std::make_shared<const TaskSpec>(DecodeTaskSpec(body->root()));
  definition.compatibilities = model::ComputeCompatibilities(*definition.spec);
  definition.requires_attributes = model::ComputeRequiredAttributes(*definition.spec);
  return absl::OkStatus();
}

// Tasks with equal overrides of one definition share what was made of them, as they did before the
// restart when one call started them.
class TaskHydration {
 public:
  absl::Status Hydrate(Task& task) {
    if (task.definition == nullptr || task.definition->spec == nullptr) {
      return absl::DataLossError("its task definition is not there");
    }
    task.spec = task.definition->spec;
    if (task.overrides == nullptr) return absl::OkStatus();
    const Key key(task.definition->sequence, task.overrides->document);
    auto made = made_.find(key);
    if (made == made_.end()) {
      absl::StatusOr<Merged> merged = Merge(*task.definition, task.overrides->document);
      if (!merged.ok()) return merged.status();
      made = made_.emplace(key, *std::move(merged)).first;
    }
    task.overrides = made->second.overrides;
    task.spec = made->second.spec;
    return absl::OkStatus();
  }

 private:
  using Key = std::pair<int64_t, std::string>;
  struct Merged {
    std::shared_ptr<const TaskOverrides> overrides;
    std::shared_ptr<const TaskSpec> spec;
  };

  static absl::StatusOr<Merged> Merge(const TaskDefinition& definition,
                                      const std::string& document) {
    const absl::StatusOr<JsonBody> body = JsonBody::Parse(document, OverridesShape());
    if (!body.ok()) return body.status();
    auto overrides = std::make_shared<const TaskOverrides>(DecodeOverrides(body->root()));
    absl::StatusOr<std::shared_ptr<const TaskSpec>> spec =
        model::MergeOverrides(*definition.spec, *overrides);
    if (!spec.ok()) return spec.status();
    return Merged{.overrides = std::move(overrides), .spec = *std::move(spec)};
  }

  std::map<Key, Merged> made_;
};

}  // namespace

absl::Status Hydrate(model::Records& records) {
  for (const auto& cluster : records.clusters) {
    const absl::Status status = HydrateCluster(*cluster);
    if (!status.ok()) return Damaged("cluster " + cluster->name.value, status);
  }
  for (const auto& definition : records.definitions) {
    const absl::Status status = HydrateDefinition(*definition);
    if (!status.ok()) {
      return Damaged(
          absl::StrFormat("task definition %s:%d", definition->id.family, definition->id.revision),
          status);
    }
  }
  TaskHydration hydration;
  for (const auto& task : records.tasks) {
    const absl::Status status = hydration.Hydrate(*task);
    if (!status.ok()) return Damaged("task " + task->id.value, status);
    if (task->containers.size() != task->spec->containers.size()) {
      return Damaged("task " + task->id.value,
                     absl::DataLossError("it has other containers than its task definition"));
    }
  }
  return absl::OkStatus();
}

}  // namespace berth::api
