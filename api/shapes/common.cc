#include "api/shapes/common.h"

namespace berth::api {

void WriteTags(const model::Tags& tags, JsonWriter& writer) {
  writer.BeginArray("tags");
  for (const model::Tag& tag : tags) {
    writer.BeginObject();
    writer.String("key", tag.key);
    writer.String("value", tag.value);
    writer.EndObject();
  }
  writer.EndArray();
}

void WriteFailure(std::string_view arn, std::string_view reason, std::string_view detail,
                  JsonWriter& writer) {
  writer.BeginObject();
  writer.String("arn", arn);
  writer.String("reason", reason);
  writer.OptionalString("detail", detail);
  writer.EndObject();
}

}  // namespace berth::api
