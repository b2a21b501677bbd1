#include "api/agent_hub.h"

#include <boost/asio/steady_timer.hpp>
#include <spdlog/spdlog.h>

#include "api/cluster_loop.h"
#include "model/errors.h"

namespace berth::api {

namespace {

AgentHub::Key KeyOf(const scheduler::StartTaskOnAgent& effect) {
  return {effect.task->cluster, effect.task->instance};
}
template <class Effect>
AgentHub::Key KeyOf(const Effect& effect) {
  return {effect.cluster, effect.instance};
}

}  // namespace

void AgentHub::Attach(const Key& key, std::shared_ptr<AgentLink> link) {
  std::shared_ptr<AgentLink> before;
  bool too_late = false;
  {
    absl::MutexLock lock(&mutex_);
    too_late = going_away_;
    std::shared_ptr<AgentLink>& slot = links_[key];
    before = std::exchange(slot, link);
  }
  if (before != nullptr && before != link) before->Replaced();
  if (too_late) link->GoAway();
}

void AgentHub::Detach(const Key& key, const AgentLink* link) {
  {
    absl::MutexLock lock(&mutex_);
    const auto found = links_.find(key);
    if (found == links_.end() || found->second.get() != link) return;
    links_.erase(found);
  }
  TellLost(key);
}

void AgentHub::TellLost(const Key& key) {
  // Under the lock: an agent that connects from here on is heard of by the core after this.
  absl::MutexLock lock(&mutex_);
  if (going_away_ || links_.contains(key)) return;
  scheduler::DisconnectAgent command{.cluster = key.cluster, .instance = key.instance};
  const bool posted = loop_->Post(
      std::move(command),
      [this, key](const absl::StatusOr<scheduler::DisconnectAgent::Reply>& reply) {
        if (!reply.ok() && model::KindOf(reply.status()) == model::ErrorKind::kUnavailable) {
          TellLostLater(key);
        }
      });
  if (!posted) TellLostLater(key);
}

void AgentHub::TellLostLater(const Key& key) {
  auto timer = std::make_shared<net::steady_timer>(executor_);
  timer->expires_after(absl::ToChronoNanoseconds(limits_.retry_delay));
  timer->async_wait([this, key, timer](const boost::system::error_code& error) {
    if (!error) TellLost(key);
  });
}

std::shared_ptr<Outbox> AgentHub::OutboxOf(const Key& key) {
  absl::MutexLock lock(&mutex_);
  std::shared_ptr<Outbox>& outbox = outboxes_[key];
  if (outbox == nullptr) outbox = std::make_shared<Outbox>();
  return outbox;
}

bool AgentHub::IsEmulated(const Key& key) const {
  return emulation_ != nullptr && LinkOf(key) == emulation_;
}

size_t AgentHub::connected() const {
  absl::MutexLock lock(&mutex_);
  return links_.size();
}

void AgentHub::GoAway() {
  std::vector<std::shared_ptr<AgentLink>> links;
  {
    absl::MutexLock lock(&mutex_);
    going_away_ = true;
    for (const auto& [key, link] : links_) {
      if (link != emulation_) links.push_back(link);
    }
  }
  for (const auto& link : links) link->GoAway();
}

void AgentHub::RevokeKey(const std::string& access_key) {
  std::vector<std::shared_ptr<AgentLink>> links;
  {
    absl::MutexLock lock(&mutex_);
    for (const auto& [key, link] : links_) links.push_back(link);
  }
  for (const auto& link : links) link->KeyRevoked(access_key);
}

std::shared_ptr<AgentLink> AgentHub::LinkOf(const Key& key) const {
  absl::MutexLock lock(&mutex_);
  const auto found = links_.find(key);
  return found == links_.end() ? nullptr : found->second;
}

void AgentHub::Deliver(scheduler::Effect effect) {
  const Key key = std::visit([](const auto& each) { return KeyOf(each); }, effect);
  const std::shared_ptr<AgentLink> link = LinkOf(key);
  if (link != nullptr) link->Deliver(effect);
  if (std::holds_alternative<scheduler::CloseAgentChannel>(effect)) {
    absl::MutexLock lock(&mutex_);
    outboxes_.erase(key);
    const auto found = links_.find(key);
    if (found != links_.end() && found->second == link) links_.erase(found);
  }
}

void AgentHub::Observe(const model::Change& change) {
  const auto* put = std::get_if<model::PutInstance>(&change);
  if (put == nullptr || emulation_ == nullptr) return;
  const model::ContainerInstance& instance = *put->record;
  const Key key{instance.cluster, instance.id};
  if (instance.emulated && instance.status != model::InstanceStatus::kInactive) {
    absl::MutexLock lock(&mutex_);
    links_.emplace(key, emulation_);  // unless an agent of its own is there
  } else {
    absl::MutexLock lock(&mutex_);
    const auto found = links_.find(key);
    if (found != links_.end() && found->second == emulation_) links_.erase(found);
  }
}

}  // namespace berth::api
