// Typed structs from JSON, by tables: for each struct one table that pairs the members' names with
// pointers to its fields. What has been decoded once needs no look at JSON any more.
//
//   struct StopTaskRequest {
//     std::optional<std::string> cluster = std::nullopt;
//     std::string task = {};
//   };
//   template <>
//   inline constexpr auto kFields<StopTaskRequest> = std::array{
//       Field<&StopTaskRequest::cluster>("cluster"),
//       Field<&StopTaskRequest::task>("task"),
//   };
//
// Fields may be std::string, int64_t, double, bool, absl::Time, structs with a table, and
// optionals, vectors and string maps of these. A field whose member is absent keeps its value.
// Decoding cannot fail: aws_json.h has checked the body against the shape, and each table is
// checked against the shape when it is first used, so that a name misspelt in a table ends in the
// first test.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/time/time.h"
#include "api/aws_json.h"
#include "api/schema/schema.h"
#include "model/check.h"

namespace berth::api {

template <class T>
struct FieldOf {
  std::string_view name;
  void (*decode)(JsonView value, T& target);
  bool (*fits)(const schema::Shape& shape);
};

// The table of T; specialised beside T.
template <class T>
inline constexpr std::array<FieldOf<T>, 0> kFields = {};

template <class T>
void DecodeValue(JsonView value, T& target);
template <class T>
bool Fits(const schema::Shape& shape);

namespace internal {

template <class>
struct MemberPointer;
template <class T, class M>
struct MemberPointer<M T::*> {
  using Struct = T;
  using Value = M;
};
template <class>
struct CustomDecoder;
template <class T>
struct CustomDecoder<void (*)(JsonView, T&)> {
  using Struct = T;
};

template <class T>
struct Container {
  static constexpr bool kOptional = false, kVector = false, kMap = false;
};
template <class E>
struct Container<std::optional<E>> {
  static constexpr bool kOptional = true, kVector = false, kMap = false;
  using Element = E;
};
template <class E>
struct Container<std::vector<E>> {
  static constexpr bool kOptional = false, kVector = true, kMap = false;
  using Element = E;
};
template <class E>
struct Container<std::map<std::string, E>> {
  static constexpr bool kOptional = false, kVector = false, kMap = true;
  using Element = E;
};

}  // namespace internal

// A member that becomes a field.
template <auto kMember>
constexpr auto Field(std::string_view name) {
  using Pointer = internal::MemberPointer<decltype(kMember)>;
  using T = typename Pointer::Struct;
  return FieldOf<T>{name, [](JsonView value, T& target) { DecodeValue(value, target.*kMember); },
                    &Fits<typename Pointer::Value>};
}

// A member that a function of its own puts where it belongs.
template <auto kFunction>
constexpr auto Custom(std::string_view name) {
  using T = typename internal::CustomDecoder<decltype(kFunction)>::Struct;
  return FieldOf<T>{name, kFunction, [](const schema::Shape&) { return true; }};
}

// Whether the model has each member of T's table, with a fitting type. Names the first that is not
// so on stderr: it is our mistake, and the caller aborts.
template <class T>
bool TableFits(const schema::Shape& shape) {
  for (const FieldOf<T>& field : kFields<T>) {
    const schema::Member* member = schema::FindMember(shape, field.name);
    if (member != nullptr && field.fits(schema::ShapeOf(*member))) continue;
    std::fprintf(stderr, "the table of %s does not fit its member %s\n", shape.name,
                 std::string(field.name).c_str());
    return false;
  }
  return !schema::MembersOf(shape).empty() || kFields<T>.empty();
}

template <class T>
bool Fits(const schema::Shape& shape) {
  using schema::Kind;
  using C = internal::Container<T>;
  if constexpr (C::kOptional) {
    return Fits<typename C::Element>(shape);
  } else if constexpr (C::kVector) {
    return shape.kind == Kind::kList && Fits<typename C::Element>(schema::ElementOf(shape));
  } else if constexpr (C::kMap) {
    return shape.kind == Kind::kMap && Fits<typename C::Element>(schema::ElementOf(shape));
  } else if constexpr (std::is_same_v<T, std::string>) {
    return shape.kind == Kind::kString;
  } else if constexpr (std::is_same_v<T, bool>) {
    return shape.kind == Kind::kBoolean;
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return shape.kind == Kind::kInteger || shape.kind == Kind::kLong;
  } else if constexpr (std::is_same_v<T, double>) {
    return shape.kind == Kind::kDouble;
  } else if constexpr (std::is_same_v<T, absl::Time>) {
    return shape.kind == Kind::kTimestamp;
  } else {
    static_assert(kFields<T>.size() > 0, "the struct has no table");
    return TableFits<T>(shape);
  }
}

template <class T>
void DecodeValue(JsonView value, T& target) {
  using C = internal::Container<T>;
  if constexpr (C::kOptional) {
    DecodeValue(value, target.emplace());
  } else if constexpr (C::kVector) {
    target.clear();
    target.reserve(static_cast<size_t>(value.size()));
    for (int i = 0; i < value.size(); ++i) DecodeValue(value.At(i), target.emplace_back());
  } else if constexpr (C::kMap) {
    target.clear();
    for (int i = 0; i < value.size(); ++i) {
      DecodeValue(value.At(i), target[std::string(value.NameAt(i))]);
    }
  } else if constexpr (std::is_same_v<T, std::string>) {
    target = value.AsString();
  } else if constexpr (std::is_same_v<T, bool>) {
    target = value.AsBool();
  } else if constexpr (std::is_same_v<T, int64_t>) {
    target = value.AsInteger();
  } else if constexpr (std::is_same_v<T, double>) {
    target = value.AsDouble();
  } else if constexpr (std::is_same_v<T, absl::Time>) {
    target = value.AsTime();
  } else {
    static_assert(kFields<T>.size() > 0, "the struct has no table");
    for (int i = 0; i < value.size(); ++i) {
      const std::string_view name = value.NameAt(i);
      for (const FieldOf<T>& field : kFields<T>) {
        if (field.name == name) field.decode(value.At(i), target);
      }
    }
  }
}

template <class T>
T Decode(JsonView value) {
  static const bool fits = TableFits<T>(value.shape());
  BERTH_CHECK(fits);
  T target = {};
  DecodeValue(value, target);
  return target;
}

}  // namespace berth::api
