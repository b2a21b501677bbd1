// Registering this machine as a container instance, or the saved one again (agent-protocol.md 1.3,
// 1.4): what is sent, what is checked in the answer, which errors are tried again and which end the
// agent.
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "agent/agent.h"
#include "agent/discovery/gpus.h"
#include "agent/discovery/machine.h"
#include "agent/ecs_client.h"
#include "agent/identity.h"
#include "model/rng.h"

namespace berth::agent {

// The body of RegisterContainerInstance. `identity.instance_arn` is sent when there is one, and
// then the custom attributes and tags are not.
std::string RegistrationBody(const AgentSettings& settings, const Identity& identity,
                             const MachineFacts& machine, const GpuInventory& gpus,
                             const std::string& client_token);

struct Registered {
  std::string instance_arn = {};
  std::string availability_zone = {};
};

// What the answer to `request` says; an exit when it lacks something that was sent.
std::variant<Registered, AgentExit> ReadRegistration(const std::string& request,
                                                     const std::string& answer);

struct RegistrationPace {
  absl::Duration first = absl::Seconds(3);
  absl::Duration cap = absl::Seconds(192);
  absl::Duration give_up = absl::Hours(1);
  absl::Duration between_attempts = absl::Milliseconds(500);  // of one round of three
};

net::awaitable<std::variant<Registered, AgentExit>> Register(std::shared_ptr<EcsClient> server,
                                                             std::string cluster, std::string body,
                                                             RegistrationPace pace, model::Rng rng);

}  // namespace berth::agent
