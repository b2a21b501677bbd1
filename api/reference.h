// docs/api.md: every action of the API, whether this version carries it out, and how it differs from
// AWS's. Made from the tables that calls are answered by, so that it cannot say otherwise.
#pragma once

#include <string>

namespace berth::api {

std::string ApiReference();

}  // namespace berth::api
