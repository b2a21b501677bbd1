// Records in which every member has a value of its own, and their members as text to compare.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/change.h"

namespace berth::storage::testing {

// Names and values of all members that a store must give back. They take the records apart with
// structured bindings: a member that is added to the model does not compile here until it is
// listed.
using Members = std::vector<std::pair<std::string, std::string>>;
Members MembersOf(const model::Cluster& cluster);
Members MembersOf(const model::Family& family);
Members MembersOf(const model::TaskDefinition& definition);
Members MembersOf(const model::ContainerInstance& instance);
Members MembersOf(const model::Task& task);
Members MembersOf(const model::ClientToken& token);
Members MembersOf(const model::AccountSetting& setting);
Members MembersOf(const model::AccessKey& key);

// Every member has another value than a default record's.
model::Cluster FullCluster(int64_t sequence);
model::Family FullFamily(int64_t number);
model::TaskDefinition FullDefinition(int64_t sequence);
model::ContainerInstance FullInstance(int64_t sequence);
model::Task FullTask(int64_t sequence, std::shared_ptr<const model::TaskDefinition> definition);
model::ClientToken FullClientToken(int64_t number);
model::AccountSetting FullAccountSetting(int64_t number);
model::AccessKey FullAccessKey(int64_t sequence);

// A small task in state RUNNING, as most are.
model::Task PlainTask(int64_t sequence, std::shared_ptr<const model::TaskDefinition> definition);

template <class Record>
std::shared_ptr<const Record> Shared(Record record) {
  return std::make_shared<const Record>(std::move(record));
}

// All records in a form to compare, one line per member, sorted by record.
std::vector<std::string> Describe(const model::Records& records);

}  // namespace berth::storage::testing
