// What the containers of a task share, as a payload says it: volumes, links, namespaces. Decoded
// once all containers are known, as it names them.
#pragma once

#include "agent/json.h"
#include "agent/payload.h"
#include "agent/payload_trouble.h"

namespace berth::agent {

// Reads `volumes`, `pidMode`, `ipcMode` of the task and `mountPoints`, `volumesFrom`, `links` of
// each of its containers. `links` and `volumesFrom` wait for START, as in ECS (ecs-api.md 7.8).
void DecodeSharing(const json::Value& value, TaskPayload& task, Trouble& trouble);

}  // namespace berth::agent
