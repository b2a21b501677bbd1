// The labels that tell whose a container or network is. The first five are the official agent's.
#pragma once

namespace berth::agent::label {

inline constexpr char kCluster[] = "com.amazonaws.ecs.cluster";
inline constexpr char kContainerName[] = "com.amazonaws.ecs.container-name";
inline constexpr char kTaskArn[] = "com.amazonaws.ecs.task-arn";
inline constexpr char kFamily[] = "com.amazonaws.ecs.task-definition-family";
inline constexpr char kVersion[] = "com.amazonaws.ecs.task-definition-version";
// Which agent made it. Two agents on one Docker leave each other's containers alone.
inline constexpr char kInstance[] = "berth.instance";
// "pause" on the container that holds a task's network.
inline constexpr char kRole[] = "berth.role";
inline constexpr char kPauseRole[] = "pause";

}  // namespace berth::agent::label
