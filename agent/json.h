// Reading and writing JSON in agent/. For .cc files only: it brings RapidJSON in.
//
// What is read comes from the server, from Docker or from our own state file, so every accessor
// asks for the type first and answers with nothing when it is another.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace berth::agent::json {

using Value = rapidjson::Value;
using Document = rapidjson::Document;
using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

// Not in full precision: RapidJSON 1.1 then counts the leading zeros of zero, which is undefined,
// for a number such as 0e41.
inline constexpr unsigned kParseFlags =
    rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;

inline bool Parse(std::string_view text, Document& document) {
  document.Parse<kParseFlags>(text.data(), text.size());
  return !document.HasParseError();
}

// The member of that name, or null when there is none, it is JSON null or `value` is no object.
inline const Value* Find(const Value& value, const char* name) {
  if (!value.IsObject()) return nullptr;
  const auto found = value.FindMember(name);
  if (found == value.MemberEnd() || found->value.IsNull()) return nullptr;
  return &found->value;
}

inline std::optional<std::string> FindString(const Value& value, const char* name) {
  const Value* member = Find(value, name);
  if (member == nullptr || !member->IsString()) return std::nullopt;
  return std::string(member->GetString(), member->GetStringLength());
}

inline std::string StringOr(const Value& value, const char* name, std::string fallback = {}) {
  return FindString(value, name).value_or(std::move(fallback));
}

// An integer, also when written with a zero fraction ("30.0").
inline std::optional<int64_t> FindInt(const Value& value, const char* name) {
  const Value* member = Find(value, name);
  if (member == nullptr) return std::nullopt;
  if (member->IsInt64()) return member->GetInt64();
  if (member->IsDouble() && member->GetDouble() >= -9.0e15 && member->GetDouble() <= 9.0e15) {
    const auto whole = static_cast<int64_t>(member->GetDouble());
    if (static_cast<double>(whole) == member->GetDouble()) return whole;
  }
  return std::nullopt;
}

inline std::optional<double> FindNumber(const Value& value, const char* name) {
  const Value* member = Find(value, name);
  if (member == nullptr || !member->IsNumber()) return std::nullopt;
  return member->GetDouble();
}

inline std::optional<bool> FindBool(const Value& value, const char* name) {
  const Value* member = Find(value, name);
  if (member == nullptr || !member->IsBool()) return std::nullopt;
  return member->GetBool();
}

// The array of that name; null when absent or no array.
inline const Value* FindArray(const Value& value, const char* name) {
  const Value* member = Find(value, name);
  return member != nullptr && member->IsArray() ? member : nullptr;
}

inline std::string ToText(const Value& value) {
  rapidjson::StringBuffer buffer;
  Writer writer(buffer);
  value.Accept(writer);
  return std::string(buffer.GetString(), buffer.GetSize());
}

// Builds one JSON text, member by member.
class Builder {
 public:
  Builder() : writer_(buffer_) {}

  Builder& Object() { return writer_.StartObject(), *this; }
  Builder& EndObject() { return writer_.EndObject(), *this; }
  Builder& Array() { return writer_.StartArray(), *this; }
  Builder& EndArray() { return writer_.EndArray(), *this; }
  Builder& Key(std::string_view name) {
    writer_.Key(name.data(), static_cast<rapidjson::SizeType>(name.size()));
    return *this;
  }
  Builder& String(std::string_view text) {
    writer_.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
    return *this;
  }
  Builder& Int(int64_t number) { return writer_.Int64(number), *this; }
  Builder& Number(double number) { return writer_.Double(number), *this; }
  Builder& Bool(bool value) { return writer_.Bool(value), *this; }
  // `text` must be one JSON value.
  Builder& Raw(std::string_view text) {
    writer_.RawValue(text.data(), text.size(), rapidjson::kObjectType);
    return *this;
  }
  Builder& Member(std::string_view name, std::string_view text) { return Key(name).String(text); }
  Builder& Member(std::string_view name, const char* text) { return Key(name).String(text); }
  Builder& Member(std::string_view name, const std::string& text) { return Key(name).String(text); }
  Builder& Member(std::string_view name, int64_t number) { return Key(name).Int(number); }
  Builder& Member(std::string_view name, bool value) { return Key(name).Bool(value); }

  std::string Text() const { return std::string(buffer_.GetString(), buffer_.GetSize()); }

 private:
  rapidjson::StringBuffer buffer_;
  Writer writer_;
};

}  // namespace berth::agent::json
