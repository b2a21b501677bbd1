// The Authorization header of a signed request, taken apart. Its input is hostile.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "auth/canonical_request.h"
#include "auth/verify.h"

namespace berth::auth {

struct Authorization {
  std::string access_key_id = {};
  Scope scope = {};
  std::vector<std::string> signed_headers = {};  // lower case, sorted, each once
  std::string signature = {};                    // 64 hex digits, lower case
};

std::variant<Authorization, Refusal> ParseAuthorization(std::string_view header);

}  // namespace berth::auth
