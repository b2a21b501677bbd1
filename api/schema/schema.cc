#include "api/schema/schema.h"

#include <algorithm>

#include "model/check.h"

namespace berth::api::schema {

namespace table {

extern const Operation kOperations[];
extern const int kOperationCount;
extern const char* const kErrors[];
extern const Shape kShapes[];
extern const int kShapeCount;
extern const Member kMembers[];
extern const char* const kEnumValues[];

}  // namespace table

namespace {

// Of a table that is sorted by name.
template <class Row>
const Row* FindByName(const Row* begin, int count, std::string_view name) {
  const Row* end = begin + count;
  const Row* row = std::lower_bound(begin, end, name,
                                    [](const Row& a, std::string_view b) { return a.name < b; });
  return row != end && row->name == name ? row : nullptr;
}

}  // namespace

std::span<const Operation> Operations() {
  return {table::kOperations, static_cast<size_t>(table::kOperationCount)};
}

const Operation* FindOperation(std::string_view name) {
  return FindByName(table::kOperations, table::kOperationCount, name);
}

const Shape& InputOf(const Operation& operation) { return table::kShapes[operation.input]; }

const Shape& OutputOf(const Operation& operation) { return table::kShapes[operation.output]; }

std::span<const char* const> ErrorsOf(const Operation& operation) {
  return {table::kErrors + operation.first_error, operation.error_count};
}

const Shape* FindShape(std::string_view name) {
  return FindByName(table::kShapes, table::kShapeCount, name);
}

std::span<const Member> MembersOf(const Shape& shape) {
  if (shape.kind != Kind::kStructure && shape.kind != Kind::kUnion) return {};
  return {table::kMembers + shape.first, shape.count};
}

const Member* FindMember(const Shape& shape, std::string_view name) {
  for (const Member& member : MembersOf(shape)) {
    if (member.name == name) return &member;
  }
  return nullptr;
}

const Shape& ShapeOf(const Member& member) { return table::kShapes[member.shape]; }

const Shape& ElementOf(const Shape& shape) {
  BERTH_CHECK(shape.kind == Kind::kList || shape.kind == Kind::kMap);
  return table::kShapes[shape.first];
}

std::span<const char* const> EnumValuesOf(const Shape& shape) {
  if (shape.kind != Kind::kString) return {};
  return {table::kEnumValues + shape.first, shape.count};
}

}  // namespace berth::api::schema
