// A task as the server sends it to an agent. Either there is a reason why not, or a task.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "agent/payload.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const berth::agent::DecodedTask decoded =
      berth::agent::DecodeTask(std::string_view(reinterpret_cast<const char*>(data), size));
  const bool refused = !decoded.undecodable.empty() || !decoded.refusal.empty();
  const bool to_run = decoded.desired == berth::model::DesiredStatus::kRunning && !refused;
  if (to_run != (decoded.task != nullptr)) std::abort();
  // The id becomes a file name.
  if (decoded.id.find_first_of("/.") != std::string::npos) std::abort();
  return 0;
}
