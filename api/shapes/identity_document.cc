// The one JSON text from outside that is no shape of the API model.
#include <rapidjson/document.h>

#include "absl/strings/str_format.h"
#include "api/shapes/registration.h"
#include "model/errors.h"

namespace berth::api {

namespace {

constexpr size_t kIdentityDocumentBytesMax = 16 * 1024;
constexpr size_t kIdentityValueBytesMax = 256;  // as of attributes, which they become

struct Wanted {
  const char* name;
  std::string IdentityDocument::*field;
};
constexpr Wanted kWanted[] = {
    {"instanceId", &IdentityDocument::instance_id},
    {"instanceType", &IdentityDocument::instance_type},
    {"availabilityZone", &IdentityDocument::availability_zone},
    {"imageId", &IdentityDocument::image_id},
    {"architecture", &IdentityDocument::architecture},
};

absl::Status Malformed(std::string_view what) {
  return model::InvalidParameter(absl::StrFormat("instanceIdentityDocument %s", what));
}

}  // namespace

absl::StatusOr<IdentityDocument> ParseIdentityDocument(std::string_view text) {
  IdentityDocument identity;
  if (text.empty()) return identity;
  if (text.size() > kIdentityDocumentBytesMax) {
    return Malformed(absl::StrFormat("is longer than %d bytes", kIdentityDocumentBytesMax));
  }
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(
      text.data(), text.size());
  if (document.HasParseError() || !document.IsObject()) return Malformed("is not a JSON object");
  for (const Wanted& wanted : kWanted) {
    const auto member = document.FindMember(wanted.name);
    if (member == document.MemberEnd() || member->value.IsNull()) continue;
    if (!member->value.IsString()) {
      return Malformed(absl::StrFormat("has a member %s that is not a string", wanted.name));
    }
    std::string& field = identity.*wanted.field;
    field.assign(member->value.GetString(), member->value.GetStringLength());
    if (field.size() > kIdentityValueBytesMax || field.find('\0') != std::string::npos) {
      return Malformed(
          absl::StrFormat("has a member %s that is longer than %d bytes or has a zero "
                          "character",
                          wanted.name, kIdentityValueBytesMax));
    }
  }
  return identity;
}

}  // namespace berth::api
