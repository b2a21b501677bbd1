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
Outcome<DescribeClusters::Reply> Decide(State&, const DescribeClusters&, Context);
Outcome<ListClusters::Reply> Decide(State&, const ListClusters&, Context);
Outcome<RegisterTaskDefinition::Reply> Decide(State&, const RegisterTaskDefinition&, Context);
Outcome<DescribeTaskDefinition::Reply> Decide(State&, const DescribeTaskDefinition&, Context);
Outcome<ListTaskDefinitions::Reply> Decide(State&, const ListTaskDefinitions&, Context);
Outcome<RegisterContainerInstance::Reply> Decide(State&, const RegisterContainerInstance&, Context);
Outcome<DescribeContainerInstances::Reply> Decide(State&, const DescribeContainerInstances&,
                                                  Context);
Outcome<ListContainerInstances::Reply> Decide(State&, const ListContainerInstances&, Context);
Outcome<DeregisterContainerInstance::Reply> Decide(State&, const DeregisterContainerInstance&,
                                                   Context);
Outcome<RunTask::Reply> Decide(State&, const RunTask&, Context);
Outcome<StopTask::Reply> Decide(State&, const StopTask&, Context);
Outcome<DescribeTasks::Reply> Decide(State&, const DescribeTasks&, Context);
Outcome<ListTasks::Reply> Decide(State&, const ListTasks&, Context);
Outcome<ReportTask::Reply> Decide(State&, const ReportTask&, Context);
Outcome<ConnectAgent::Reply> Decide(State&, const ConnectAgent&, Context);
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
inline constexpr bool kReadsOnly<VerifyStopCandidates> = true;
// A lost connection is not kept, so that it can be heard of while the store fails.
template <>
inline constexpr bool kReadsOnly<DisconnectAgent> = true;

}  // namespace berth::scheduler
