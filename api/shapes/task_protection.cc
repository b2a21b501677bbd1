#include "api/shapes/task_protection.h"

#include "api/json_writer.h"
#include "api/shapes/common.h"

namespace berth::api {

std::string WriteTaskProtection(const scheduler::TaskProtectionReply& reply,
                                const model::ClusterName& cluster, const model::ArnScope& scope) {
  JsonWriter writer;
  writer.BeginObject();
  writer.BeginArray("protectedTasks");
  for (const scheduler::TaskProtection& task : reply.tasks) {
    writer.BeginObject();
    writer.String("taskArn", model::TaskArn(scope, cluster, task.task));
    writer.Bool("protectionEnabled", task.protected_until != absl::InfinitePast());
    writer.OptionalTime("expirationDate", task.protected_until);
    writer.EndObject();
  }
  writer.EndArray();
  writer.BeginArray("failures");
  for (const scheduler::TaskProtectionReply::Failure& failure : reply.failures) {
    WriteFailure(model::TaskArn(scope, cluster, failure.task), failure.reason, failure.detail,
                 writer);
  }
  writer.EndArray();
  writer.EndObject();
  return writer.Take();
}

}  // namespace berth::api
