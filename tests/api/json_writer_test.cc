// Answers as ECS's clients need them.
#include "api/json_writer.h"

#include <catch2/catch.hpp>
#include <rapidjson/document.h>

#include "api/errors.h"
#include "model/errors.h"

namespace berth::api {
namespace {

std::string Written(std::string_view text) {
  JsonWriter writer;
  writer.String(text);
  return writer.Take();
}

TEST_CASE("numbers, times and nesting are written as JSON", "[api][json]") {
  JsonWriter writer;
  writer.BeginObject();
  writer.Int("integer", INT64_MIN);
  writer.Bool("yes", true);
  writer.BeginArray("list");
  writer.Double(0.25);
  writer.Double(3);
  writer.BeginObject();
  writer.EndObject();
  writer.EndArray();
  writer.OptionalTime("at", absl::FromUnixMillis(1556310237664));
  writer.OptionalTime("before", absl::FromUnixMillis(-1500));
  writer.OptionalTime("never", absl::InfinitePast());
  writer.OptionalString("nothing", "");
  writer.OptionalInt("none", std::nullopt);
  writer.RawMembers(R"({"a":1,"b":[]})");
  writer.RawMembers("{}");
  writer.EmptyArray("last");
  writer.EndObject();

  CHECK(writer.Take() ==
        R"({"integer":-9223372036854775808,"yes":true,"list":[0.25,3,{}],"at":1556310237.664,)"
        R"("before":-1.500,"a":1,"b":[],"last":[]})");
}

TEST_CASE("strings are escaped, and are UTF-8 whatever was put in", "[api][json]") {
  struct Case {
    std::string why;
    std::string text;
    std::string written;
  };
  const auto c = GENERATE(values<Case>({
      {"plain", "a b", R"("a b")"},
      {"what JSON escapes", "\"\\\n\r\t\x01", R"("\"\\\n\r\t\u0001")"},
      {"a zero", std::string("a\0b", 3), R"("a\u0000b")"},
      {"two bytes", "\xc3\xa9", "\"\xc3\xa9\""},
      {"four bytes", "\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\""},
      {"cut in the middle", "a\xf0\x9f\x98", R"("a\ufffd\ufffd\ufffd")"},
      {"a stray continuation", "\x80z", R"("\ufffdz")"},
      {"an overlong form", "\xc0\xaf", R"("\ufffd\ufffd")"},
      {"a surrogate", "\xed\xa0\x80", R"("\ufffd\ufffd\ufffd")"},
      {"beyond the last", "\xf4\x90\x80\x80", R"("\ufffd\ufffd\ufffd\ufffd")"},
  }));
  INFO(c.why);

  CHECK(Written(c.text) == c.written);
}

TEST_CASE("any bytes at all give a text that parses", "[api][json]") {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string text = {static_cast<char>(first), static_cast<char>(second), 'x'};
      const std::string written = "[" + Written(text) + "]";
      rapidjson::Document document;
      document.Parse<rapidjson::kParseValidateEncodingFlag>(written.data(), written.size());
      REQUIRE(!document.HasParseError());
    }
  }
}

TEST_CASE("errors have AWS's names, status and form", "[api]") {
  struct Case {
    absl::Status error;
    unsigned status;
    std::string type;
  };
  using model::ErrorKind;
  using model::MakeError;
  const auto c = GENERATE(values<Case>({
      {model::InvalidParameter("m"), 400, "InvalidParameterException"},
      {model::ClientError("m"), 400, "ClientException"},
      {MakeError(ErrorKind::kClusterNotFound, "m"), 400, "ClusterNotFoundException"},
      {MakeError(ErrorKind::kConflict, "m"), 400, "ConflictException"},
      {model::Unsupported("m"), 400, "UnsupportedFeatureException"},
      {MakeError(ErrorKind::kThrottled, "m"), 400, "ThrottlingException"},
      {model::Unavailable("m"), 503, "ServerException"},
      {MakeError(ErrorKind::kInternal, "m"), 500, "ServerException"},
      {absl::UnknownError("m"), 500, "ServerException"},
      {SerializationError("m"), 400, "SerializationException"},
      {MakeApiError(ApiError::kUnknownOperation, "m"), 400, "UnknownOperationException"},
      {MakeApiError(ApiError::kServiceNotFound, "m"), 400, "ServiceNotFoundException"},
  }));

  const ApiResponse response = ErrorResponse(c.error, {});

  CHECK(response.status == c.status);
  CHECK(response.error_type == c.type);
  CHECK(response.body == R"({"__type":")" + c.type + R"(","message":"m"})");
}

TEST_CASE("a conflict names the tasks by their ARNs", "[api]") {
  const absl::Status error =
      InCluster(model::TokenConflict({{"0a"}, {"0b"}}), model::ClusterName{"blue"});

  const ApiResponse response = ErrorResponse(error, {.region = "eu-west-1", .account = "123"});

  CHECK_THAT(response.body,
             Catch::Contains(R"("resourceIds":["arn:aws:ecs:eu-west-1:123:task/blue/0a",)"
                             R"("arn:aws:ecs:eu-west-1:123:task/blue/0b"])"));
}

}  // namespace
}  // namespace berth::api
