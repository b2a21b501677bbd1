#include "storage/sqlite/json_reader.h"

#include <utility>

#include <rapidjson/error/en.h>

namespace berth::storage::sqlite {
namespace {

const rapidjson::Value& EmptyObject() {
  static const rapidjson::Value empty(rapidjson::kObjectType);
  return empty;
}

std::string TextOf(const rapidjson::Value& value) {
  return std::string(value.GetString(), value.GetStringLength());
}

}  // namespace

JsonReader::JsonReader(const rapidjson::Value& object, std::string path, absl::Status& status)
    : object_(object.IsObject() ? object : EmptyObject()), path_(std::move(path)), status_(status) {
  if (!object.IsObject()) Fail("", "is not an object");
}

void JsonReader::Fail(std::string_view name, std::string_view what) const {
  if (!status_.ok()) return;
  status_ =
      absl::DataLossError(absl::StrFormat("%s%s%s %s", path_, name.empty() ? "" : ".", name, what));
}

const rapidjson::Value* JsonReader::Find(const char* name) const {
  const auto member = object_.FindMember(name);
  return member == object_.MemberEnd() ? nullptr : &member->value;
}

const rapidjson::Value* JsonReader::FindArray(const char* name) const {
  const rapidjson::Value* value = Find(name);
  if (value == nullptr) return nullptr;
  if (value->IsArray()) return value;
  Fail(name, "is not an array");
  return nullptr;
}

std::optional<std::string> JsonReader::OptionalText(const char* name) const {
  const rapidjson::Value* value = Find(name);
  if (value == nullptr) return std::nullopt;
  if (value->IsString()) return TextOf(*value);
  Fail(name, "is not a string");
  return std::nullopt;
}

std::string JsonReader::Text(const char* name) const {
  return OptionalText(name).value_or(std::string());
}

std::optional<int64_t> JsonReader::OptionalInt(const char* name) const {
  const rapidjson::Value* value = Find(name);
  if (value == nullptr) return std::nullopt;
  if (value->IsInt64()) return value->GetInt64();
  Fail(name, "is not a whole number");
  return std::nullopt;
}

int64_t JsonReader::Int(const char* name, int64_t absent) const {
  return OptionalInt(name).value_or(absent);
}

bool JsonReader::Bool(const char* name) const {
  const rapidjson::Value* value = Find(name);
  if (value == nullptr) return false;
  if (value->IsBool()) return value->GetBool();
  Fail(name, "is neither true nor false");
  return false;
}

std::vector<std::string> JsonReader::Texts(const char* name) const {
  std::vector<std::string> texts;
  const rapidjson::Value* array = FindArray(name);
  if (array == nullptr) return texts;
  texts.reserve(array->Size());
  for (const rapidjson::Value& value : array->GetArray()) {
    if (value.IsString()) {
      texts.push_back(TextOf(value));
    } else {
      Fail(name, "has an element that is not a string");
    }
  }
  return texts;
}

std::vector<int64_t> JsonReader::Ints(const char* name) const {
  std::vector<int64_t> numbers;
  const rapidjson::Value* array = FindArray(name);
  if (array == nullptr) return numbers;
  numbers.reserve(array->Size());
  for (const rapidjson::Value& value : array->GetArray()) {
    if (value.IsInt64()) {
      numbers.push_back(value.GetInt64());
    } else {
      Fail(name, "has an element that is not a whole number");
    }
  }
  return numbers;
}

JsonReader JsonReader::Object(const char* name) const {
  const rapidjson::Value* value = Find(name);
  return JsonReader(value == nullptr ? EmptyObject() : *value,
                    absl::StrFormat("%s.%s", path_, name), status_);
}

rapidjson::Document ParseColumn(std::string_view column, std::string_view text,
                                absl::Status& status) {
  rapidjson::Document document;
  // Iterative: a damaged row must not be able to exhaust the stack.
  document.Parse<rapidjson::kParseIterativeFlag>(text.data(), text.size());
  if (document.HasParseError()) {
    status = absl::DataLossError(absl::StrFormat(
        "%s is not JSON: %s (at byte %d)", column,
        rapidjson::GetParseError_En(document.GetParseError()), document.GetErrorOffset()));
  }
  return document;
}

}  // namespace berth::storage::sqlite
