// What the core wants kept: rows to upsert or delete. A batch of changes is committed whole or not
// at all, and putting the same record twice is harmless, so a failed batch can be tried again.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "model/access_key.h"
#include "model/account_setting.h"
#include "model/cluster.h"
#include "model/container_instance.h"
#include "model/ids.h"
#include "model/task.h"
#include "model/task_definition.h"

namespace berth::model {

// The highest revision ever used of a family; outlives its revisions.
struct Family {
  std::string name = {};
  int64_t last_revision = 0;
};

// A RunTask clientToken and what it stands for. Scope: (cluster, token). ecs-api.md 7.3.
struct ClientToken {
  ClusterName cluster = {};
  std::string token = {};
  std::string fingerprint = {};  // of the request without the token, in canonical form
  std::vector<TaskId> tasks = {};
  absl::Time created_at = absl::InfinitePast();
};

struct PutCluster {
  std::shared_ptr<const Cluster> record;
};
// Requires: nothing of the cluster is kept any more.
struct DeleteCluster {
  int64_t sequence;
};
struct PutFamily {
  Family record;
};
struct PutTaskDefinition {
  std::shared_ptr<const TaskDefinition> record;
};
struct DeleteTaskDefinition {
  int64_t sequence;
};
struct PutInstance {
  std::shared_ptr<const ContainerInstance> record;
};
struct DeleteInstance {
  int64_t sequence;
};
struct PutTask {
  std::shared_ptr<const Task> record;
};
struct DeleteTask {
  int64_t sequence;
};
struct PutClientToken {
  ClientToken record;
};
struct DeleteClientToken {
  ClusterName cluster;
  std::string token;
};

struct PutAccountSetting {
  AccountSetting record;
};
struct DeleteAccountSetting {
  std::string principal_arn;
  std::string name;
};
// A revoked key is kept, so that the audit log's ids stay explained.
struct PutAccessKey {
  AccessKeyRecord record;
};

using Change =
    std::variant<PutCluster, DeleteCluster, PutFamily, PutTaskDefinition, DeleteTaskDefinition,
                 PutInstance, DeleteInstance, PutTask, DeleteTask, PutClientToken,
                 DeleteClientToken, PutAccountSetting, DeleteAccountSetting, PutAccessKey>;

// Everything that was kept, as a store gives it back. Loaded records hold documents and no specs: a
// definition's `spec`, `compatibilities` and `requires_attributes`, an override's typed members and
// a task's `spec` are empty until api/hydrate.h has made them from the documents. A loaded task
// points to its loaded definition.
struct Records {
  std::vector<std::shared_ptr<Cluster>> clusters = {};
  std::vector<Family> families = {};
  std::vector<std::shared_ptr<TaskDefinition>> definitions = {};
  std::vector<std::shared_ptr<ContainerInstance>> instances = {};
  std::vector<std::shared_ptr<Task>> tasks = {};
  std::vector<ClientToken> client_tokens = {};
  std::vector<AccountSetting> account_settings = {};
  std::vector<std::shared_ptr<AccessKey>> access_keys = {};
};

}  // namespace berth::model
