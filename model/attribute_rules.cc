#include "model/attribute_rules.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "model/errors.h"

namespace berth::model {
namespace {

constexpr std::string_view kReservedPrefixes[] = {"ecs.", "com.amazonaws.", "berth."};

bool IsNameCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
         std::string_view("-_./\\").find(c) != std::string_view::npos;
}

bool IsValueCharacter(char c) { return IsNameCharacter(c) || c == '@' || c == ':' || c == ' '; }

}  // namespace

bool IsReservedAttribute(std::string_view name) {
  return std::ranges::any_of(kReservedPrefixes,
                             [name](std::string_view prefix) { return name.starts_with(prefix); });
}

absl::Status CheckAttribute(const Attribute& attribute) {
  const std::string& name = attribute.name;
  if (name.empty()) return InvalidParameter("an attribute has no name");
  if (name.size() > kAttributeNameMax) {
    return InvalidParameter(
        absl::StrFormat("the name of attribute %s... has %d characters; at most %d are allowed",
                        name.substr(0, kAttributeNameMax), name.size(), kAttributeNameMax));
  }
  if (!std::ranges::all_of(name, IsNameCharacter)) {
    return InvalidParameter(absl::StrFormat(
        "the attribute name '%s' has other characters than letters, digits, '-', '_', '.', '/' and "
        "'\\'",
        name));
  }
  if (!attribute.value || attribute.value->empty()) return absl::OkStatus();
  const std::string& value = *attribute.value;
  if (value.size() > kAttributeValueMax) {
    return InvalidParameter(
        absl::StrFormat("the value of attribute %s has %d characters; at most %d are allowed", name,
                        value.size(), kAttributeValueMax));
  }
  if (!std::ranges::all_of(value, IsValueCharacter)) {
    return InvalidParameter(absl::StrFormat(
        "the value '%s' of attribute %s has other characters than letters, digits, '-', '_', '.', "
        "'/', '\\', '@', ':' and spaces",
        value, name));
  }
  if (value.front() == ' ' || value.back() == ' ') {
    return InvalidParameter(absl::StrFormat(
        "the value '%s' of attribute %s must not begin or end with a space", value, name));
  }
  return absl::OkStatus();
}

}  // namespace berth::model
