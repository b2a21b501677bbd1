// Answers about placement (docs/explain.md), for people to read.
#pragma once

#include <string>

#include <rapidjson/document.h>

namespace berth::cli {

// Where the tasks would go and why there, how many more, and what ends it.
std::string PlanText(const rapidjson::Value& plan);
// Where a task is, and what its group was refused for.
std::string ExplainedText(const rapidjson::Value& explained);

}  // namespace berth::cli
