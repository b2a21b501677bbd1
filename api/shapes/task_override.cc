#include "api/shapes/task_override.h"

#include "api/decode.h"
#include "api/shapes/requirement_tables.h"
#include "model/check.h"

namespace berth::api {

using model::ContainerOverride;
using model::TaskOverrides;

template <>
inline constexpr auto kFields<ContainerOverride> = std::array{
    Field<&ContainerOverride::name>("name"),
    Field<&ContainerOverride::command>("command"),
    Field<&ContainerOverride::environment>("environment"),
    Field<&ContainerOverride::environment_files>("environmentFiles"),
    Field<&ContainerOverride::cpu_units>("cpu"),
    Field<&ContainerOverride::memory_mib>("memory"),
    Field<&ContainerOverride::memory_reservation_mib>("memoryReservation"),
    Field<&ContainerOverride::resource_requirements>("resourceRequirements"),
};

namespace {

void DecodeContainers(JsonView value, TaskOverrides& overrides) {
  overrides.containers.clear();
  for (int i = 0; i < value.size(); ++i) {
    const JsonView entry = value.At(i);
    auto container = Decode<ContainerOverride>(entry);
    container.empty_but_for_name = entry.size() == (entry.Find("name") ? 1 : 0);
    overrides.containers.push_back(std::move(container));
  }
}

// As given; containers that are not named get an entry of their own.
void WriteContainers(JsonView entries, const model::TaskSpec& spec, JsonWriter& writer) {
  writer.BeginArray("containerOverrides");
  for (const model::ContainerDefinition& container : spec.containers) {
    bool named = false;
    for (int i = 0; entries && i < entries.size(); ++i) {
      const JsonView name = entries.At(i).Find("name");
      if (!name || name.AsString() != container.name) continue;
      WriteJson(entries.At(i), writer);
      named = true;
    }
    if (named) continue;
    writer.BeginObject();
    writer.String("name", container.name);
    writer.EndObject();
  }
  writer.EndArray();
}

}  // namespace

template <>
inline constexpr auto kFields<TaskOverrides> = std::array{
    Field<&TaskOverrides::cpu_text>("cpu"),
    Field<&TaskOverrides::memory_text>("memory"),
    Field<&TaskOverrides::task_role_arn>("taskRoleArn"),
    Field<&TaskOverrides::execution_role_arn>("executionRoleArn"),
    Custom<&DecodeContainers>("containerOverrides"),
};

const schema::Shape& OverridesShape() {
  static const schema::Shape& shape = *schema::FindShape("TaskOverride");
  return shape;
}

TaskOverrides DecodeOverrides(JsonView view) {
  auto overrides = Decode<TaskOverrides>(view);
  overrides.document = ToJson(view);
  return overrides;
}

void WriteOverrides(const TaskOverrides* overrides, const model::TaskSpec& spec,
                    JsonWriter& writer) {
  writer.BeginObject("overrides");
  if (overrides == nullptr) {
    WriteContainers({}, spec, writer);
  } else {
    // Our own text: it was checked when it came in, and again when it was loaded.
    const absl::StatusOr<JsonBody> body = JsonBody::Parse(overrides->document, OverridesShape());
    BERTH_CHECK(body.ok());
    const JsonView root = body->root();
    WriteContainers(root.Find("containerOverrides"), spec, writer);
    for (int i = 0; i < root.size(); ++i) {
      const std::string_view name = root.NameAt(i);
      if (name == "containerOverrides" || name == "inferenceAcceleratorOverrides") continue;
      writer.Key(name);
      WriteJson(root.At(i), writer);
    }
  }
  writer.EmptyArray("inferenceAcceleratorOverrides");
  writer.EndObject();
}

}  // namespace berth::api
