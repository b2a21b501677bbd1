#include "api/shapes/state_report.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "api/json_writer.h"
#include "model/errors.h"

namespace berth::api {

namespace {

absl::StatusOr<std::optional<model::ContainerStatus>> ParseStatus(
    const ContainerReportArgument& report) {
  if (report.status.empty()) return std::nullopt;
  // The engine's own word, which old agents pass on.
  if (report.status == "DEAD") return model::ContainerStatus::kStopped;
  const auto status = model::ParseContainerStatus(report.status);
  if (!status) {
    return model::InvalidParameter(absl::StrFormat(
        "the status of container '%s' is '%s': it should be one of PENDING, RUNNING, STOPPED",
        report.name, report.status));
  }
  return status;
}

// Bindings of port ranges have no containerPort; ranges come with an issue of their own.
std::vector<model::NetworkBinding> MakeBindings(const std::vector<NetworkBindingArgument>& given) {
  std::vector<model::NetworkBinding> bindings;
  for (const NetworkBindingArgument& binding : given) {
    if (!binding.container_port) continue;
    bindings.push_back({.bind_ip = binding.bind_ip,
                        .container_port = *binding.container_port,
                        .host_port = binding.host_port.value_or(0),
                        .protocol = binding.protocol == model::ToString(model::Protocol::kUdp)
                                        ? model::Protocol::kUdp
                                        : model::Protocol::kTcp});
  }
  return bindings;
}

}  // namespace

absl::StatusOr<scheduler::ContainerReport> ParseContainerReport(ContainerReportArgument report) {
  if (report.name.empty()) return model::InvalidParameter("containerName is missing");
  const auto status = ParseStatus(report);
  if (!status.ok()) return status.status();
  scheduler::ContainerReport parsed{.name = std::move(report.name),
                                    .status = *status,
                                    .exit_code = report.exit_code,
                                    .reason = std::move(report.reason),
                                    .runtime_id = std::move(report.runtime_id),
                                    .image_digest = std::move(report.image_digest)};
  if (report.network_bindings) parsed.network_bindings = MakeBindings(*report.network_bindings);
  return parsed;
}

std::string Acknowledgment() {
  JsonWriter writer;
  writer.BeginObject();
  writer.String("acknowledgment", "ACK");
  writer.EndObject();
  return writer.Take();
}

}  // namespace berth::api
