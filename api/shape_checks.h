// What the API model itself says about values, beyond JSON types: which members must be there and
// which words a string may be, and which no text may have. Each finds the first violation, in
// words, or nothing. The action decides on the error's type, and on what its own rules say better.
#pragma once

#include <optional>
#include <string>

#include "api/aws_json.h"

namespace berth::api {

// "containerDefinitions[0].secrets[1].name is missing"
std::optional<std::string> FindMissingMember(JsonView value);
// "ipcMode is 'all': it should be one of host, none, task". Protocols of ports are left alone: what
// is not udp counts as tcp (ecs-api.md 4.3).
std::optional<std::string> FindUnknownWord(JsonView value);
// "containerDefinitions[0].command[1] has a zero character (U+0000)". JSON can say one, but no
// process, environment or file name can have it: a variable with one in its name would pass for
// another where it ends a text.
std::optional<std::string> FindZeroCharacter(JsonView value);

}  // namespace berth::api
