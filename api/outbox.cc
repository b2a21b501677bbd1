#include "api/outbox.h"

#include <algorithm>
#include <utility>

#include "api/http_text.h"

namespace berth::api {

void Outbox::CountFrom(int64_t number) {
  absl::MutexLock lock(&mutex_);
  number_ = std::max(number_, number);
}

int64_t Outbox::NextNumber() {
  absl::MutexLock lock(&mutex_);
  return ++number_;
}

MessageText Outbox::Add(Kind kind, const model::TaskId& task, const Encode& encode) {
  absl::MutexLock lock(&mutex_);
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    if (entry->task != task) continue;
    if (entry->kind == kind || entry->kind == Kind::kStop) return nullptr;
    entries_.erase(entry);
    break;
  }
  Stamp stamp{.message_id = NewRequestId(), .number = ++number_};
  auto text = std::make_shared<const std::string>(encode(stamp));
  entries_.push_back({kind, task, std::move(stamp.message_id), text});
  return text;
}

std::optional<Outbox::Acknowledged> Outbox::Acknowledge(std::string_view message_id) {
  absl::MutexLock lock(&mutex_);
  const auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& candidate) {
    return candidate.message_id == message_id;
  });
  if (entry == entries_.end()) return std::nullopt;
  Acknowledged acknowledged{entry->kind, std::move(entry->task)};
  entries_.erase(entry);
  return acknowledged;
}

std::vector<MessageText> Outbox::Resend(const Tasks& should_run, const Tasks& should_stop) {
  absl::MutexLock lock(&mutex_);
  std::erase_if(entries_, [&](const Entry& entry) {
    return !(entry.kind == Kind::kStart ? should_run : should_stop).contains(entry.task);
  });
  std::vector<MessageText> texts;
  for (const Entry& entry : entries_) texts.push_back(entry.text);
  return texts;
}

size_t Outbox::size() const {
  absl::MutexLock lock(&mutex_);
  return entries_.size();
}

}  // namespace berth::api
