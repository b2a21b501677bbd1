#include "api/reference.h"

#include <string_view>

#include "absl/strings/str_format.h"
#include "api/differences.h"
#include "api/routes.h"
#include "api/schema/schema.h"
#include "api/unbuilt.h"

namespace berth::api {

namespace {

constexpr char kHead[] = R"(# The API, action by action

<!-- Made by `berth api-reference > docs/api.md`. Do not edit: the tables are in api/. -->

Berth answers all %d actions of the Amazon ECS API (2014-11-13): %d are carried out, the other %d get
a well-formed answer that says so. What is not named as a difference is meant to work as on AWS; where
it does not, that is a bug.

## What differs everywhere

)";

constexpr char kTableHead[] = R"(
## Actions

Where an action is not built, the third column is its answer. What is "not available in this version"
is to come; the others are about what only AWS has.

| Action | Built | Differences from AWS, and why |
|---|---|---|
)";

bool IsBuilt(const schema::Operation& operation) { return RouteOf(operation).handler != nullptr; }

// The action's rows as one cell.
std::string DifferencesOf(std::string_view action) {
  std::string cell;
  for (const Difference& difference : Differences()) {
    if (difference.action != action) continue;
    if (!cell.empty()) cell += " ";
    cell += difference.text;
  }
  return cell;
}

// A cell ends at a bar and a row at a line break.
std::string AsCell(std::string_view text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|') cell += '\\';
    cell += c == '\n' ? ' ' : c;
  }
  return cell;
}

}  // namespace

std::string ApiReference() {
  size_t built = 0;
  for (const schema::Operation& operation : schema::Operations()) built += IsBuilt(operation);
  const size_t all = schema::Operations().size();

  std::string page = absl::StrFormat(kHead, all, built, all - built);
  for (const std::string_view difference : CommonDifferences()) {
    absl::StrAppendFormat(&page, "- %s\n", difference);
  }
  page += kTableHead;
  for (const schema::Operation& operation : schema::Operations()) {
    const bool is_built = IsBuilt(operation);
    absl::StrAppendFormat(
        &page, "| %s | %s | %s |\n", operation.name, is_built ? "yes" : "no",
        AsCell(is_built ? DifferencesOf(operation.name) : DescribeUnbuilt(operation)));
  }
  return page;
}

}  // namespace berth::api
