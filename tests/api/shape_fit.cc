#include "tests/api/shape_fit.h"

#include <algorithm>

#include <catch2/catch.hpp>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace berth::api {

namespace {

using schema::Kind;
using schema::Shape;

bool FitsScalar(const rapidjson::Value& value, const Shape& shape) {
  switch (shape.kind) {
    case Kind::kString:
    case Kind::kBlob: {
      if (!value.IsString()) return false;
      const auto words = schema::EnumValuesOf(shape);
      return words.empty() ||
             std::ranges::find(words, std::string_view(value.GetString())) != words.end();
    }
    case Kind::kInteger:
      return value.IsInt();
    case Kind::kLong:
      return value.IsInt64();
    case Kind::kDouble:
    case Kind::kTimestamp:
      return value.IsNumber();
    case Kind::kBoolean:
      return value.IsBool();
    default:
      return false;
  }
}

std::string FindMisfitInMembers(const rapidjson::Value& value, const Shape& shape,
                                const std::string& path) {
  if (!value.IsObject()) return path + " is no object";
  for (const auto& entry : value.GetObject()) {
    const std::string name = entry.name.GetString();
    const Shape* below = nullptr;
    if (shape.kind == Kind::kMap) {
      below = &schema::ElementOf(shape);
    } else if (const schema::Member* member = schema::FindMember(shape, name)) {
      below = &schema::ShapeOf(*member);
    }
    if (below == nullptr) return path + "." + name + " is unknown to the model";
    const std::string misfit = FindMisfit(entry.value, *below, path + "." + name);
    if (!misfit.empty()) return misfit;
  }
  return "";
}

}  // namespace

std::string FindMisfit(const rapidjson::Value& value, const Shape& shape, const std::string& path) {
  switch (shape.kind) {
    case Kind::kStructure:
    case Kind::kUnion:
    case Kind::kMap:
      return FindMisfitInMembers(value, shape, path);
    case Kind::kList:
      if (!value.IsArray()) return path + " is no list";
      for (rapidjson::SizeType i = 0; i < value.Size(); ++i) {
        const std::string at = path + "[" + std::to_string(i) + "]";
        const std::string misfit = FindMisfit(value[i], schema::ElementOf(shape), at);
        if (!misfit.empty()) return misfit;
      }
      return "";
    default:
      return FitsScalar(value, shape) ? "" : path + " does not fit: " + JsonText(value);
  }
}

void CheckWellFormed(const std::string& action, const ApiResponse& response) {
  INFO(action << " -> " << response.status << " " << response.body.substr(0, 4000));
  rapidjson::Document document;
  document.Parse<rapidjson::kParseValidateEncodingFlag>(response.body.data(), response.body.size());
  REQUIRE(!document.HasParseError());
  REQUIRE(document.IsObject());
  if (response.status == 200) {
    CHECK(response.error_type.empty());
    const schema::Operation* operation = schema::FindOperation(action);
    REQUIRE(operation != nullptr);
    CHECK(FindMisfit(document, schema::OutputOf(*operation)) == "");
    return;
  }
  REQUIRE(document.HasMember("__type"));
  REQUIRE(document.HasMember("message"));
  CHECK(std::string(document["__type"].GetString()) == response.error_type);
  CHECK(document["message"].IsString());
  CHECK(response.status >= 400);
}

std::string JsonText(const rapidjson::Value& value) {
  if (value.IsString()) return value.GetString();
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  value.Accept(writer);
  return buffer.GetString();
}

}  // namespace berth::api
