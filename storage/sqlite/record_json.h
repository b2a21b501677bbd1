// The parts of records that live in JSON columns: what an operator rarely asks for. Members carry
// the model's names and are left out while they have their default, which keeps rows small.
//
// Each With... takes the record as its columns made it and returns it with the JSON's members set.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/container_instance.h"
#include "model/ids.h"
#include "model/tag.h"
#include "model/task.h"

namespace berth::storage::sqlite {

std::string TaskDetailsJson(const model::Task& task);
absl::StatusOr<model::Task> WithDetails(model::Task task, std::string_view json);

std::string InstanceDetailsJson(const model::ContainerInstance& instance);
absl::StatusOr<model::ContainerInstance> WithDetails(model::ContainerInstance instance,
                                                     std::string_view json);

std::string TagsJson(const model::Tags& tags);
absl::StatusOr<model::Tags> ParseTags(std::string_view json);

std::string TaskIdsJson(const std::vector<model::TaskId>& tasks);
absl::StatusOr<std::vector<model::TaskId>> ParseTaskIds(std::string_view json);

}  // namespace berth::storage::sqlite
