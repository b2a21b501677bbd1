// Pieces of JSON that more than one file of agent/ reads or writes. For .cc files only, as json.h.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "agent/json.h"
#include "model/task.h"

namespace berth::agent {

// Parses one of our state files, an object whose member `format` must be this. kDataLoss otherwise.
absl::Status ParseStateDocument(std::string_view text, int64_t format, json::Document& document);

// An array, in the shape of SubmitTaskStateChange's networkBindings.
void WriteNetworkBindings(const std::vector<model::NetworkBinding>& bindings, json::Builder& out);

}  // namespace berth::agent
