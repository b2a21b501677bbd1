// Commands: everything that can happen to a cluster, as plain values. Each has the Reply that it is
// answered with; Decide (decide.h) takes a command to its outcome.
//
// Identifiers are already parsed (model/arn.h); everything else that ECS checks, and in which
// order, is checked in Decide.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "model/access_key.h"
#include "model/account_setting.h"
#include "model/arn.h"
#include "model/cluster.h"
#include "model/container_instance.h"
#include "model/ids.h"
#include "model/tag.h"
#include "model/task.h"
#include "model/task_definition.h"
#include "model/task_status.h"
#include "placement/choice.h"
#include "placement/explanation.h"
#include "placement/inventory.h"
#include "placement/place.h"
#include "placement/rules.h"
#include "scheduler/failure_log.h"

namespace berth::scheduler {

// --- clusters ---------------------------------------------------------------------------------

struct ClusterSnapshot {
  model::ClusterRecord record = {};
  int64_t registered_instances = 0;  // ACTIVE and DRAINING
  int64_t running_tasks = 0;         // lastStatus RUNNING
  int64_t pending_tasks = 0;         // lastStatus PENDING
  // For `statistics`: the same two by launch type.
  struct ByLaunchType {
    int64_t running = 0;
    int64_t pending = 0;
  };
  ByLaunchType ec2 = {};  // EC2 and MANAGED_INSTANCES
  ByLaunchType external = {};
};

struct CreateCluster {
  using Reply = ClusterSnapshot;
  model::ClusterName name = {};
  std::string document = "{}";
  model::Tags tags = {};
  bool has_settings = false;  // given, if only as the defaults, of which `document` says nothing
  // Without settings, `document` has those that are the account's default today. A cluster that
  // another default, or UpdateCluster, has given one of these documents is the same request's.
  std::vector<std::string> alike = {};
};

struct DescribeClusters {
  struct Reply {
    std::vector<ClusterSnapshot> clusters = {};
    std::vector<model::ClusterName> missing = {};
  };
  std::vector<model::ClusterName> names = {};  // in request order, duplicates collapsed by Decide
};

struct ListClusters {
  struct Reply {
    std::vector<model::ClusterName> names = {};
    bool more = false;
  };
  std::string after = {};  // the last name of the page before
  int64_t limit = 0;
};

// Writes another document, if the cluster still has the one that the caller started from. Nothing:
// it has another by now, so the caller reads and tries again.
struct UpdateCluster {
  using Reply = std::optional<ClusterSnapshot>;
  model::ClusterName name = {};
  std::string expected_document = {};
  std::string document = {};
};

// The cluster becomes INACTIVE and stays describable (Retention::inactive_clusters). Checks in the
// order of ecs-api.md section 3.
struct DeleteCluster {
  using Reply = ClusterSnapshot;
  model::ClusterName name = {};
};

// --- task definitions -------------------------------------------------------------------------

using DefinitionRecord = std::shared_ptr<const model::TaskDefinition>;

struct RegisterTaskDefinition {
  using Reply = DefinitionRecord;
  std::string family = {};
  std::shared_ptr<const std::string> document = {};
  std::shared_ptr<const model::TaskSpec> spec = {};  // has passed ValidateTaskSpec
  model::Tags tags = {};
  std::string registered_by = {};
};

struct DescribeTaskDefinition {
  using Reply = DefinitionRecord;
  model::DefinitionRef definition = {};
};

struct ListTaskDefinitions {
  struct Reply {
    std::vector<model::DefinitionId> ids = {};
    bool more = false;
  };
  std::optional<std::string> family = std::nullopt;  // the whole name, despite `familyPrefix`
  model::DefinitionStatus status = model::DefinitionStatus::kActive;
  bool descending = false;
  std::optional<model::DefinitionId> after = std::nullopt;
  int64_t limit = 0;
};

struct DeregisterTaskDefinition {
  using Reply = DefinitionRecord;
  model::DefinitionId definition = {};
};

// INACTIVE revisions become DELETE_IN_PROGRESS, and are gone once no task that is remembered refers
// to them.
struct DeleteTaskDefinitions {
  enum class Refusal { kNone, kUnknown, kStillActive };
  struct Deleted {
    DefinitionRecord record = {};  // null when refused
    Refusal refusal = Refusal::kNone;
  };
  struct Reply {
    std::vector<Deleted> results = {};  // one per definition, in order
  };
  std::vector<model::DefinitionId> definitions = {};
};

struct ListTaskDefinitionFamilies {
  enum class Filter { kAll, kActive, kInactive };  // kActive: has an ACTIVE revision
  struct Reply {
    std::vector<std::string> families = {};
    bool more = false;
  };
  std::string prefix = {};
  Filter filter = Filter::kAll;
  std::string after = {};
  int64_t limit = 0;
};

// --- container instances ----------------------------------------------------------------------

struct InstanceSnapshot {
  model::InstanceRecord record = {};
  placement::InstanceState state = {};
  bool agent_connected = false;
  bool agent_lost = false;  // was connected before, be it to a process that has since restarted
  // When it connected or was lost, if that was since the start of this process.
  absl::Time agent_changed_at = absl::InfinitePast();
  int64_t running_tasks = 0;
  int64_t pending_tasks = 0;
};

// In commands that agents give: `agent_key` is the access key when that is of role agent. Such a
// key may speak only for the instances that it registered and the tasks on them, and for those of a
// key that it follows (agent_key.h); for any other the answer is NotItsInstance (model/errors.h).
// Empty: whoever asks may speak for all.

struct RegisterContainerInstance {
  using Reply = InstanceSnapshot;
  model::ClusterName cluster = {};
  std::optional<model::InstanceId> existing = std::nullopt;  // containerInstanceArn was given
  std::string client_token = {};
  std::string ec2_instance_id = {};
  model::RegisteredResources resources = {};
  std::vector<model::Attribute> attributes = {};  // with the built-in ones
  model::VersionInfo version_info = {};
  model::Tags tags = {};
  std::string registered_by = {};  // the access key, if any
  std::string agent_key = {};
  bool emulated = false;
};

struct DescribeContainerInstances {
  struct Reply {
    std::vector<InstanceSnapshot> instances = {};
    std::vector<model::InstanceId> missing = {};
  };
  model::ClusterName cluster = {};
  std::vector<model::InstanceId> ids = {};
};

struct ListContainerInstances {
  struct Reply {
    std::vector<model::InstanceId> ids = {};
    bool more = false;
  };
  model::ClusterName cluster = {};
  std::optional<model::InstanceStatus> status = std::nullopt;  // absent: all but INACTIVE
  std::shared_ptr<const placement::Query> filter = {};         // null: none
  std::string after = {};
  int64_t limit = 0;
};

struct DeregisterContainerInstance {
  using Reply = InstanceSnapshot;
  model::ClusterName cluster = {};
  model::InstanceId id = {};
  bool force = false;
  std::string agent_key = {};
};

struct UpdateContainerInstancesState {
  struct Reply {
    std::vector<InstanceSnapshot> instances = {};
    std::vector<model::InstanceId> missing = {};
    std::vector<model::InstanceId> inactive = {};
  };
  model::ClusterName cluster = {};
  std::vector<model::InstanceId> ids = {};
  model::InstanceStatus status = model::InstanceStatus::kActive;  // ACTIVE or DRAINING
  std::string agent_key = {};
};

// Attributes of an operator's own, on container instances. All or nothing.
struct PutAttributes {
  struct Reply {};
  struct Target {
    model::InstanceId instance = {};
    model::Attribute attribute = {};
  };
  model::ClusterName cluster = {};
  std::vector<Target> attributes = {};
};

// Those that are not there are no error.
struct DeleteAttributes {
  struct Reply {
    std::vector<PutAttributes::Target> deleted = {};  // as they were
  };
  model::ClusterName cluster = {};
  std::vector<PutAttributes::Target> attributes = {};  // a value, where given, must be the one
};

// One row per instance and attribute, in order of (instance, name).
struct ListAttributes {
  struct Row {
    model::InstanceId instance = {};
    model::Attribute attribute = {};
  };
  struct Reply {
    std::vector<Row> rows = {};
    bool more = false;
  };
  model::ClusterName cluster = {};
  std::optional<std::string> name = std::nullopt;
  std::optional<std::string> value = std::nullopt;
  std::string after_instance = {};
  std::string after_name = {};
  int64_t limit = 0;
};

// --- tasks ------------------------------------------------------------------------------------

// One entry of `failures`: whom it is about and why not.
struct PlacementFailure {
  model::InstanceId instance = {};
  std::string reason = {};  // RESOURCE:GPU, AGENT, ...
  std::string detail = {};
};

struct RunTask {
  struct Reply {
    std::vector<model::TaskRecord> tasks = {};
    std::vector<PlacementFailure> failures = {};
  };
  model::ClusterName cluster = {};
  model::DefinitionRef definition = {};
  // What the caller found wrong with arguments that are looked at after the cluster, the definition
  // and the count (ecs-api.md 7.1).
  absl::Status later_refusal = {};
  int64_t count = 1;
  std::optional<model::LaunchType> launch_type = std::nullopt;
  std::string group = {};
  // The request's; the task definition's constraints are added when the task is planned.
  placement::Rules rules = {};
  std::string started_by = {};
  std::string reference_id = {};
  std::string client_token = {};  // empty: none
  std::string fingerprint = {};   // of the request without the token
  std::shared_ptr<const model::TaskOverrides> overrides = {};
  bool has_network_configuration = false;
  int64_t subnets = 0;                     // how many awsvpcConfiguration names
  std::string network_configuration = {};  // normalised JSON
  std::string platform_version = {};
  model::Tags tags = {};
  bool propagate_definition_tags = false;
  bool enable_managed_tags = false;
  bool enable_execute_command = false;
};

// One task on each instance named, without strategies or constraints. ecs-api.md 7.4.
struct StartTask {
  using Reply = RunTask::Reply;
  std::vector<model::InstanceId> instances = {};
  // What RunTask has too. `count`, `launch_type`, `client_token` and `rules` do not matter here.
  RunTask task = {};
};

// --- questions about placement ----------------------------------------------------------------

// Where a task would go, and why there.
struct PlannedTask {
  placement::Placement placement = {};
  std::optional<placement::Choice> choice = std::nullopt;  // nothing: not asked
};

// What is known of a task's place, and of why none was found for its group.
struct Explain {
  struct Reply {
    model::TaskRecord task = {};  // null when a group was asked about
    std::string group = {};
    placement::ClusterGpuPolicy gpu_policy = {};  // the cluster's
    // Of a task that is not STOPPED: where it would go if it were placed today, without what it
    // holds now. Mostly where it is. Nothing: nowhere.
    std::optional<PlannedTask> today = std::nullopt;
    std::optional<FailedPlacement> failure = std::nullopt;  // the group's latest, if remembered
  };
  model::ClusterName cluster = {};
  std::optional<model::TaskId> task = std::nullopt;
  std::string group = {};  // without a task
};

inline constexpr int64_t kPlanCountMax = 1'000;
inline constexpr int64_t kPlanMoreMax = 10'000;  // so many more copies are tried
inline constexpr int64_t kPlanReasonsMax = 10;   // so many of the tasks say why there

// A RunTask that starts nothing. Errors are RunTask's; `count` may be larger, the network may be
// left out, and so may a launch type other than EC2 where the definition takes no EC2.
struct Plan {
  struct Reply {
    std::shared_ptr<const model::TaskDefinition> definition = {};
    std::string group = {};
    placement::Demand demand = {};
    placement::ClusterGpuPolicy gpu_policy = {};  // the cluster's
    std::vector<PlannedTask> tasks = {};          // fewer than asked for where no more fit
    // How many more of the same would find a place after those, up to kPlanMoreMax.
    int64_t more = 0;
    // Why the next one finds none. Null: so many were not tried.
    std::shared_ptr<const placement::Explanation> refusal = {};
    std::optional<FailedPlacement> failure = std::nullopt;  // as in Explain
  };
  RunTask task = {};
  bool count_more = false;
};

struct StopTask {
  using Reply = model::TaskRecord;
  model::ClusterName cluster = {};
  model::TaskId task = {};
  std::optional<std::string> reason = std::nullopt;
};

struct DescribeTasks {
  struct Reply {
    std::vector<model::TaskRecord> tasks = {};
    std::vector<model::TaskId> missing = {};
  };
  model::ClusterName cluster = {};
  std::vector<model::TaskId> ids = {};
};

struct ListTasks {
  struct Reply {
    std::vector<model::TaskId> ids = {};
    bool more = false;
  };
  model::ClusterName cluster = {};
  std::optional<model::InstanceId> instance = std::nullopt;
  std::optional<std::string> family = std::nullopt;
  std::optional<std::string> started_by = std::nullopt;
  std::optional<model::LaunchType> launch_type = std::nullopt;
  // RUNNING when absent. `pending` is legal and matches nothing: no task ever desires PENDING.
  model::DesiredStatus desired_status = model::DesiredStatus::kRunning;
  bool pending = false;
  std::string after = {};
  int64_t limit = 0;
};

// A task's protection from the scheduler's own stops. ecs-api.md section 13.
struct TaskProtection {
  model::TaskId task = {};
  absl::Time protected_until = absl::InfinitePast();  // InfinitePast: not protected
};
struct TaskProtectionReply {
  struct Failure {
    model::TaskId task = {};
    std::string reason = {};
    std::string detail = {};
  };
  std::vector<TaskProtection> tasks = {};
  std::vector<Failure> failures = {};
};

struct UpdateTaskProtection {
  using Reply = TaskProtectionReply;
  model::ClusterName cluster = {};
  std::vector<model::TaskId> tasks = {};
  bool enabled = false;
  absl::Duration duration = absl::ZeroDuration();  // of the protection, from now
  std::string agent_key = {};
};

struct GetTaskProtection {
  using Reply = TaskProtectionReply;
  model::ClusterName cluster = {};
  std::vector<model::TaskId> tasks = {};
  std::string agent_key = {};
};

// --- tags -------------------------------------------------------------------------------------

struct InstanceKey {
  model::ClusterName cluster = {};
  model::InstanceId id = {};
};
struct TaskInCluster {
  model::ClusterName cluster = {};
  model::TaskId id = {};
};
// What can carry tags.
using TaggedResource =
    std::variant<model::ClusterName, model::DefinitionId, InstanceKey, TaskInCluster>;

// Adds tags, in place of those with the same keys.
struct TagResource {
  struct Reply {};
  TaggedResource resource = {};
  model::Tags tags = {};
};

struct UntagResource {
  struct Reply {};
  TaggedResource resource = {};
  std::vector<std::string> keys = {};
};

struct ListTagsForResource {
  struct Reply {
    model::Tags tags = {};
  };
  TaggedResource resource = {};
};

// --- account settings and access keys ------------------------------------------------------------

struct PutAccountSetting {
  struct Reply {};
  model::AccountSetting setting = {};
};

struct DeleteAccountSetting {
  struct Reply {};
  std::string principal_arn = {};
  std::string name = {};
};

// Those that have been set for any of the principals, by principal and name.
struct ListAccountSettings {
  struct Reply {
    std::vector<model::AccountSetting> settings = {};
  };
  std::vector<std::string> principal_arns = {};
};

struct CreateAccessKey {
  using Reply = model::AccessKeyRecord;
  model::AccessKey key = {};  // the caller made the id and sealed the secret
};

struct RevokeAccessKey {
  using Reply = model::AccessKeyRecord;
  std::string id = {};
};

// Newest last; revoked ones too.
struct ListAccessKeys {
  struct Reply {
    std::vector<model::AccessKeyRecord> keys = {};
  };
};

// --- what agents say --------------------------------------------------------------------------

struct ContainerReport {
  std::string name = {};
  std::optional<model::ContainerStatus> status = std::nullopt;
  std::optional<int64_t> exit_code = std::nullopt;
  std::string reason = {};
  std::string runtime_id = {};
  std::string image_digest = {};
  std::optional<std::vector<model::NetworkBinding>> network_bindings = std::nullopt;
  std::optional<model::HealthStatus> health_status = std::nullopt;
};

// SubmitTaskStateChange and, with `status` absent and one container, SubmitContainerStateChange.
// Accepted always: a report that is old, repeated or about an unknown task changes nothing.
struct ReportTask {
  struct Reply {};
  model::ClusterName cluster = {};
  model::TaskId task = {};
  // PENDING, RUNNING or STOPPED are the agent's words.
  std::optional<model::TaskStatus> status = std::nullopt;
  std::string reason = {};
  std::vector<ContainerReport> containers = {};  // applied in order; one may come twice
  std::optional<absl::Time> pull_started_at = std::nullopt;
  std::optional<absl::Time> pull_stopped_at = std::nullopt;
  std::optional<absl::Time> execution_stopped_at = std::nullopt;
  std::string agent_key = {};
};

// An agent's channel is up. The reply is what it should hear first. An unknown or INACTIVE instance
// is an error; the channel is then refused.
struct ConnectAgent {
  struct Reply {
    std::vector<model::TaskRecord> to_start = {};  // desired RUNNING, not yet reported RUNNING
    std::vector<model::TaskRecord> to_stop = {};   // desired STOPPED, not yet reported STOPPED
    std::vector<model::TaskRecord> running = {};   // desired RUNNING: the manifest
  };
  model::ClusterName cluster = {};
  model::InstanceId instance = {};
  model::VersionInfo version_info = {};  // empty members: keep what is known
  std::string agent_key = {};
};

// Whether ConnectAgent would let that agent in; changes nothing.
struct CheckAgent {
  struct Reply {};
  model::ClusterName cluster = {};
  model::InstanceId instance = {};
  std::string agent_key = {};
};

struct DisconnectAgent {
  struct Reply {};
  model::ClusterName cluster = {};
  model::InstanceId instance = {};
};

// The agent has acknowledged the payload that carried the task: PROVISIONING becomes PENDING and
// connectivity CONNECTED.
struct AcceptTask {
  struct Reply {};
  model::ClusterName cluster = {};
  model::TaskId task = {};
};

// The agent holds these tasks and would stop them; confirmed are those that should not run.
struct VerifyStopCandidates {
  struct Reply {
    std::vector<model::TaskId> confirmed = {};
  };
  model::ClusterName cluster = {};
  model::InstanceId instance = {};
  std::vector<model::TaskId> candidates = {};
};

// A moment has passed: collects STOPPED tasks, INACTIVE instances, INACTIVE clusters with all that
// is in them, and client tokens that are past their retention, a bounded number each time.
struct Tick {
  struct Reply {};
};

}  // namespace berth::scheduler
