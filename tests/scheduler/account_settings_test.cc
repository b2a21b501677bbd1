// PutAccountSetting, DeleteAccountSetting, ListAccountSettings.
#include "tests/scheduler/world.h"

namespace berth::scheduler {
namespace {

using Settings = std::vector<model::AccountSetting>;

const std::string kMe = "arn:aws:iam::000000000000:user/me";
const std::string kRoot = "arn:aws:iam::000000000000:root";

Settings Of(World& world, std::vector<std::string> principals) {
  return world.Ok(ListAccountSettings{.principal_arns = std::move(principals)}).settings;
}

}  // namespace

TEST_CASE("settings are those of each principal, listed by name, and survive a restart") {
  World world;
  const model::AccountSetting mine{.principal_arn = kMe, .name = "b", .value = "1"};
  const model::AccountSetting other{.principal_arn = kMe, .name = "a", .value = "2"};
  const model::AccountSetting roots{.principal_arn = kRoot, .name = "b", .value = "3"};
  for (const auto& setting : {mine, other, roots}) {
    world.Ok(PutAccountSetting{.setting = setting});
  }

  world.Restart();

  CHECK(Of(world, {kMe}) == Settings{other, mine});
  CHECK(Of(world, {kRoot, kMe}) == Settings{roots, other, mine});
  CHECK(Of(world, {"arn:aws:iam::000000000000:user/m"}).empty());
}

TEST_CASE("a setting is replaced, and put or deleted again changes nothing") {
  World world;
  model::AccountSetting setting{.principal_arn = kMe, .name = "a", .value = "1"};
  world.Ok(PutAccountSetting{.setting = setting});
  CHECK(world.Do(PutAccountSetting{.setting = setting}).changes.empty());
  setting.value = "2";
  world.Ok(PutAccountSetting{.setting = setting});
  CHECK(Of(world, {kMe}) == Settings{setting});

  const DeleteAccountSetting remove{.principal_arn = kMe, .name = "a"};
  const uint64_t deleted = world.Do(remove).saw_change;
  CHECK(deleted == world.state.change_number());
  CHECK(world.Do(remove).changes.empty());

  CHECK(Of(world, {kMe}).empty());
  CHECK(world.Do(ListAccountSettings{.principal_arns = {kMe}}).saw_change == deleted);
  world.Restart();
  CHECK(Of(world, {kMe}).empty());
}

}  // namespace berth::scheduler
