// Names, ids and ARNs as callers write them; what parses has to be writable and parse again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model/arn.h"

using berth::model::ArnScope;
using berth::model::ClusterName;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ArnScope scope;
  const ClusterName cluster{"default"};
  if (const auto name = berth::model::ParseCluster(scope, text); name.ok()) {
    const auto again = berth::model::ParseCluster(scope, berth::model::ClusterArn(scope, *name));
    if (!again.ok() || *again != *name) std::abort();
  }
  if (const auto task = berth::model::ParseTask(scope, cluster, text); task.ok()) {
    const auto again =
        berth::model::ParseTask(scope, cluster, berth::model::TaskArn(scope, cluster, *task));
    if (!again.ok() || *again != *task) std::abort();
  }
  (void)berth::model::ParseInstance(scope, cluster, text);
  (void)berth::model::ParseDefinition(scope, text);
  return 0;
}
