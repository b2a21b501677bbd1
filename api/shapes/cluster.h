// A cluster between the JSON of CreateCluster and what answers show.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "api/aws_json.h"
#include "api/json_writer.h"
#include "model/arn.h"
#include "scheduler/commands.h"

namespace berth::api {

// What containerInsights may be; the first holds where nothing else is said.
inline constexpr std::string_view kContainerInsights[] = {"disabled", "enabled", "enhanced"};

// Refuses settings that are not ECS's, words that nobody knows, and zero characters.
absl::Status CheckClusterMembers(JsonView request);

// What is kept of CreateCluster's body (model::Cluster::document), in canonical form: without the
// name, tags and what equals the default, so that equal requests give equal documents. Where the
// request says nothing about settings, containerInsights is as given here.
std::string MakeClusterDocument(JsonView request, std::string_view container_insights);
// The document with those members in place of its own that `request` has: the body of UpdateCluster
// or UpdateClusterSettings. A serviceConnectDefaults with an empty namespace removes it.
std::string UpdateClusterDocument(const std::string& document, JsonView request);

// Which parts are shown; of the others, lists are shown empty.
struct ClusterParts {
  bool settings = true;
  bool configuration = true;
  bool statistics = true;
  bool tags = true;
  bool attachments = false;  // of which there are none
};

// As one value: an element of `clusters` or the member `cluster`.
void WriteCluster(const scheduler::ClusterSnapshot& cluster, const ClusterParts& parts,
                  const model::ArnScope& scope, JsonWriter& writer);

// {"cluster":{...}}: what the actions that make, change or delete one answer. Without statistics,
// which come with DescribeClusters.
std::string WriteClusterAnswer(const scheduler::ClusterSnapshot& cluster,
                               const model::ArnScope& scope);

}  // namespace berth::api
