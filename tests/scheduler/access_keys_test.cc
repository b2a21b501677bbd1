#include "tests/scheduler/world.h"

namespace berth::scheduler {
namespace {

CreateAccessKey Key(const std::string& id, model::KeyRole role = model::KeyRole::kAgent) {
  return {.key = {.id = id, .user = "u-" + id, .role = role, .sealed_secret = "v1:00"}};
}

std::vector<std::string> Ids(World& world) {
  std::vector<std::string> ids;
  for (const auto& key : world.Ok(ListAccessKeys{}).keys) ids.push_back(key->id);
  return ids;
}

}  // namespace

TEST_CASE("an access key is kept as it was made, with the time") {
  World world;

  const model::AccessKeyRecord key = world.Ok(Key("AKIA1"));

  CHECK(key->user == "u-AKIA1");
  CHECK(key->role == model::KeyRole::kAgent);
  CHECK(key->sealed_secret == "v1:00");
  CHECK(key->created_at == kStart);
  CHECK(key->revoked_at == absl::InfinitePast());
}

TEST_CASE("keys are listed newest last, revoked ones too, also after a restart") {
  World world;
  world.Ok(Key("AKIA3"));
  world.Ok(Key("AKIA1"));
  world.Ok(Key("AKIA2"));
  world.Ok(RevokeAccessKey{.id = "AKIA1"});

  CHECK(Ids(world) == std::vector<std::string>{"AKIA3", "AKIA1", "AKIA2"});
  world.Restart();
  CHECK(Ids(world) == std::vector<std::string>{"AKIA3", "AKIA1", "AKIA2"});
  CHECK(world.Ok(ListAccessKeys{}).keys[1]->revoked_at == kStart);
}

TEST_CASE("revoking a key again changes nothing") {
  World world;
  world.Ok(Key("AKIA1"));
  const model::AccessKeyRecord revoked = world.Ok(RevokeAccessKey{.id = "AKIA1"});
  const size_t changes = world.changes.size();

  CHECK(revoked->revoked_at == kStart);
  CHECK(world.Ok(RevokeAccessKey{.id = "AKIA1"}) == revoked);
  CHECK(world.changes.size() == changes);
}

TEST_CASE("a key that is not there cannot be revoked") {
  World world;

  CHECK(world.Refusal(RevokeAccessKey{.id = "AKIA1"}, model::ErrorKind::kResourceNotFound) ==
        "there is no access key AKIA1");
}

TEST_CASE("an id is given once, also when its key was revoked") {
  World world;
  world.Ok(Key("AKIA1"));

  CHECK(world.Refusal(Key("AKIA1")) == "there is an access key AKIA1 already");
  world.Ok(RevokeAccessKey{.id = "AKIA1"});
  CHECK(world.Refusal(Key("AKIA1")) == "there is an access key AKIA1 already");
}

TEST_CASE("the number of good keys is limited, and revoking makes room") {
  World world;
  const Context context{.now = kStart, .ids = world.ids};
  for (int i = 0; i < 20'000; ++i) {
    REQUIRE(Decide(world.state, Key("AKIA" + std::to_string(i)), context).reply.ok());
  }

  const auto refused = Decide(world.state, Key("AKIAX"), context);
  CHECK(refused.reply.status().message() ==
        "there are 20000 access keys; revoke some that are not needed");
  REQUIRE(Decide(world.state, RevokeAccessKey{.id = "AKIA7"}, context).reply.ok());
  CHECK(Decide(world.state, Key("AKIAX"), context).reply.ok());
}

}  // namespace berth::scheduler
