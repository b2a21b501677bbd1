#include "api/shape_checks.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace berth::api {

namespace {

using schema::Kind;

constexpr std::string_view kTransportProtocol = "TransportProtocol";

bool HasMembers(const schema::Shape& shape) {
  return shape.kind == Kind::kStructure || shape.kind == Kind::kUnion;
}

std::string Join(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : absl::StrFormat("%s.%s", path, name);
}

// Looks at the value and all below it until `find` says something.
template <class Find>
std::optional<std::string> FirstOf(JsonView value, const std::string& path, Find find) {
  if (std::optional<std::string> found = find(value, path)) return found;
  const Kind kind = value.shape().kind;
  if (!HasMembers(value.shape()) && kind != Kind::kList && kind != Kind::kMap) return std::nullopt;
  for (int i = 0; i < value.size(); ++i) {
    const std::string below =
        kind == Kind::kList ? absl::StrCat(path, "[", i, "]") : Join(path, value.NameAt(i));
    if (std::optional<std::string> found = FirstOf(value.At(i), below, find)) return found;
  }
  return std::nullopt;
}

std::optional<std::string> MissingMember(JsonView value, const std::string& path) {
  for (const schema::Member& member : schema::MembersOf(value.shape())) {
    if (member.required && !value.Find(member.name)) return Join(path, member.name) + " is missing";
  }
  return std::nullopt;
}

std::optional<std::string> UnknownWord(JsonView value, const std::string& path) {
  const auto words = schema::EnumValuesOf(value.shape());
  if (words.empty() || value.shape().name == kTransportProtocol) return std::nullopt;
  const std::string_view word = value.AsString();
  if (std::ranges::find(words, word) != words.end()) return std::nullopt;
  std::string allowed;
  for (const char* other : words) absl::StrAppend(&allowed, allowed.empty() ? "" : ", ", other);
  return absl::StrFormat("%s is '%s': it should be one of %s", path, word, allowed);
}

bool HasZero(std::string_view text) { return text.find('\0') != std::string_view::npos; }

std::string ZeroIn(std::string_view what) {
  return absl::StrFormat("%s has a zero character (U+0000); leave it out", what);
}

std::optional<std::string> ZeroCharacter(JsonView value, const std::string& path) {
  const Kind kind = value.shape().kind;
  if (kind == Kind::kString || kind == Kind::kBlob) {
    if (HasZero(value.AsString())) return ZeroIn(path);
  } else if (kind == Kind::kMap) {
    for (int i = 0; i < value.size(); ++i) {
      if (HasZero(value.NameAt(i))) return ZeroIn("a name in " + path);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> FindMissingMember(JsonView value) {
  return FirstOf(value, "", MissingMember);
}

std::optional<std::string> FindUnknownWord(JsonView value) {
  return FirstOf(value, "", UnknownWord);
}

std::optional<std::string> FindZeroCharacter(JsonView value) {
  return FirstOf(value, "", ZeroCharacter);
}

}  // namespace berth::api
