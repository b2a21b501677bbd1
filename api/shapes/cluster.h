// A cluster between the JSON of CreateCluster and what answers show.
#pragma once

#include <string>
#include <vector>

#include "api/aws_json.h"
#include "api/json_writer.h"
#include "model/arn.h"
#include "scheduler/commands.h"

namespace berth::api {

// What is kept of CreateCluster's body (model::Cluster::document), in canonical form: without the
// name, tags and what equals the default, so that equal requests give equal documents.
std::string MakeClusterDocument(JsonView request);

// Which parts are shown; of the others, lists are shown empty.
struct ClusterParts {
  bool settings = true;
  bool configuration = true;
  bool statistics = true;
  bool tags = true;
};

// As one value: an element of `clusters` or the member `cluster`.
void WriteCluster(const scheduler::ClusterSnapshot& cluster, const ClusterParts& parts,
                  const model::ArnScope& scope, JsonWriter& writer);

}  // namespace berth::api
