#include "model/access_key.h"

#include "model/enum_table.h"

namespace berth::model {
namespace {

constexpr EnumEntry<KeyRole> kKeyRoles[] = {
    {KeyRole::kAdmin, "admin"},
    {KeyRole::kOperator, "operator"},
    {KeyRole::kViewer, "viewer"},
    {KeyRole::kAgent, "agent"},
};

}  // namespace

std::string_view ToString(KeyRole role) { return NameOf(kKeyRoles, role); }
std::optional<KeyRole> ParseKeyRole(std::string_view text) { return ValueOf(kKeyRoles, text); }

}  // namespace berth::model
