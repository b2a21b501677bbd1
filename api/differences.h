// How the actions that this version carries out differ from AWS's, and why: for docs/api.md.
#pragma once

#include <span>
#include <string_view>

namespace berth::api {

struct Difference {
  std::string_view action;
  std::string_view text;  // Markdown, without '|' and line breaks
};

// Sorted by action; one action may have several. What is not here works as ecs-api.md says.
std::span<const Difference> Differences();

// Those of all actions.
std::span<const std::string_view> CommonDifferences();

}  // namespace berth::api
