#include "api/routes.h"

#include <vector>

#include "model/check.h"

namespace berth::api {

#define BERTH_ACTION(name) net::awaitable<Answer> name(Call call);
#include "api/built_actions.inc"
#undef BERTH_ACTION

namespace {

constexpr std::string_view kTargetPrefix = "AmazonEC2ContainerServiceV20141113.";

struct BuiltAction {
  std::string_view name;
  Handler handler;
};

constexpr BuiltAction kBuiltActions[] = {
#define BERTH_ACTION(name) {#name, &name},
#include "api/built_actions.inc"
#undef BERTH_ACTION
};

// In the order of schema::Operations(), so that the place there is the place here.
std::vector<Route> MakeRoutes() {
  const std::span<const schema::Operation> operations = schema::Operations();
  std::vector<Route> routes;
  for (const schema::Operation& operation : operations) routes.push_back({.operation = &operation});
  for (const BuiltAction& action : kBuiltActions) {
    const schema::Operation* operation = schema::FindOperation(action.name);
    BERTH_CHECK(operation != nullptr);
    routes[static_cast<size_t>(operation - operations.data())].handler = action.handler;
  }
  return routes;
}

}  // namespace

const Route& RouteOf(const schema::Operation& operation) {
  static const std::vector<Route> routes = MakeRoutes();
  return routes[static_cast<size_t>(&operation - schema::Operations().data())];
}

const Route* FindRoute(std::string_view target) {
  if (!target.starts_with(kTargetPrefix)) return nullptr;
  const schema::Operation* operation = schema::FindOperation(target.substr(kTargetPrefix.size()));
  if (operation == nullptr) return nullptr;
  return &RouteOf(*operation);
}

}  // namespace berth::api
