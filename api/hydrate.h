// Makes the typed parts of loaded records from the JSON documents that were kept (model/change.h).
#pragma once

#include "absl/status/status.h"
#include "model/change.h"

namespace berth::api {

// An error names the record whose document does not decode.
absl::Status Hydrate(model::Records& records);

}  // namespace berth::api
