// Writes JSON text, member by member, straight into a string. Numbers as ECS's clients need them:
// integers without fraction, times as epoch seconds with milliseconds (ecs-api.md 1.2).
//
// Absent values are left out by not writing them; the Optional... functions say that in one line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace berth::api {

class JsonWriter {
 public:
  void BeginObject();
  void EndObject();
  void BeginArray();
  void EndArray();
  void Key(std::string_view name);

  void String(std::string_view value);
  void Int(int64_t value);
  void Double(double value);
  void Bool(bool value);
  void Time(absl::Time value);
  // A whole value that is JSON already.
  void Raw(std::string_view json);
  // The members of a JSON object, as members of the one that is open.
  void RawMembers(std::string_view object);

  // A key and its value.
  void String(std::string_view name, std::string_view value) { Key(name), String(value); }
  void Int(std::string_view name, int64_t value) { Key(name), Int(value); }
  void Bool(std::string_view name, bool value) { Key(name), Bool(value); }
  void Raw(std::string_view name, std::string_view json) { Key(name), Raw(json); }
  void BeginObject(std::string_view name) { Key(name), BeginObject(); }
  void BeginArray(std::string_view name) { Key(name), BeginArray(); }
  void EmptyArray(std::string_view name) { Raw(name, "[]"); }

  // Nothing when the value is empty, absent or InfinitePast.
  void OptionalString(std::string_view name, std::string_view value);
  void OptionalInt(std::string_view name, const std::optional<int64_t>& value);
  void OptionalTime(std::string_view name, absl::Time value);

  std::string Take() { return std::move(out_); }

 private:
  void Separate();

  std::string out_;
  bool first_ = true;  // no comma before what comes next
};

}  // namespace berth::api
