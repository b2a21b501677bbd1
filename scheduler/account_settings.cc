// PutAccountSetting, DeleteAccountSetting, ListAccountSettings: what has been set for whom. What
// the names and values may be, and which holds for a principal that has set nothing, the api knows.
#include <string>
#include <utility>

#include "scheduler/decision.h"

namespace berth::scheduler {

Outcome<PutAccountSetting::Reply> Decide(State& state, const PutAccountSetting& command, Context) {
  Decision decision(state);
  const Account& account = decision.state().account;
  decision.Saw(account.newest_setting_change());
  const auto there = account.settings().find({command.setting.principal_arn, command.setting.name});
  const bool same =
      there != account.settings().end() && there->second.value == command.setting.value;
  if (!same) decision.PutAccountSetting(command.setting);
  return decision.Answer(PutAccountSetting::Reply{});
}

Outcome<DeleteAccountSetting::Reply> Decide(State& state, const DeleteAccountSetting& command,
                                            Context) {
  Decision decision(state);
  const Account& account = decision.state().account;
  decision.Saw(account.newest_setting_change());
  if (account.settings().contains({command.principal_arn, command.name})) {
    decision.DeleteAccountSetting(command.principal_arn, command.name);
  }
  return decision.Answer(DeleteAccountSetting::Reply{});
}

Outcome<ListAccountSettings::Reply> Decide(State& state, const ListAccountSettings& command,
                                           Context) {
  Decision decision(state);
  const Account& account = decision.state().account;
  decision.Saw(account.newest_setting_change());
  ListAccountSettings::Reply reply;
  for (const std::string& principal : command.principal_arns) {
    for (auto entry = account.settings().lower_bound({principal, ""});
         entry != account.settings().end() && entry->first.first == principal; ++entry) {
      reply.settings.push_back(entry->second);
    }
  }
  return decision.Answer(std::move(reply));
}

}  // namespace berth::scheduler
