// A cluster to test on: a State beside a small store that takes every change, a clock that only the
// test moves, and ids that count up. Every command is followed by the audit.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/time/time.h"
#include "model/change.h"
#include "model/errors.h"
#include "scheduler/decide.h"

namespace berth::scheduler {

inline constexpr int64_t kGpuMib = 22587;  // what the guide's example GPU has
inline const absl::Time kStart = absl::FromUnixSeconds(1'800'000'000);

// What was committed, by primary key, as SQLite would hold it.
class FakeStore {
 public:
  void Apply(const model::Change& change);
  // Copies, with the specs made anew from the documents' stand-ins: definitions and overrides.
  model::Records Load() const;
  bool HoldsNothing(int64_t cluster_sequence) const;  // the cluster

  std::map<int64_t, std::shared_ptr<const model::Cluster>> clusters = {};
  std::map<std::string, int64_t> families = {};
  std::map<int64_t, std::shared_ptr<const model::TaskDefinition>> definitions = {};
  std::map<int64_t, std::shared_ptr<const model::ContainerInstance>> instances = {};
  std::map<int64_t, std::shared_ptr<const model::Task>> tasks = {};
  std::map<std::pair<std::string, std::string>, model::ClientToken> tokens = {};
  std::map<std::pair<std::string, std::string>, model::AccountSetting> settings = {};
  std::map<int64_t, model::AccessKeyRecord> access_keys = {};
};

// Hex ids that count up, so that a later one is a greater one.
class CountingIds : public model::IdSource {
 public:
  std::string NewHex32() override;
  std::string NewUuid() override;

 private:
  int64_t next_ = 1;
};

// --- small values that say what matters and default the rest -----------------------------------

model::ContainerDefinition Container(const std::string& name, int64_t memory_mib = 128);
model::ResourceRequirement Mps(int64_t memory_mib, std::optional<int64_t> percent = std::nullopt);
model::ResourceRequirement Whole(const std::string& value);
model::ContainerDefinition WithGpu(const std::string& name, model::ResourceRequirement requirement);
// One container per requirement, named c0, c1, ...
model::TaskSpec GpuSpec(const std::vector<model::ResourceRequirement>& requirements);
model::TaskSpec Spec(std::vector<model::ContainerDefinition> containers = {Container("app")});
std::vector<model::Gpu> Gpus(int count, int64_t memory_mib = kGpuMib);  // GPU-0, GPU-1, ...

struct Machine {
  std::string ec2_instance_id = {};
  int64_t cpu_units = 64 * 1024;
  int64_t memory_mib = 256 * 1024;
  std::vector<model::Gpu> gpus = {};
  std::vector<int64_t> tcp_ports = {};
  int64_t mps_clients_max = 48;
  // Beside every capability, a zone and an architecture.
  std::vector<model::Attribute> attributes = {};
  bool shares_gpus = true;
  std::string client_token = {};
  std::optional<model::InstanceId> existing = std::nullopt;
  bool emulated = true;
};

class World {
 public:
  // With an empty cluster `default`. The GPU policy is that of clusters whose tags name none.
  explicit World(Retention retention = {}, placement::ClusterGpuPolicy gpu_policy = {});

  // Any command; its changes go to the store, its effects are kept. Audits the state.
  template <class Command>
  Outcome<typename Command::Reply> Do(const Command& command) {
    auto outcome = Decide(state, command, {.now = now, .ids = ids});
    for (const model::Change& change : outcome.changes) {
      store.Apply(change);
      changes.push_back(change);
    }
    effects = outcome.effects;
    if (!outcome.reply.ok()) CHECK(outcome.changes.empty());
    CHECK(outcome.saw_change <= state.change_number());
    CHECK(state.FindViolations() == std::vector<std::string>{});
    return outcome;
  }
  template <class Command>
  typename Command::Reply Ok(const Command& command) {
    auto outcome = Do(command);
    INFO(outcome.reply.status().ToString());
    REQUIRE(outcome.reply.ok());
    return *std::move(outcome.reply);
  }
  // The error's message; it must be one of that kind.
  template <class Command>
  std::string Refusal(const Command& command,
                      model::ErrorKind kind = model::ErrorKind::kInvalidParameter) {
    const auto outcome = Do(command);
    REQUIRE_FALSE(outcome.reply.ok());
    CHECK(model::KindOf(outcome.reply.status()) == kind);
    return std::string(outcome.reply.status().message());
  }

  DefinitionRecord Define(const model::TaskSpec& spec);
  static RegisterContainerInstance Registration(const Machine& machine);
  model::InstanceId Register(const Machine& machine);
  RunTask Running(const DefinitionRecord& definition, int64_t count = 1) const;
  // Runs one task of a definition made for it; it must be placed.
  model::TaskRecord Run(const model::TaskSpec& spec);
  model::TaskRecord Run(const DefinitionRecord& definition);
  void Stop(const model::TaskRecord& task);
  void Report(const model::TaskRecord& task, model::TaskStatus status);
  void Connect(const model::InstanceId& id);

  model::TaskRecord Task(const model::TaskId& id);
  InstanceSnapshot Instance(const model::InstanceId& id);
  ClusterSnapshot Cluster(const std::string& name = "default");

  // The process dies and comes back with what the store has.
  void Restart();

  Retention retention;
  placement::ClusterGpuPolicy gpu_policy;
  State state;
  FakeStore store = {};
  CountingIds ids = {};
  absl::Time now = kStart;
  std::vector<model::Change> changes = {};
  std::vector<Effect> effects = {};  // of the last command
};

// Everything that a client can be shown, as text, so that two states can be compared.
std::string Portrait(World& world);
std::string Describe(const model::Change& change);

template <class T>
std::vector<T> EffectsOf(const std::vector<Effect>& effects) {
  std::vector<T> found;
  for (const Effect& effect : effects) {
    if (const T* match = std::get_if<T>(&effect)) found.push_back(*match);
  }
  return found;
}

}  // namespace berth::scheduler
