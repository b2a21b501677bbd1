// What every store must do. Each test runs against both.
#include <catch2/catch.hpp>

#include "storage/memory_store.h"
#include "storage/sqlite/sqlite_store.h"
#include "tests/storage/data_folder.h"
#include "tests/storage/sample_records.h"

namespace berth::storage {
namespace {

using model::Change;
using model::Records;
using model::TaskDefinition;
using namespace testing;  // NOLINT: the samples of this folder's tests

// A store that can be closed and opened again.
class StoreUnderTest {
 public:
  enum class Kind { kMemory, kSqlite };

  explicit StoreUnderTest(Kind kind) : kind_(kind) {
    if (kind_ == Kind::kMemory) store_ = std::make_unique<MemoryStore>();
    Reopen();
  }

  void Reopen() {
    if (kind_ == Kind::kMemory) {
      static_cast<MemoryStore&>(*store_).Crash();
      return;
    }
    store_ = nullptr;  // The lock is given back before it is asked for.
    absl::StatusOr<std::unique_ptr<Store>> opened = OpenSqliteStore(folder_.File());
    INFO(opened.status());
    REQUIRE(opened.ok());
    store_ = *std::move(opened);
  }

  absl::Status Commit(const std::vector<Change>& changes) { return store_->Commit(changes); }

  Records Load() {
    absl::StatusOr<Records> records = store_->Load();
    INFO(records.status());
    REQUIRE(records.ok());
    return *std::move(records);
  }

 private:
  Kind kind_;
  DataFolder folder_;
  std::unique_ptr<Store> store_;
};

StoreUnderTest::Kind EachKind() {
  const auto kind = GENERATE(StoreUnderTest::Kind::kMemory, StoreUnderTest::Kind::kSqlite);
  UNSCOPED_INFO((kind == StoreUnderTest::Kind::kMemory ? "memory store" : "SQLite store"));
  return kind;
}

const std::shared_ptr<const TaskDefinition>& Definition() {
  static const std::shared_ptr<const TaskDefinition> definition = Shared(FullDefinition(1));
  return definition;
}

std::vector<Change> OneOfEach() {
  return {model::PutCluster{Shared(FullCluster(1))},
          model::PutFamily{FullFamily(1)},
          model::PutTaskDefinition{Definition()},
          model::PutInstance{Shared(FullInstance(1))},
          model::PutTask{Shared(FullTask(1, Definition()))},
          model::PutClientToken{FullClientToken(1)},
          model::PutAccountSetting{FullAccountSetting(1)},
          model::PutAccessKey{Shared(FullAccessKey(1))}};
}

Records RecordsOfOneOfEach() {
  Records records;
  records.clusters.push_back(std::make_shared<model::Cluster>(FullCluster(1)));
  records.families.push_back(FullFamily(1));
  records.definitions.push_back(std::make_shared<TaskDefinition>(FullDefinition(1)));
  records.instances.push_back(std::make_shared<model::ContainerInstance>(FullInstance(1)));
  records.tasks.push_back(std::make_shared<model::Task>(FullTask(1, Definition())));
  records.client_tokens.push_back(FullClientToken(1));
  records.account_settings.push_back(FullAccountSetting(1));
  records.access_keys.push_back(std::make_shared<model::AccessKey>(FullAccessKey(1)));
  return records;
}

// The names of members that are alike in both.
std::vector<std::string> Alike(const Members& a, const Members& b) {
  std::vector<std::string> names;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) names.push_back(a[i].first);
  }
  return names;
}

const std::vector<std::string> kNone;

TEST_CASE("the samples leave no member at its default", "[conformance]") {
  CHECK(Alike(MembersOf(FullCluster(1)), MembersOf(model::Cluster{})) == kNone);
  CHECK(Alike(MembersOf(FullFamily(1)), MembersOf(model::Family{})) == kNone);
  CHECK(Alike(MembersOf(FullDefinition(1)), MembersOf(TaskDefinition{})) == kNone);
  CHECK(Alike(MembersOf(FullInstance(1)), MembersOf(model::ContainerInstance{})) == kNone);
  CHECK(Alike(MembersOf(FullTask(1, Definition())), MembersOf(model::Task{})) == kNone);
  CHECK(Alike(MembersOf(FullClientToken(1)), MembersOf(model::ClientToken{})) == kNone);
  CHECK(Alike(MembersOf(FullAccountSetting(1)), MembersOf(model::AccountSetting{})) == kNone);
  CHECK(Alike(MembersOf(FullAccessKey(1)), MembersOf(model::AccessKey{})) == kNone);
}

TEST_CASE("a new store is empty", "[conformance]") {
  StoreUnderTest store(EachKind());

  CHECK(Describe(store.Load()) == kNone);
}

TEST_CASE("every member of every record comes back, before and after a restart", "[conformance]") {
  StoreUnderTest store(EachKind());

  REQUIRE(store.Commit(OneOfEach()).ok());

  const std::vector<std::string> expected = Describe(RecordsOfOneOfEach());
  CHECK(Describe(store.Load()) == expected);
  store.Reopen();
  CHECK(Describe(store.Load()) == expected);
}

TEST_CASE("records whose members all have their defaults come back as such", "[conformance]") {
  StoreUnderTest store(EachKind());
  const auto definition = std::make_shared<TaskDefinition>();
  const auto task = std::make_shared<model::Task>();
  task->definition = definition;

  REQUIRE(store
              .Commit({model::PutCluster{std::make_shared<model::Cluster>()}, model::PutFamily{},
                       model::PutTaskDefinition{definition},
                       model::PutInstance{std::make_shared<model::ContainerInstance>()},
                       model::PutTask{task}, model::PutClientToken{}, model::PutAccountSetting{},
                       model::PutAccessKey{std::make_shared<model::AccessKey>()}})
              .ok());
  store.Reopen();

  Records expected;
  expected.clusters.push_back(std::make_shared<model::Cluster>());
  expected.families.emplace_back();
  expected.definitions.push_back(definition);
  expected.instances.push_back(std::make_shared<model::ContainerInstance>());
  expected.tasks.push_back(task);
  expected.client_tokens.emplace_back();
  expected.account_settings.emplace_back();
  expected.access_keys.push_back(std::make_shared<model::AccessKey>());
  CHECK(Describe(store.Load()) == Describe(expected));
}

TEST_CASE("every word of every status comes back", "[conformance]") {
  StoreUnderTest store(EachKind());
  const auto each = [](auto last, auto use) {
    for (int i = 0; i <= static_cast<int>(last); ++i) use(static_cast<decltype(last)>(i));
  };
  std::vector<Change> changes = {model::PutTaskDefinition{Definition()}};
  Records expected;
  expected.definitions.push_back(std::make_shared<TaskDefinition>(*Definition()));
  int64_t sequence = 100;
  const auto put_task = [&](auto set) {
    auto task = std::make_shared<model::Task>(PlainTask(++sequence, Definition()));
    set(*task);
    changes.push_back(model::PutTask{task});
    expected.tasks.push_back(task);
  };
  each(model::TaskStatus::kStopped, [&](model::TaskStatus status) {
    put_task([&](model::Task& task) { task.last_status = status; });
  });
  each(model::StopCode::kInfrastructureHealth,
       [&](model::StopCode code) { put_task([&](model::Task& task) { task.stop_code = code; }); });
  each(model::LaunchType::kManagedInstances, [&](model::LaunchType type) {
    put_task([&](model::Task& task) { task.launch_type = type; });
  });
  each(model::ContainerStatus::kStopped, [&](model::ContainerStatus status) {
    put_task([&](model::Task& task) { task.containers[0].last_status = status; });
  });
  each(model::HealthStatus::kUnhealthy, [&](model::HealthStatus status) {
    put_task([&](model::Task& task) { task.containers[0].health_status = status; });
  });
  each(model::DefinitionStatus::kDeleteInProgress, [&](model::DefinitionStatus status) {
    auto definition = std::make_shared<TaskDefinition>(FullDefinition(++sequence));
    definition->status = status;
    changes.push_back(model::PutTaskDefinition{definition});
    expected.definitions.push_back(definition);
  });
  each(model::InstanceStatus::kInactive, [&](model::InstanceStatus status) {
    auto instance = std::make_shared<model::ContainerInstance>(FullInstance(++sequence));
    instance->status = status;
    changes.push_back(model::PutInstance{instance});
    expected.instances.push_back(instance);
  });
  each(model::ClusterStatus::kInactive, [&](model::ClusterStatus status) {
    auto cluster = std::make_shared<model::Cluster>(FullCluster(++sequence));
    cluster->status = status;
    changes.push_back(model::PutCluster{cluster});
    expected.clusters.push_back(cluster);
  });
  each(model::KeyRole::kAgent, [&](model::KeyRole role) {
    auto key = std::make_shared<model::AccessKey>(FullAccessKey(++sequence));
    key->role = role;
    changes.push_back(model::PutAccessKey{key});
    expected.access_keys.push_back(key);
  });

  REQUIRE(store.Commit(changes).ok());
  store.Reopen();

  CHECK(Describe(store.Load()) == Describe(expected));
}

TEST_CASE("what is derived is not kept, and a task shares its loaded definition", "[conformance]") {
  StoreUnderTest store(EachKind());
  auto definition = std::make_shared<TaskDefinition>(FullDefinition(1));
  definition->spec = std::make_shared<const model::TaskSpec>();
  definition->compatibilities = {model::LaunchType::kEc2};
  definition->requires_attributes = {"some"};
  auto task = std::make_shared<model::Task>(FullTask(1, definition));
  task->spec = definition->spec;
  task->overrides = std::make_shared<const model::TaskOverrides>(
      model::TaskOverrides{.document = "{}", .cpu_text = "256", .containers = {{.name = "main"}}});

  REQUIRE(store.Commit({model::PutTaskDefinition{definition}, model::PutTask{task}}).ok());

  const Records records = store.Load();
  REQUIRE(records.definitions.size() == 1);
  REQUIRE(records.tasks.size() == 1);
  CHECK(records.definitions[0]->spec == nullptr);
  CHECK(records.definitions[0]->compatibilities.empty());
  CHECK(records.definitions[0]->requires_attributes.empty());
  CHECK(records.tasks[0]->definition == records.definitions[0]);
  CHECK(records.tasks[0]->spec == nullptr);
  CHECK(records.tasks[0]->overrides->document == "{}");
  CHECK_FALSE(records.tasks[0]->overrides->cpu_text.has_value());
  CHECK(records.tasks[0]->overrides->containers.empty());
}

TEST_CASE("a batch that is committed twice has the effect of one", "[conformance]") {
  StoreUnderTest store(EachKind());

  REQUIRE(store.Commit(OneOfEach()).ok());
  REQUIRE(store.Commit(OneOfEach()).ok());
  store.Reopen();
  REQUIRE(store.Commit(OneOfEach()).ok());

  CHECK(Describe(store.Load()) == Describe(RecordsOfOneOfEach()));
}

TEST_CASE("a record that is put again replaces the one before, in every member", "[conformance]") {
  StoreUnderTest store(EachKind());
  const auto definition = std::make_shared<TaskDefinition>();
  definition->sequence = 1;
  auto task = std::make_shared<model::Task>();
  task->sequence = 1;
  task->id = FullTask(1, definition).id;  // What it is a run of never changes.
  task->definition = definition;
  auto cluster = std::make_shared<model::Cluster>();
  cluster->sequence = 1;
  auto instance = std::make_shared<model::ContainerInstance>();
  instance->sequence = 1;
  Records small;
  small.clusters.push_back(cluster);
  small.families.push_back({.name = FullFamily(1).name, .last_revision = 1});
  small.definitions.push_back(definition);
  small.instances.push_back(instance);
  small.tasks.push_back(task);
  small.client_tokens.push_back(
      {.cluster = FullClientToken(1).cluster, .token = FullClientToken(1).token});
  small.account_settings.push_back(
      {.principal_arn = FullAccountSetting(1).principal_arn, .name = FullAccountSetting(1).name});
  const auto key = std::make_shared<model::AccessKey>();
  key->sequence = 1;
  small.access_keys.push_back(key);
  const std::vector<Change> put_small = {model::PutCluster{cluster},
                                         model::PutFamily{small.families[0]},
                                         model::PutTaskDefinition{definition},
                                         model::PutInstance{instance},
                                         model::PutTask{task},
                                         model::PutClientToken{small.client_tokens[0]},
                                         model::PutAccountSetting{small.account_settings[0]},
                                         model::PutAccessKey{key}};

  REQUIRE(store.Commit(put_small).ok());
  REQUIRE(store.Commit(OneOfEach()).ok());
  CHECK(Describe(store.Load()) == Describe(RecordsOfOneOfEach()));

  REQUIRE(store.Commit(put_small).ok());
  CHECK(Describe(store.Load()) == Describe(small));
}

TEST_CASE("what is deleted is gone after a restart, and deleting it again is harmless",
          "[conformance]") {
  StoreUnderTest store(EachKind());
  const model::ClientToken token = FullClientToken(1);
  const model::AccountSetting setting = FullAccountSetting(1);
  const std::vector<Change> remove = {
      model::DeleteTask{1},     model::DeleteTaskDefinition{1},
      model::DeleteInstance{1}, model::DeleteClientToken{token.cluster, token.token},
      model::DeleteCluster{1},  model::DeleteAccountSetting{setting.principal_arn, setting.name}};
  REQUIRE(store.Commit(remove).ok());  // Nothing is there yet.
  REQUIRE(store.Commit(OneOfEach()).ok());

  REQUIRE(store.Commit(remove).ok());
  REQUIRE(store.Commit(remove).ok());

  Records left;
  left.families.push_back(FullFamily(1));
  left.access_keys.push_back(std::make_shared<model::AccessKey>(FullAccessKey(1)));
  CHECK(Describe(store.Load()) == Describe(left));
  store.Reopen();
  CHECK(Describe(store.Load()) == Describe(left));
}

TEST_CASE("the last change of a record in a batch is the one that holds", "[conformance]") {
  StoreUnderTest store(EachKind());
  const model::ClientToken token = FullClientToken(1);
  model::Task stopped = PlainTask(1, Definition());
  stopped.last_status = model::TaskStatus::kStopped;

  REQUIRE(store
              .Commit({model::PutTaskDefinition{Definition()},
                       model::PutTask{Shared(PlainTask(1, Definition()))},
                       model::PutTask{Shared(stopped)},
                       model::PutTask{Shared(PlainTask(2, Definition()))}, model::DeleteTask{2},
                       model::PutClientToken{token},
                       model::DeleteClientToken{token.cluster, token.token},
                       model::PutClientToken{token}})
              .ok());
  store.Reopen();

  const Records records = store.Load();
  REQUIRE(records.tasks.size() == 1);
  CHECK(records.tasks[0]->last_status == model::TaskStatus::kStopped);
  CHECK(records.client_tokens.size() == 1);
}

TEST_CASE("one token may stand for different requests in different clusters", "[conformance]") {
  StoreUnderTest store(EachKind());
  model::ClientToken other = FullClientToken(1);
  other.cluster = {.value = "other"};
  other.fingerprint = "another request";

  REQUIRE(
      store.Commit({model::PutClientToken{FullClientToken(1)}, model::PutClientToken{other}}).ok());
  CHECK(store.Load().client_tokens.size() == 2);

  REQUIRE(store.Commit({model::DeleteClientToken{FullClientToken(1).cluster, other.token}}).ok());
  const Records records = store.Load();
  REQUIRE(records.client_tokens.size() == 1);
  CHECK(records.client_tokens[0].fingerprint == "another request");
}

TEST_CASE("each principal has its own value of a setting", "[conformance]") {
  StoreUnderTest store(EachKind());
  const model::AccountSetting mine = FullAccountSetting(1);
  model::AccountSetting yours = mine;
  yours.principal_arn = "arn:aws:iam::000000000000:root";
  yours.value = "disabled";

  REQUIRE(store.Commit({model::PutAccountSetting{mine}, model::PutAccountSetting{yours}}).ok());
  store.Reopen();
  CHECK(store.Load().account_settings.size() == 2);

  REQUIRE(store.Commit({model::DeleteAccountSetting{mine.principal_arn, mine.name}}).ok());
  store.Reopen();
  CHECK(store.Load().account_settings == std::vector<model::AccountSetting>{yours});
}

TEST_CASE("the order of a task and its definition within a batch does not matter",
          "[conformance]") {
  StoreUnderTest store(EachKind());

  CHECK(store
            .Commit({model::PutTask{Shared(PlainTask(1, Definition()))},
                     model::PutTaskDefinition{Definition()}})
            .ok());
  CHECK(store.Commit({model::DeleteTaskDefinition{1}, model::DeleteTask{1}}).ok());
  CHECK(Describe(store.Load()) == kNone);
}

TEST_CASE("a batch that cannot be kept is refused whole, and the store goes on", "[conformance]") {
  struct Case {
    std::string why;
    std::vector<Change> changes;
    std::string named;
  };
  const model::Task task = PlainTask(1, Definition());
  model::Task other_id = task;
  other_id.id = {.value = "another"};
  const auto c = GENERATE_COPY(values<Case>(
      {{"a task without its definition",
        {model::PutTask{Shared(PlainTask(7, Shared(FullDefinition(2))))}},
        "sequence 7"},
       {"a definition goes that a task refers to", {model::DeleteTaskDefinition{1}}, "sequence 1"},
       {"a sequence taken by another task", {model::PutTask{Shared(other_id)}}, "sequence 1"},
       {"a task that turns into a run of another definition",
        {model::PutTaskDefinition{Shared(FullDefinition(2))},
         model::PutTask{Shared(PlainTask(1, Shared(FullDefinition(2))))}},
        "sequence 1"}}));
  INFO(c.why);
  StoreUnderTest store(EachKind());
  REQUIRE(
      store.Commit({model::PutTaskDefinition{Definition()}, model::PutTask{Shared(task)}}).ok());
  const std::vector<std::string> before = Describe(store.Load());
  std::vector<Change> batch = {model::PutClientToken{FullClientToken(1)},
                               model::PutFamily{FullFamily(1)}};
  batch.insert(batch.end(), c.changes.begin(), c.changes.end());
  batch.push_back(model::PutInstance{Shared(FullInstance(1))});

  const absl::Status refused = store.Commit(batch);

  CHECK(refused.code() == absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(refused.message()), Catch::Contains(c.named));
  CHECK(Describe(store.Load()) == before);
  CHECK(store.Commit({model::PutClientToken{FullClientToken(1)}}).ok());
  store.Reopen();
  CHECK(store.Load().client_tokens.size() == 1);
}

TEST_CASE("a client token that a refused batch deleted or made is as it was before",
          "[conformance]") {
  StoreUnderTest store(EachKind());
  const model::ClientToken kept = FullClientToken(1);
  const model::ClientToken made = FullClientToken(2);
  const Change impossible = model::PutTask{Shared(PlainTask(7, Shared(FullDefinition(2))))};
  REQUIRE(store.Commit({model::PutClientToken{kept}}).ok());

  REQUIRE_FALSE(store
                    .Commit({model::DeleteClientToken{kept.cluster, kept.token},
                             model::PutClientToken{made}, impossible})
                    .ok());

  // Were it known under another row now, or under none, putting and deleting would leave one
  // behind.
  REQUIRE(store.Commit({model::PutClientToken{kept}, model::PutClientToken{made}}).ok());
  store.Reopen();
  CHECK(store.Load().client_tokens.size() == 2);
  REQUIRE(store
              .Commit({model::DeleteClientToken{kept.cluster, kept.token},
                       model::DeleteClientToken{made.cluster, made.token}})
              .ok());
  CHECK(Describe(store.Load()) == kNone);
}

TEST_CASE("records come back in the order of their sequence", "[conformance]") {
  StoreUnderTest store(EachKind());
  std::vector<Change> changes = {model::PutTaskDefinition{Definition()}};
  for (const int64_t sequence : {int64_t{30}, int64_t{4}, int64_t{1} << 40, int64_t{5}}) {
    changes.push_back(model::PutTask{Shared(PlainTask(sequence, Definition()))});
  }

  REQUIRE(store.Commit(changes).ok());

  std::vector<int64_t> found;
  for (const auto& task : store.Load().tasks) found.push_back(task->sequence);
  CHECK(found == std::vector<int64_t>{4, 5, 30, int64_t{1} << 40});
}

TEST_CASE("an empty batch is committed", "[conformance]") {
  StoreUnderTest store(EachKind());

  CHECK(store.Commit({}).ok());
}

}  // namespace
}  // namespace berth::storage
