// The one JSON text from outside that is no shape of the API model.
#include <rapidjson/document.h>

#include "absl/strings/str_format.h"
#include "api/shapes/registration.h"
#include "model/errors.h"

namespace berth::api {

namespace {

constexpr size_t kIdentityDocumentBytesMax = 16 * 1024;

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
    identity.*wanted.field =
        std::string(member->value.GetString(), member->value.GetStringLength());
  }
  return identity;
}

}  // namespace berth::api
