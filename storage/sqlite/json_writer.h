// Writing our own JSON into a row. A member that has its default is left out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace berth::storage::sqlite {

class JsonWriter {
 public:
  void StartObject() { writer_.StartObject(); }
  void StartObject(const char* name) { Name(name).StartObject(); }
  void EndObject() { writer_.EndObject(); }

  void Text(const char* name, std::string_view value) {
    if (!value.empty()) Put(Name(name), value);
  }
  void Int(const char* name, int64_t value, int64_t absent) {
    if (value != absent) Name(name).Int64(value);
  }
  void OptionalInt(const char* name, const std::optional<int64_t>& value) {
    if (value) Name(name).Int64(*value);
  }
  void OptionalText(const char* name, const std::optional<std::string>& value) {
    if (value) Put(Name(name), *value);
  }
  void Bool(const char* name, bool value) {
    if (value) Name(name).Bool(true);
  }
  template <class Enum>
  void Word(const char* name, Enum value, Enum absent) {
    if (value != absent) Text(name, ToString(value));
  }

  // An array that `write_element` fills, one call per element.
  template <class List, class WriteElement>
  void Array(const char* name, const List& list, WriteElement write_element) {
    if (list.empty()) return;
    Name(name);
    Array(list, write_element);
  }
  template <class List, class WriteElement>
  void Array(const List& list, WriteElement write_element) {
    writer_.StartArray();
    for (const auto& element : list) write_element(element);
    writer_.EndArray();
  }
  void Element(std::string_view value) { Put(writer_, value); }
  void Element(int64_t value) { writer_.Int64(value); }

  std::string Take() const { return {buffer_.GetString(), buffer_.GetSize()}; }

 private:
  using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

  Writer& Name(const char* name) {
    writer_.Key(name);
    return writer_;
  }
  static void Put(Writer& writer, std::string_view value) {
    // An empty view may have no pointer, on which RapidJSON asserts.
    writer.String(value.empty() ? "" : value.data(),
                  static_cast<rapidjson::SizeType>(value.size()));
  }

  rapidjson::StringBuffer buffer_;
  Writer writer_{buffer_};
};

}  // namespace berth::storage::sqlite
