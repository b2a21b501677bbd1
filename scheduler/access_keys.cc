// CreateAccessKey, RevokeAccessKey, ListAccessKeys. What a secret or a policy means is the api's.
#include <utility>

#include "absl/strings/str_format.h"
#include "model/errors.h"
#include "scheduler/decision.h"

namespace berth::scheduler {
namespace {

// That are not revoked. A fleet with a key for each instance fits in.
constexpr size_t kAccessKeysMax = 20'000;

bool IsRevoked(const model::AccessKey& key) { return key.revoked_at != absl::InfinitePast(); }

bool IsFull(const Account& account) {
  if (account.keys().size() < kAccessKeysMax) return false;
  size_t good = 0;
  for (const auto& [sequence, entry] : account.keys()) good += IsRevoked(*entry.record) ? 0 : 1;
  return good >= kAccessKeysMax;
}

}  // namespace

Outcome<CreateAccessKey::Reply> Decide(State& state, const CreateAccessKey& command,
                                       Context context) {
  Decision decision(state);
  const Account& account = decision.state().account;
  if (account.FindKey(command.key.id) != nullptr) {
    return decision.Refuse<model::AccessKeyRecord>(model::InvalidParameter(
        absl::StrFormat("there is an access key %s already", command.key.id)));
  }
  if (IsFull(account)) {
    decision.Saw(account.newest_key_change());
    return decision.Refuse<model::AccessKeyRecord>(model::InvalidParameter(absl::StrFormat(
        "there are %d access keys; revoke some that are not needed", kAccessKeysMax)));
  }
  model::AccessKey key = command.key;
  key.created_at = context.now;
  return decision.Answer(decision.PutAccessKey(std::move(key)).record);
}

// Sent twice it does the same once.
Outcome<RevokeAccessKey::Reply> Decide(State& state, const RevokeAccessKey& command,
                                       Context context) {
  Decision decision(state);
  const AccessKeyEntry* entry = decision.state().account.FindKey(command.id);
  if (entry == nullptr) {
    return decision.Refuse<model::AccessKeyRecord>(
        model::MakeError(model::ErrorKind::kResourceNotFound,
                         absl::StrFormat("there is no access key %s", command.id)));
  }
  if (IsRevoked(*entry->record)) {
    decision.Saw(entry->change);
    return decision.Answer(entry->record);
  }
  model::AccessKey key = *entry->record;
  key.revoked_at = context.now;
  return decision.Answer(decision.PutAccessKey(std::move(key)).record);
}

Outcome<ListAccessKeys::Reply> Decide(State& state, const ListAccessKeys&, Context) {
  Decision decision(state);
  const Account& account = decision.state().account;
  decision.Saw(account.newest_key_change());
  ListAccessKeys::Reply reply;
  for (const auto& [sequence, entry] : account.keys()) reply.keys.push_back(entry.record);
  return decision.Answer(std::move(reply));
}

}  // namespace berth::scheduler
