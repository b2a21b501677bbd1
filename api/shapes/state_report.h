// What agents report of containers, in the members that both Submit... actions share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/decode.h"
#include "scheduler/commands.h"

namespace berth::api {

struct NetworkBindingArgument {
  std::string bind_ip = {};
  std::optional<int64_t> container_port = std::nullopt;
  std::optional<int64_t> host_port = std::nullopt;
  std::string protocol = {};
};
template <>
inline constexpr auto kFields<NetworkBindingArgument> = std::array{
    Field<&NetworkBindingArgument::bind_ip>("bindIP"),
    Field<&NetworkBindingArgument::container_port>("containerPort"),
    Field<&NetworkBindingArgument::host_port>("hostPort"),
    Field<&NetworkBindingArgument::protocol>("protocol"),
};

struct ContainerReportArgument {
  std::string name = {};
  std::string image_digest = {};
  std::string runtime_id = {};
  std::optional<int64_t> exit_code = std::nullopt;
  std::optional<std::vector<NetworkBindingArgument>> network_bindings = std::nullopt;
  std::string reason = {};
  std::string status = {};
};

absl::StatusOr<scheduler::ContainerReport> ParseContainerReport(ContainerReportArgument report);

// The answer to both.
std::string Acknowledgment();

}  // namespace berth::api
