#include "api/aws_json.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <rapidjson/document.h>
#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "api/errors.h"
#include "model/check.h"

namespace berth::api {

using rapidjson::Document;
using rapidjson::SizeType;
using rapidjson::Value;
using schema::Kind;
using schema::Member;
using schema::Shape;

struct JsonBody::Impl {
  std::string text;  // parsed in place: the strings of `document` lie in it
  Document document;
  const Shape* shape = nullptr;
};

namespace {

// Doubles hold every integer up to here.
constexpr double kExactDoubleMax = 9007199254740992.0;
// The end of the year 9999.
constexpr double kEpochSecondsMax = 253402300799.0;

std::string_view StringOf(const Value& value) {
  return {value.GetString(), value.GetStringLength()};
}

// Hands everything on to the document until it gets too deep.
class DepthGuard {
 public:
  explicit DepthGuard(Document& document) : document_(document) {}

  bool Null() { return document_.Null(); }
  bool Bool(bool b) { return document_.Bool(b); }
  bool Int(int i) { return document_.Int(i); }
  bool Uint(unsigned i) { return document_.Uint(i); }
  bool Int64(int64_t i) { return document_.Int64(i); }
  bool Uint64(uint64_t i) { return document_.Uint64(i); }
  bool Double(double d) { return document_.Double(d); }
  bool RawNumber(const char* s, SizeType n, bool copy) { return document_.RawNumber(s, n, copy); }
  bool String(const char* s, SizeType n, bool copy) {
    return IsText(s, n) && document_.String(s, n, copy);
  }
  bool Key(const char* s, SizeType n, bool copy) {
    return IsText(s, n) && document_.Key(s, n, copy);
  }
  bool StartObject() { return ++depth_ <= kJsonDepthMax && document_.StartObject(); }
  bool EndObject(SizeType n) { return --depth_, document_.EndObject(n); }
  bool StartArray() { return ++depth_ <= kJsonDepthMax && document_.StartArray(); }
  bool EndArray(SizeType n) { return --depth_, document_.EndArray(n); }

  bool met_half_a_pair() const { return met_half_a_pair_; }

 private:
  // RapidJSON refuses the first half of a surrogate pair without the second, but makes bytes that
  // are no UTF-8 of a second half that stands alone ("\udc00"). Only these have 0xED before 0xA0 or
  // more.
  bool IsText(const char* s, SizeType n) {
    const std::string_view text(s, n);
    for (size_t at = text.find('\xED'); at != text.npos; at = text.find('\xED', at + 1)) {
      if (at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) >= 0xA0) {
        met_half_a_pair_ = true;
        return false;
      }
    }
    return true;
  }

  bool met_half_a_pair_ = false;
  Document& document_;
  int depth_ = 0;
};

// Iterative, since the stack of a thread must not depend on what a client sends. Not in full
// precision: RapidJSON 1.1 then counts the leading zeros of zero, which is undefined, for a number
// such as 0e41; without it a double of more than 15 digits may differ in the last bit.
constexpr unsigned kParseFlags = rapidjson::kParseInsituFlag | rapidjson::kParseIterativeFlag |
                                 rapidjson::kParseValidateEncodingFlag;

// Where a text ends within a UTF-8 character, RapidJSON reads on for the rest of it: up to three
// bytes, the first of which is the end of the string.
constexpr size_t kUtf8OverreadMax = 3;

absl::Status ParseText(std::string& text, Document& document) {
  // RapidJSON would take a zero byte for the end.
  if (text.find('\0') != std::string::npos) {
    return SerializationError("the body is not valid JSON: it has a zero byte");
  }
  text.append(kUtf8OverreadMax, '\0');
  rapidjson::Reader reader;
  rapidjson::InsituStringStream stream(text.data());
  bool met_half_a_pair = false;
  auto parse = [&](Document& target) {
    DepthGuard guard(target);
    reader.Parse<kParseFlags>(stream, guard);
    met_half_a_pair = guard.met_half_a_pair();
    return !reader.HasParseError();
  };
  document.Populate(parse);
  if (!reader.HasParseError()) return absl::OkStatus();
  if (met_half_a_pair) {
    return SerializationError(
        "the body is not valid JSON: The surrogate pair in string is invalid.");
  }
  if (reader.GetParseErrorCode() == rapidjson::kParseErrorTermination) {
    return SerializationError(
        absl::StrFormat("the body nests deeper than %d arrays and objects", kJsonDepthMax));
  }
  return SerializationError(absl::StrFormat("the body is not valid JSON: %s (at byte %d)",
                                            rapidjson::GetParseError_En(reader.GetParseErrorCode()),
                                            reader.GetErrorOffset()));
}

// What is wrong and where: `path` grows at its head on the way out.
struct Misfit {
  std::string text;
  std::string path = {};
};
using Result = std::optional<Misfit>;

Result Within(std::string_view parent, Result result) {
  if (!result) return result;
  const bool joined = result->path.empty() || result->path.front() == '[';
  result->path = absl::StrFormat("%s%s%s", parent, joined ? "" : ".", result->path);
  return result;
}

const char* KindName(Kind kind) {
  switch (kind) {
    case Kind::kStructure:
    case Kind::kUnion:
      return "a Structure";
    case Kind::kList:
      return "a List";
    case Kind::kMap:
      return "a Map";
    case Kind::kString:
      return "a String";
    case Kind::kInteger:
      return "an Integer";
    case Kind::kLong:
      return "a Long";
    case Kind::kDouble:
      return "a Double";
    case Kind::kBoolean:
      return "a Boolean";
    case Kind::kTimestamp:
      return "a Timestamp";
    case Kind::kBlob:
      return "a Blob";
  }
  return "a value";
}

// ECS's words for a value of the wrong type (ecs-api.md 1.3).
Misfit WrongType(const Value& value, Kind wanted) {
  const char* token = "NUMBER_VALUE";
  switch (value.GetType()) {
    case rapidjson::kObjectType:
      return {"Start of structure or map found where not expected."};
    case rapidjson::kArrayType:
      return {"Start of list found where not expected."};
    case rapidjson::kNullType:
      token = "NULL_VALUE";
      break;
    case rapidjson::kFalseType:
      token = "FALSE_VALUE";
      break;
    case rapidjson::kTrueType:
      token = "TRUE_VALUE";
      break;
    case rapidjson::kStringType:
      token = "STRING_VALUE";
      break;
    case rapidjson::kNumberType:
      break;
  }
  return {absl::StrCat(token, " can not be converted to ", KindName(wanted))};
}

Result CleanInteger(Kind kind, Value& value) {
  if (!value.IsNumber()) return WrongType(value, kind);
  if (value.IsDouble()) {
    const double number = value.GetDouble();
    if (number != std::floor(number)) {
      return Misfit{
          absl::StrCat("NUMBER_VALUE with a fraction can not be converted to ", KindName(kind))};
    }
    // 4096.0 and 1e3 are integers that somebody's JSON library wrote in its own way.
    if (std::abs(number) <= kExactDoubleMax) value.SetInt64(static_cast<int64_t>(number));
  }
  if (!value.IsInt64() || (kind == Kind::kInteger && !value.IsInt())) {
    return Misfit{
        absl::StrCat("NUMBER_VALUE out of range can not be converted to ", KindName(kind))};
  }
  return std::nullopt;
}

Result CleanTimestamp(Value& value) {
  double seconds = 0;
  if (value.IsString()) {
    const absl::string_view text(value.GetString(), value.GetStringLength());
    if (!absl::SimpleAtod(text, &seconds)) return WrongType(value, Kind::kTimestamp);
  } else if (value.IsNumber()) {
    seconds = value.GetDouble();
  } else {
    return WrongType(value, Kind::kTimestamp);
  }
  if (!std::isfinite(seconds) || std::abs(seconds) > kEpochSecondsMax) {
    return Misfit{"NUMBER_VALUE out of range can not be converted to a Timestamp"};
  }
  value.SetDouble(seconds);
  return std::nullopt;
}

Result Clean(const Shape& shape, Value& value, Document::AllocatorType& allocator);

Result CleanList(const Shape& shape, Value& value, Document::AllocatorType& allocator) {
  if (!value.IsArray()) return WrongType(value, Kind::kList);
  const Shape& element = schema::ElementOf(shape);
  for (SizeType i = 0; i < value.Size(); ++i) {
    if (Result misfit = Clean(element, value[i], allocator)) {
      return Within(absl::StrCat("[", i, "]"), std::move(misfit));
    }
  }
  return std::nullopt;
}

// Members are moved over one by one rather than erased: erasing is quadratic.
Result CleanMap(const Shape& shape, Value& value, Document::AllocatorType& allocator) {
  if (!value.IsObject()) return WrongType(value, Kind::kMap);
  const Shape& element = schema::ElementOf(shape);
  Value clean(rapidjson::kObjectType);
  absl::flat_hash_map<absl::string_view, SizeType> places;
  for (auto& member : value.GetObject()) {
    const absl::string_view name(member.name.GetString(), member.name.GetStringLength());
    if (Result misfit = Clean(element, member.value, allocator)) {
      return Within(absl::StrCat("[", name, "]"), std::move(misfit));
    }
    const auto [place, added] = places.try_emplace(name, clean.MemberCount());
    if (added) {
      clean.AddMember(member.name, member.value, allocator);
    } else {
      (clean.MemberBegin() + place->second)->value = member.value;
    }
  }
  value = clean;
  return std::nullopt;
}

Result CleanStructure(const Shape& shape, Value& value, Document::AllocatorType& allocator) {
  if (!value.IsObject()) return WrongType(value, shape.kind);
  const std::span<const Member> members = schema::MembersOf(shape);
  constexpr SizeType kNowhere = UINT32_MAX;
  std::vector<SizeType> places(members.size(), kNowhere);
  Value clean(rapidjson::kObjectType);
  bool all_known = true;
  for (auto& entry : value.GetObject()) {
    if (entry.value.IsNull()) continue;
    const Member* member = schema::FindMember(shape, StringOf(entry.name));
    if (member == nullptr) {
      all_known = false;
      continue;
    }
    if (Result misfit = Clean(schema::ShapeOf(*member), entry.value, allocator)) {
      return Within(member->name, std::move(misfit));
    }
    SizeType& place = places[member - members.data()];
    if (place == kNowhere) {
      place = clean.MemberCount();
      clean.AddMember(entry.name, entry.value, allocator);
    } else {
      (clean.MemberBegin() + place)->value = entry.value;
    }
  }
  const bool whole = shape.kind != Kind::kUnion || (all_known && clean.MemberCount() == 1);
  if (whole) {
    value = clean;
  } else {
    value.SetObject();
  }
  return std::nullopt;
}

// Recursion is as deep as the shapes, of which none contains itself.
Result Clean(const Shape& shape, Value& value, Document::AllocatorType& allocator) {
  switch (shape.kind) {
    case Kind::kStructure:
    case Kind::kUnion:
      return CleanStructure(shape, value, allocator);
    case Kind::kList:
      return CleanList(shape, value, allocator);
    case Kind::kMap:
      return CleanMap(shape, value, allocator);
    case Kind::kInteger:
    case Kind::kLong:
      return CleanInteger(shape.kind, value);
    case Kind::kTimestamp:
      return CleanTimestamp(value);
    case Kind::kDouble:
      if (value.IsNumber()) return std::nullopt;
      return WrongType(value, shape.kind);
    case Kind::kBoolean:
      if (value.IsBool()) return std::nullopt;
      return WrongType(value, shape.kind);
    case Kind::kString:
    case Kind::kBlob:
      if (value.IsString()) return std::nullopt;
      return WrongType(value, shape.kind);
  }
  return std::nullopt;
}

const Value& Of(const void* value) { return *static_cast<const Value*>(value); }

}  // namespace

JsonBody::JsonBody(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
JsonBody::JsonBody(JsonBody&&) noexcept = default;
JsonBody& JsonBody::operator=(JsonBody&&) noexcept = default;
JsonBody::~JsonBody() = default;

absl::StatusOr<JsonBody> JsonBody::Parse(std::string text, const Shape& shape) {
  auto impl = std::make_unique<Impl>();
  impl->text = text.empty() ? "{}" : std::move(text);
  impl->shape = &shape;
  absl::Status parsed = ParseText(impl->text, impl->document);
  if (!parsed.ok()) return parsed;
  if (Result misfit = Clean(shape, impl->document, impl->document.GetAllocator())) {
    if (misfit->path.empty()) return SerializationError(misfit->text);
    return SerializationError(absl::StrFormat("%s (%s)", misfit->text, misfit->path));
  }
  return JsonBody(std::move(impl));
}

JsonView JsonBody::root() const { return {&impl_->document, *impl_->shape}; }

std::string_view JsonView::AsString() const {
  BERTH_CHECK(Of(value_).IsString());
  return StringOf(Of(value_));
}

int64_t JsonView::AsInteger() const {
  BERTH_CHECK(Of(value_).IsInt64());
  return Of(value_).GetInt64();
}

double JsonView::AsDouble() const {
  BERTH_CHECK(Of(value_).IsNumber());
  return Of(value_).GetDouble();
}

bool JsonView::AsBool() const {
  BERTH_CHECK(Of(value_).IsBool());
  return Of(value_).GetBool();
}

// To the microsecond, which is what a double holds of today's times: without rounding, .664 seconds
// would come out as .663 and a fraction.
absl::Time JsonView::AsTime() const { return absl::FromUnixMicros(std::llround(AsDouble() * 1e6)); }

int JsonView::size() const {
  const Value& value = Of(value_);
  BERTH_CHECK(value.IsArray() || value.IsObject());
  return static_cast<int>(value.IsArray() ? value.Size() : value.MemberCount());
}

JsonView JsonView::At(int index) const {
  BERTH_CHECK(index >= 0 && index < size());
  const Value& value = Of(value_);
  if (value.IsArray()) return {&value[static_cast<SizeType>(index)], schema::ElementOf(*shape_)};
  const auto& entry = *(value.MemberBegin() + index);
  if (shape_->kind == Kind::kMap) return {&entry.value, schema::ElementOf(*shape_)};
  const Member* member = schema::FindMember(*shape_, StringOf(entry.name));
  BERTH_CHECK(member != nullptr);
  return {&entry.value, schema::ShapeOf(*member)};
}

std::string_view JsonView::NameAt(int index) const {
  BERTH_CHECK(Of(value_).IsObject() && index >= 0 && index < size());
  return StringOf((Of(value_).MemberBegin() + index)->name);
}

JsonView JsonView::Find(std::string_view name) const {
  for (int i = 0; i < size(); ++i) {
    if (NameAt(i) == name) return At(i);
  }
  return {};
}

void WriteJson(JsonView value, JsonWriter& writer) {
  switch (value.shape().kind) {
    case Kind::kStructure:
    case Kind::kUnion:
    case Kind::kMap:
      writer.BeginObject();
      for (int i = 0; i < value.size(); ++i) {
        writer.Key(value.NameAt(i));
        WriteJson(value.At(i), writer);
      }
      return writer.EndObject();
    case Kind::kList:
      writer.BeginArray();
      for (int i = 0; i < value.size(); ++i) WriteJson(value.At(i), writer);
      return writer.EndArray();
    case Kind::kInteger:
    case Kind::kLong:
      return writer.Int(value.AsInteger());
    case Kind::kDouble:
      return writer.Double(value.AsDouble());
    case Kind::kTimestamp:
      return writer.Time(value.AsTime());
    case Kind::kBoolean:
      return writer.Bool(value.AsBool());
    case Kind::kString:
    case Kind::kBlob:
      return writer.String(value.AsString());
  }
}

std::string ToJson(JsonView value) {
  JsonWriter writer;
  WriteJson(value, writer);
  return writer.Take();
}

namespace {

void WriteCanonical(JsonView value, std::initializer_list<std::string_view> without,
                    JsonWriter& writer) {
  const Kind kind = value.shape().kind;
  if (kind == Kind::kList) {
    writer.BeginArray();
    for (int i = 0; i < value.size(); ++i) WriteCanonical(value.At(i), {}, writer);
    return writer.EndArray();
  }
  if (kind != Kind::kStructure && kind != Kind::kUnion && kind != Kind::kMap) {
    return WriteJson(value, writer);
  }
  std::vector<std::pair<std::string_view, int>> order;
  for (int i = 0; i < value.size(); ++i) order.emplace_back(value.NameAt(i), i);
  std::sort(order.begin(), order.end());
  writer.BeginObject();
  for (const auto& [name, index] : order) {
    if (std::ranges::find(without, name) != without.end()) continue;
    writer.Key(name);
    WriteCanonical(value.At(index), {}, writer);
  }
  writer.EndObject();
}

}  // namespace

std::string ToCanonicalJson(JsonView structure, std::initializer_list<std::string_view> without) {
  JsonWriter writer;
  WriteCanonical(structure, without, writer);
  return writer.Take();
}

}  // namespace berth::api
