// Small parts that several answers share.
#pragma once

#include <string>
#include <string_view>

#include "api/json_writer.h"
#include "model/tag.h"

namespace berth::api {

void WriteTags(const model::Tags& tags, JsonWriter& writer);

// An entry of `failures`. `detail` may be empty.
void WriteFailure(std::string_view arn, std::string_view reason, std::string_view detail,
                  JsonWriter& writer);

inline constexpr std::string_view kMissing = "MISSING";

}  // namespace berth::api
