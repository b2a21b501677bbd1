#include "agent/json_parts.h"

#include "absl/strings/str_format.h"

namespace berth::agent {

absl::Status ParseStateDocument(std::string_view text, int64_t format, json::Document& document) {
  if (!json::Parse(text, document) || !document.IsObject()) {
    return absl::DataLossError("it is not a JSON object");
  }
  const int64_t found = json::FindInt(document, "format").value_or(0);
  if (found == format) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrFormat("its format is %d; this version reads %d", found, format));
}

void WriteNetworkBindings(const std::vector<model::NetworkBinding>& bindings, json::Builder& out) {
  out.Array();
  for (const model::NetworkBinding& binding : bindings) {
    out.Object();
    out.Member("bindIP", binding.bind_ip);
    out.Member("containerPort", binding.container_port);
    out.Member("hostPort", binding.host_port);
    out.Member("protocol", model::ToString(binding.protocol));
    out.EndObject();
  }
  out.EndArray();
}

}  // namespace berth::agent
