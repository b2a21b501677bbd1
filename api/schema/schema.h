// The ECS API model as data: 88 operations and every shape that their inputs and outputs use. The
// table is generated (generate.py) and holds the model's facts alone; behaviour is elsewhere.
//
// Read-only after load, so usable from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace berth::api::schema {

enum class Kind : uint8_t {
  kStructure,
  kUnion,  // a structure of which exactly one member is set
  kList,
  kMap,  // of strings to something
  kString,
  kInteger,  // 32 bits
  kLong,     // 64 bits
  kDouble,
  kBoolean,
  kTimestamp,
  kBlob,
};

struct Operation {
  const char* name;
  uint16_t input;  // indexes of shapes
  uint16_t output;
  uint16_t first_error;
  uint16_t error_count;
};

// What `first` and `count` mean depends on the kind; the functions below know.
struct Shape {
  const char* name;
  Kind kind;
  uint16_t first;
  uint16_t count;
};

struct Member {
  const char* name;
  uint16_t shape;
  bool required;
};

std::span<const Operation> Operations();  // sorted by name
// Null when the API has no operation of that name.
const Operation* FindOperation(std::string_view name);
const Shape& InputOf(const Operation& operation);
const Shape& OutputOf(const Operation& operation);
// The names of the errors that the model lists for the operation.
std::span<const char* const> ErrorsOf(const Operation& operation);

// Null when there is no such shape.
const Shape* FindShape(std::string_view name);
// Of a structure or union; empty for others.
std::span<const Member> MembersOf(const Shape& shape);
// Null when the structure has no such member.
const Member* FindMember(const Shape& shape, std::string_view name);
const Shape& ShapeOf(const Member& member);
// Requires: a list or a map.
const Shape& ElementOf(const Shape& shape);
// Of a string with listed values; empty for free ones.
std::span<const char* const> EnumValuesOf(const Shape& shape);

}  // namespace berth::api::schema
