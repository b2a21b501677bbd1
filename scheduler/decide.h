// Decide: a command and the time go in; the reply, the changes to keep and the effects to carry out
// come out. `state` is already the next one when it returns.
//
// Pure: no I/O, clock, thread or randomness but what the context brings. One thread per State. An
// error reply carries no changes.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "model/change.h"
#include "model/ids.h"
#include "scheduler/commands.h"
#include "scheduler/effects.h"
#include "scheduler/state.h"

namespace berth::scheduler {

struct Context {
  absl::Time now;
  model::IdSource& ids;
};

template <class Reply>
struct Outcome {
  absl::StatusOr<Reply> reply;
  std::vector<model::Change> changes = {};
  std::vector<Effect> effects = {};
  // The number of the newest change among what the reply shows (State::change_number); the reply
  // may leave once that change is durable. 0: nothing to wait for.
  uint64_t saw_change = 0;
};

Outcome<CreateCluster::Reply> Decide(State&, const CreateCluster&, Context);
Outcome<UpdateCluster::Reply> Decide(State&, const UpdateCluster&, Context);
Outcome<DeleteCluster::Reply> Decide(State&, const DeleteCluster&, Context);
Outcome<DescribeClusters::Reply> Decide(State&, const DescribeClusters&, Context);
Outcome<ListClusters::Reply> Decide(State&, const ListClusters&, Context);
Outcome<RegisterTaskDefinition::Reply> Decide(State&, const RegisterTaskDefinition&, Context);
Outcome<DeregisterTaskDefinition::Reply> Decide(State&, const DeregisterTaskDefinition&, Context);
Outcome<DeleteTaskDefinitions::Reply> Decide(State&, const DeleteTaskDefinitions&, Context);
Outcome<DescribeTaskDefinition::Reply> Decide(State&, const DescribeTaskDefinition&, Context);
Outcome<ListTaskDefinitions::Reply> Decide(State&, const ListTaskDefinitions&, Context);
Outcome<ListTaskDefinitionFamilies::Reply> Decide(State&, const ListTaskDefinitionFamilies&,
                                                  Context);
Outcome<RegisterContainerInstance::Reply> Decide(State&, const RegisterContainerInstance&, Context);
Outcome<DeregisterContainerInstance::Reply> Decide(State&, const DeregisterContainerInstance&,
                                                   Context);
Outcome<UpdateContainerInstancesState::Reply> Decide(State&, const UpdateContainerInstancesState&,
                                                     Context);
Outcome<DescribeContainerInstances::Reply> Decide(State&, const DescribeContainerInstances&,
                                                  Context);
Outcome<ListContainerInstances::Reply> Decide(State&, const ListContainerInstances&, Context);
Outcome<PutAttributes::Reply> Decide(State&, const PutAttributes&, Context);
Outcome<DeleteAttributes::Reply> Decide(State&, const DeleteAttributes&, Context);
Outcome<ListAttributes::Reply> Decide(State&, const ListAttributes&, Context);
Outcome<RunTask::Reply> Decide(State&, const RunTask&, Context);
Outcome<StartTask::Reply> Decide(State&, const StartTask&, Context);
Outcome<Explain::Reply> Decide(State&, const Explain&, Context);
Outcome<Plan::Reply> Decide(State&, const Plan&, Context);
Outcome<StopTask::Reply> Decide(State&, const StopTask&, Context);
Outcome<DescribeTasks::Reply> Decide(State&, const DescribeTasks&, Context);
Outcome<ListTasks::Reply> Decide(State&, const ListTasks&, Context);
Outcome<UpdateTaskProtection::Reply> Decide(State&, const UpdateTaskProtection&, Context);
Outcome<GetTaskProtection::Reply> Decide(State&, const GetTaskProtection&, Context);
Outcome<TagResource::Reply> Decide(State&, const TagResource&, Context);
Outcome<UntagResource::Reply> Decide(State&, const UntagResource&, Context);
Outcome<ListTagsForResource::Reply> Decide(State&, const ListTagsForResource&, Context);
Outcome<PutAccountSetting::Reply> Decide(State&, const PutAccountSetting&, Context);
Outcome<DeleteAccountSetting::Reply> Decide(State&, const DeleteAccountSetting&, Context);
Outcome<ListAccountSettings::Reply> Decide(State&, const ListAccountSettings&, Context);
Outcome<CreateAccessKey::Reply> Decide(State&, const CreateAccessKey&, Context);
Outcome<RevokeAccessKey::Reply> Decide(State&, const RevokeAccessKey&, Context);
Outcome<ListAccessKeys::Reply> Decide(State&, const ListAccessKeys&, Context);
Outcome<ReportTask::Reply> Decide(State&, const ReportTask&, Context);
Outcome<ConnectAgent::Reply> Decide(State&, const ConnectAgent&, Context);
Outcome<CheckAgent::Reply> Decide(State&, const CheckAgent&, Context);
Outcome<DisconnectAgent::Reply> Decide(State&, const DisconnectAgent&, Context);
Outcome<AcceptTask::Reply> Decide(State&, const AcceptTask&, Context);
Outcome<VerifyStopCandidates::Reply> Decide(State&, const VerifyStopCandidates&, Context);
Outcome<Tick::Reply> Decide(State&, const Tick&, Context);

// Whether the command may change what is kept: such commands are refused while the store fails.
template <class Command>
inline constexpr bool kReadsOnly = false;
template <>
inline constexpr bool kReadsOnly<DescribeClusters> = true;
template <>
inline constexpr bool kReadsOnly<ListClusters> = true;
template <>
inline constexpr bool kReadsOnly<DescribeTaskDefinition> = true;
template <>
inline constexpr bool kReadsOnly<ListTaskDefinitions> = true;
template <>
inline constexpr bool kReadsOnly<DescribeContainerInstances> = true;
template <>
inline constexpr bool kReadsOnly<ListContainerInstances> = true;
template <>
inline constexpr bool kReadsOnly<DescribeTasks> = true;
template <>
inline constexpr bool kReadsOnly<ListTasks> = true;
template <>
inline constexpr bool kReadsOnly<CheckAgent> = true;
template <>
inline constexpr bool kReadsOnly<Explain> = true;
template <>
inline constexpr bool kReadsOnly<Plan> = true;
template <>
inline constexpr bool kReadsOnly<VerifyStopCandidates> = true;
template <>
inline constexpr bool kReadsOnly<ListTaskDefinitionFamilies> = true;
template <>
inline constexpr bool kReadsOnly<ListAttributes> = true;
template <>
inline constexpr bool kReadsOnly<GetTaskProtection> = true;
template <>
inline constexpr bool kReadsOnly<ListTagsForResource> = true;
template <>
inline constexpr bool kReadsOnly<ListAccountSettings> = true;
template <>
inline constexpr bool kReadsOnly<ListAccessKeys> = true;
// A lost connection is not kept, so that it can be heard of while the store fails.
template <>
inline constexpr bool kReadsOnly<DisconnectAgent> = true;

}  // namespace berth::scheduler
