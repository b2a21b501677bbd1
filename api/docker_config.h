// Docker's Config and HostConfig for one container, as agents lay them over what they make
// themselves: Docker's own member names, durations in nanoseconds, sizes in bytes.
//
// Never Binds, Links or PortBindings: they would replace what the agent makes from the payload.
#pragma once

#include <string>

#include <rapidjson/document.h>

#include "model/task_definition.h"

namespace berth::api {

// `registered` is the container's object in the definition's document, for the members that the
// typed part leaves out; null when there is none. Both return "" when there is nothing to say.
std::string EncodeDockerConfig(const model::ContainerDefinition& container,
                               const rapidjson::Value* registered);
std::string EncodeDockerHostConfig(const model::ContainerDefinition& container,
                                   model::NetworkMode network_mode,
                                   const rapidjson::Value* registered);

}  // namespace berth::api
