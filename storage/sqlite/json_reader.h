// Reading our own JSON back from a row: every member is checked for its type first, since RapidJSON
// asserts on a wrong one. An absent member has its default; the first wrong one is remembered.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <rapidjson/document.h>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"

namespace berth::storage::sqlite {

class JsonReader {
 public:
  // Members of `object`; `path` is how errors name it ("details.gpus[0]"). Both, and `status`, must
  // outlive the reader. Anything but an object reads as an empty one, with an error.
  JsonReader(const rapidjson::Value& object, std::string path, absl::Status& status);

  std::string Text(const char* name) const;
  int64_t Int(const char* name, int64_t absent) const;
  std::optional<int64_t> OptionalInt(const char* name) const;
  std::optional<std::string> OptionalText(const char* name) const;
  bool Bool(const char* name) const;
  std::vector<std::string> Texts(const char* name) const;
  std::vector<int64_t> Ints(const char* name) const;

  template <class Enum>
  Enum Word(const char* name, std::optional<Enum> (*parse)(std::string_view), Enum absent) const {
    const std::optional<std::string> text = OptionalText(name);
    if (!text) return absent;
    const std::optional<Enum> value = parse(*text);
    if (!value) Fail(name, absl::StrFormat("is \"%s\"", *text));
    return value.value_or(absent);
  }

  // `read` is called with a JsonReader for each object in the array.
  template <class Read>
  void ForEach(const char* name, Read read) const {
    const rapidjson::Value* array = FindArray(name);
    if (array == nullptr) return;
    for (rapidjson::SizeType i = 0; i < array->Size(); ++i) {
      read(JsonReader((*array)[i], absl::StrFormat("%s.%s[%d]", path_, name, i), status_));
    }
  }

  JsonReader Object(const char* name) const;

 private:
  const rapidjson::Value* Find(const char* name) const;
  const rapidjson::Value* FindArray(const char* name) const;
  void Fail(std::string_view name, std::string_view what) const;

  const rapidjson::Value& object_;
  std::string path_;
  absl::Status& status_;
};

// Parses a column. `read` is called with a JsonReader for the object in it.
template <class Read>
absl::Status ReadJsonObject(std::string_view column, std::string_view text, Read read);

// The column's text as a document; null with an error in `status` when it is not JSON.
rapidjson::Document ParseColumn(std::string_view column, std::string_view text,
                                absl::Status& status);

template <class Read>
absl::Status ReadJsonObject(std::string_view column, std::string_view text, Read read) {
  absl::Status status;
  const rapidjson::Document document = ParseColumn(column, text, status);
  if (status.ok()) read(JsonReader(document, std::string(column), status));
  return status;
}

}  // namespace berth::storage::sqlite
