// Which agent speaks for which container instance, and what is under way to it. Carries out the
// core's effects by handing them to the agent's link: its channel, or the emulated agents.
//
// Thread-safe. Effects for an instance without a link are dropped: what they asked for follows from
// the tasks' states when its agent connects.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "api/committer.h"
#include "api/limits.h"
#include "api/net.h"
#include "api/outbox.h"
#include "model/ids.h"
#include "scheduler/effects.h"

namespace berth::api {

class ClusterLoop;

// The way to an instance's agent. Called on any thread; must be quick.
class AgentLink {
 public:
  virtual ~AgentLink() = default;
  virtual void Deliver(scheduler::Effect effect) = 0;
  // Another link has taken its place: end without a word, the peer is usually dead.
  virtual void Replaced() = 0;
  // The server goes away.
  virtual void GoAway() = 0;
  // The access key is no longer good: end, if it is the one that the peer connected with.
  virtual void KeyRevoked(const std::string& access_key) = 0;
};

class AgentHub : public EffectSink {
 public:
  struct Key {
    model::ClusterName cluster;
    model::InstanceId instance;
    bool operator==(const Key&) const = default;
    template <class H>
    friend H AbslHashValue(H state, const Key& key) {
      return H::combine(std::move(state), key.cluster, key.instance);
    }
  };

  // Retries wait on the executor.
  AgentHub(net::any_io_executor executor, const ChannelLimits& limits)
      : executor_(std::move(executor)), limits_(limits) {}

  // Both before the first command; they outlive the hub's use.
  void set_loop(ClusterLoop& loop) { loop_ = &loop; }
  // Stands in for instances that are registered as emulated. None: nobody does.
  void set_emulation(std::shared_ptr<AgentLink> emulation) { emulation_ = std::move(emulation); }

  // Makes `link` the instance's; the one before is told that it was replaced. Do this before the
  // core hears of the connection, so that nothing it then sends is lost.
  void Attach(const Key& key, std::shared_ptr<AgentLink> link);
  // The link has ended. The core is told, unless another has taken its place.
  void Detach(const Key& key, const AgentLink* link);
  std::shared_ptr<Outbox> OutboxOf(const Key& key);

  // Whether the server stands in for the instance's agent.
  bool IsEmulated(const Key& key) const;
  size_t connected() const;
  // Tells every link that the server goes away, and no more to the core.
  void GoAway();
  // Ends the channels that were opened with the key.
  void RevokeKey(const std::string& access_key);

  // EffectSink:
  void Deliver(scheduler::Effect effect) override;
  void Observe(const model::Change& change) override;

 private:
  std::shared_ptr<AgentLink> LinkOf(const Key& key) const;
  // Tells the core of a lost agent, again until it has taken it in or the agent is back.
  void TellLost(const Key& key);
  void TellLostLater(const Key& key);

  const net::any_io_executor executor_;
  const ChannelLimits limits_;
  ClusterLoop* loop_ = nullptr;
  std::shared_ptr<AgentLink> emulation_;

  mutable absl::Mutex mutex_;
  absl::flat_hash_map<Key, std::shared_ptr<AgentLink>> links_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<Key, std::shared_ptr<Outbox>> outboxes_ ABSL_GUARDED_BY(mutex_);
  bool going_away_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace berth::api
