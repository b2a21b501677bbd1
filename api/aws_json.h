// Request bodies, and the documents that were kept: JSON text, checked against a shape of the API
// model (schema/schema.h) and cleaned, so that whoever reads on can rely on its form.
//
// What is checked and how: AWS JSON 1.1, ecs-api.md 1.1 and 1.3. A member of a wrong JSON type is a
// SerializationException. Unknown members are dropped, and so are nulls and all but the last of
// members with one name. A union that does not have exactly one member that we know is left empty,
// for the action to refuse: a part of it must never pass for the whole. Whether members are there
// that must be, and whether values are allowed, is up to the action.
//
// Only this file's .cc touches RapidJSON; decode.h makes typed structs from a JsonView.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "api/json_writer.h"
#include "api/schema/schema.h"

namespace berth::api {

// Arrays and objects within each other. The model's deepest input has eleven.
inline constexpr int kJsonDepthMax = 64;

// A value of a JsonBody that outlives it. False when absent. Each As... requires that kind of
// shape.
class JsonView {
 public:
  JsonView() = default;
  JsonView(const void* value, const schema::Shape& shape) : value_(value), shape_(&shape) {}

  explicit operator bool() const { return value_ != nullptr; }
  const schema::Shape& shape() const { return *shape_; }

  std::string_view AsString() const;
  int64_t AsInteger() const;
  double AsDouble() const;
  bool AsBool() const;
  absl::Time AsTime() const;

  // Members of a structure or map and elements of a list, as sent.
  int size() const;
  JsonView At(int index) const;
  std::string_view NameAt(int index) const;  // Requires: a structure or map
  JsonView Find(std::string_view name) const;

 private:
  const void* value_ = nullptr;  // a rapidjson::Value
  const schema::Shape* shape_ = nullptr;
};

class JsonBody {
 public:
  // An empty text counts as {}. Errors are SerializationException.
  static absl::StatusOr<JsonBody> Parse(std::string text, const schema::Shape& shape);

  JsonBody(JsonBody&&) noexcept;
  JsonBody& operator=(JsonBody&&) noexcept;
  ~JsonBody();

  JsonView root() const;

 private:
  struct Impl;
  explicit JsonBody(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The normalised text: members in the order as sent, without blanks.
void WriteJson(JsonView value, JsonWriter& writer);
std::string ToJson(JsonView value);

// One text for all ways to write the same structure: members sorted by name, at every level. The
// named members of the top level are left out.
std::string ToCanonicalJson(JsonView structure,
                            std::initializer_list<std::string_view> without = {});

}  // namespace berth::api
