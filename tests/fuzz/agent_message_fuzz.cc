// What an agent says over its channel.
#include <cstdint>
#include <string>

#include "api/acs_messages.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)berth::api::DecodeAgentMessage(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
