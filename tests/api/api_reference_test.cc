// docs/api.md says what the tables say.
#include <algorithm>
#include <fstream>
#include <sstream>

#include <catch2/catch.hpp>

#include "api/differences.h"
#include "api/reference.h"
#include "api/routes.h"
#include "api/schema/schema.h"
#include "tests/support/source_dir.h"

namespace berth::api {
namespace {

TEST_CASE("docs/api.md is up to date", "[api]") {
  std::ifstream file(testing::SourceDir() / "docs" / "api.md");
  std::stringstream text;
  text << file.rdbuf();

  const bool is_up_to_date = text.str() == ApiReference();
  INFO("bring it up to date: build/<preset>/berth api-reference > docs/api.md");
  CHECK(is_up_to_date);
}

TEST_CASE("the reference has a row for every action", "[api]") {
  const std::string page = ApiReference();

  for (const schema::Operation& operation : schema::Operations()) {
    INFO(operation.name);
    const std::string row = std::string("\n| ") + operation.name + " | ";
    const size_t begin = page.find(row);
    REQUIRE(begin != std::string::npos);
    CHECK(page.find(row, begin + 1) == std::string::npos);
    const std::string line = page.substr(begin + 1, page.find('\n', begin + 1) - begin - 1);
    const bool is_built = RouteOf(operation).handler != nullptr;
    CHECK(line.substr(row.size() - 1, 4) == (is_built ? "yes " : "no |"));
    // What is not built always says why.
    if (!is_built) CHECK(line.size() > row.size() + 10);
  }
}

// What `grep -rn "not available\\|not offered\\|not taken" api model placement` finds, and what
// else is refused that AWS takes. An empty action: everywhere.
TEST_CASE("what AWS takes and Berth refuses is named", "[api]") {
  const auto [action, words] = GENERATE(table<std::string_view, std::string_view>({
      {"", "`(?i)`"},
      {"", "possessive"},
      {"", "look ahead"},
      {"", "`&&`"},
      {"CreateCluster", "`capacityProviders`"},
      {"CreateCluster", "`defaultCapacityProviderStrategy`"},
      {"ListAccountSettings", "`principalArn`"},
      {"ListTasks", "`daemonName`"},
      {"PutAccountSetting", "`principalArn`"},
      {"RegisterTaskDefinition", "`trustedExecutionConfiguration.isolationMode`"},
      {"RegisterTaskDefinition", "`InferenceAccelerator`"},
      {"RunTask", "`capacityProviderStrategy`"},
      {"RunTask", "`volumeConfigurations`"},
      {"RunTask", "`overrides.inferenceAcceleratorOverrides`"},
      {"StartTask", "`volumeConfigurations`"},
      {"TagResource", "services"},
  }));
  INFO(action << ": " << words);
  const auto names = [words = words](std::string_view text) {
    return text.find(words) != std::string_view::npos;
  };

  if (action.empty()) {
    CHECK(std::ranges::any_of(CommonDifferences(), names));
  } else {
    CHECK(std::ranges::any_of(Differences(), [&, action = action](const Difference& difference) {
      return difference.action == action && names(difference.text);
    }));
  }
}

TEST_CASE("differences are of actions that are built, and in order", "[api]") {
  std::string_view before;
  for (const Difference& difference : Differences()) {
    INFO(difference.action);
    const schema::Operation* operation = schema::FindOperation(difference.action);
    REQUIRE(operation != nullptr);
    CHECK(RouteOf(*operation).handler != nullptr);
    CHECK(before <= difference.action);
    before = difference.action;
    CHECK(difference.text.find_first_of("|\n") == std::string_view::npos);
    CHECK(difference.text.ends_with('.'));
  }
}

}  // namespace
}  // namespace berth::api
