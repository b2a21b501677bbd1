// How UpdateTaskProtection and GetTaskProtection answer.
#pragma once

#include <string>

#include "model/arn.h"
#include "scheduler/commands.h"

namespace berth::api {

std::string WriteTaskProtection(const scheduler::TaskProtectionReply& reply,
                                const model::ClusterName& cluster, const model::ArnScope& scope);

}  // namespace berth::api
