// Reading members of a JSON value whose form is not relied on: what is absent or of another type is
// nothing. For documents that were checked when they came in (payload.cc, docker_config.cc).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <rapidjson/document.h>

namespace berth::api {

inline const rapidjson::Value* FindMember(const rapidjson::Value* object, const char* name) {
  if (object == nullptr || !object->IsObject()) return nullptr;
  const auto member = object->FindMember(name);
  return member == object->MemberEnd() || member->value.IsNull() ? nullptr : &member->value;
}

inline std::optional<std::string_view> FindText(const rapidjson::Value* object, const char* name) {
  const rapidjson::Value* value = FindMember(object, name);
  if (value == nullptr || !value->IsString()) return std::nullopt;
  return std::string_view(value->GetString(), value->GetStringLength());
}

inline std::optional<int64_t> FindInt(const rapidjson::Value* object, const char* name) {
  const rapidjson::Value* value = FindMember(object, name);
  if (value == nullptr || !value->IsInt64()) return std::nullopt;
  return value->GetInt64();
}

inline bool IsTrue(const rapidjson::Value* object, const char* name) {
  const rapidjson::Value* value = FindMember(object, name);
  return value != nullptr && value->IsTrue();
}

// Null unless it is an array with something in it.
inline const rapidjson::Value* FindList(const rapidjson::Value* object, const char* name) {
  const rapidjson::Value* value = FindMember(object, name);
  return value != nullptr && value->IsArray() && !value->Empty() ? value : nullptr;
}

// Null unless it is an object with something in it.
inline const rapidjson::Value* FindObject(const rapidjson::Value* object, const char* name) {
  const rapidjson::Value* value = FindMember(object, name);
  return value != nullptr && value->IsObject() && !value->ObjectEmpty() ? value : nullptr;
}

inline std::string_view TextOf(const rapidjson::Value& value) {
  if (!value.IsString()) return {};
  return {value.GetString(), value.GetStringLength()};
}

}  // namespace berth::api
