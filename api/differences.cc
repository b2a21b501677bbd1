#include "api/differences.h"

namespace berth::api {

namespace {

constexpr std::string_view kCommon[] = {
    "One installation is one account in one region: `--account` and `--region` stand in every ARN. "
    "ARNs of other accounts are refused; any partition and region is accepted.",
    "Nothing is eventually consistent: what an answer says is durable, and the next call sees it. "
    "Clients that retry lose nothing by it.",
    "Identifiers are always of the long form; the old ones are accepted.",
    "Errors also carry an `x-amzn-ErrorType` header, equal to `__type` in the body.",
    "A failed placement says more than its reason: `detail` is a sentence with what was asked, "
    "what there is, and where.",
    "Regular expressions in the cluster query language (`=~`, `!~`) are Java's, less what "
    "would let a pattern take more than linear time, or is rare: flags such as `(?i)`, groups "
    "that look ahead or behind, atomic and named groups, possessive quantifiers (`a*+`), "
    "references back, `\\b`, `\\p{...}`, `\\Q...\\E`, classes within classes and `&&`. They "
    "are refused by name.",
    "There is no Fargate, no Elastic Network Interface, no Service Connect and no Cloud Map.",
};

constexpr std::string_view kPrincipal =
    "`principalArn` may be the caller's own or the root's: a principal is known by its key "
    "alone.";
constexpr std::string_view kGpuPolicyTag =
    "The tag `berth:gpu-policy` of a cluster chooses its GPU policy (docs/placement.md); a value "
    "that is none is refused.";
constexpr std::string_view kNotThere =
    "ARNs of services, task sets, capacity providers and daemons are not found: there are none in "
    "this version.";

// The reason stands with the difference, where it is not the lack of something that only AWS has.
constexpr Difference kDifferences[] = {
    {"CreateCluster",
     "`capacityProviders` and `defaultCapacityProviderStrategy` are refused unless empty: there "
     "are no capacity providers in this version."},
    {"CreateCluster", kGpuPolicyTag},
    {"DeleteAccountSetting", kPrincipal},
    {"DeleteAttributes",
     "Names that begin with `ecs.`, `com.amazonaws.` or `berth.` are refused: agents would bring "
     "them back."},
    {"DeleteCluster", "An INACTIVE cluster stays describable for 24 hours, and is then MISSING."},
    {"DeleteTaskDefinitions",
     "A revision goes with the last remembered task that is a run of it, or at once where there is "
     "none."},
    {"DeregisterContainerInstance",
     "An INACTIVE instance stays describable for an hour, and is then MISSING."},
    {"DescribeContainerInstances",
     "`healthStatus` has `AGENT_CONNECTIVITY` alone: nothing else is checked yet."},
    {"DescribeContainerInstances", "`attachments` is always empty."},
    {"DescribeTasks",
     "STOPPED tasks are kept for `--stopped-task-retention`, 24 hours unless set, where AWS keeps "
     "them for one."},
    {"DescribeTasks",
     "`attachments` and `networkInterfaces` are always empty, for awsvpc tasks too: they have a "
     "network of their own on their machine, and no interface that could be named."},
    {"DiscoverPollEndpoint",
     "There is no `telemetryEndpoint` and no `serviceConnectEndpoint`: nothing would listen "
     "there."},
    {"ExecuteCommand",
     "After all checks the answer is TargetNotConnectedException: there is no data channel. Its "
     "text names the `docker exec` that does the same on the machine."},
    {"ListAccountSettings", kPrincipal},
    {"ListTagsForResource", kNotThere},
    {"ListTagsForResource", "What has ended still shows the tags that it has left."},
    {"ListTasks", "`daemonName` is refused: there are no managed daemons."},
    {"PutAccountSetting", kPrincipal},
    {"PutAccountSetting",
     "All are kept, and `containerInsights` alone has an effect, as the default of new clusters."},
    {"PutAccountSettingDefault",
     "All are kept, and `containerInsights` alone has an effect, as the default of new clusters."},
    {"PutAttributes",
     "Names that begin with `ecs.`, `com.amazonaws.` or `berth.` are refused: agents say those."},
    {"RegisterContainerInstance",
     "The identity document is believed and its signature not checked: machines are not EC2's."},
    {"RegisterContainerInstance",
     "A machine may come back with more than it had; with less only while its tasks fit."},
    {"RegisterTaskDefinition",
     "Fractions of a GPU in `value` are refused: they name hardware that only AWS has. Use "
     "`sharingStrategy`."},
    {"RegisterTaskDefinition",
     "Requirements of type `InferenceAccelerator` and `NeuronDevice` are refused: agents know of "
     "GPUs alone."},
    {"RegisterTaskDefinition",
     "`trustedExecutionConfiguration.isolationMode` other than `SHARED` is refused: to run such a "
     "task without AWS's sandbox would break its promise."},
    {"RegisterTaskDefinition",
     "The values of `secrets` and `secretOptions` are files on the machine of the agent "
     "(agent/README.md)."},
    {"RegisterTaskDefinition",
     "What only AWS has is kept and described, and a task that uses it is not placed or is STOPPED "
     "with a reason that names it: volumes of EFS, FSx, S3 Files and EBS, environment files, "
     "FireLens, App Mesh, task roles, credentials of private registries."},
    {"RunTask",
     "`capacityProviderStrategy` and `volumeConfigurations` are refused unless empty: there are no "
     "capacity providers and no EBS volumes in this version."},
    {"RunTask",
     "`overrides.inferenceAcceleratorOverrides` is refused unless empty: agents know of GPUs "
     "alone."},
    {"RunTask",
     "Launch type FARGATE never finds capacity: the task is a failure, as when AWS has run out."},
    {"RunTask",
     "Without a placement strategy the tightest fit is taken, so that whole GPUs stay whole; AWS "
     "does not say what it does."},
    {"StartTask",
     "`volumeConfigurations` and `overrides.inferenceAcceleratorOverrides` are refused unless "
     "empty, as in RunTask."},
    {"StartTask",
     "A DRAINING instance is a failure with reason DRAINING; what AWS does is not documented."},
    {"StartTask", "An instance that is named twice gets one task."},
    {"SubmitAttachmentStateChanges", "Acknowledged and not kept: there are no attachments."},
    {"SubmitTaskStateChange",
     "`attachments` and `managedAgents` are acknowledged and not kept: there are none."},
    {"TagResource", kNotThere},
    {"TagResource", kGpuPolicyTag},
    {"TagResource", "Letters outside of ASCII are not told from other characters there."},
    {"UntagResource", kNotThere},
    {"UpdateContainerAgent",
     "The answer is NoUpdateAvailableException for every instance that is there: agents are "
     "upgraded with berth, on their machines."},
    {"UpdateTaskProtection",
     "Tasks without a service are the failure TASK_NOT_VALID, as on AWS; there are no services "
     "yet, so that every task is."},
};

}  // namespace

std::span<const Difference> Differences() { return kDifferences; }

std::span<const std::string_view> CommonDifferences() { return kCommon; }

}  // namespace berth::api
