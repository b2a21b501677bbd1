// Patterns in which '*' stands for any text and '?' for any one character, as in IAM's policies.
#pragma once

#include <string_view>

namespace berth::api {

// Whether the pattern stands for the text. What looks like a wildcard in the text is none.
bool WildcardMatches(std::string_view pattern, std::string_view text);

// Whether it stands for the text with some number after it.
bool WildcardMatchesNumbered(std::string_view pattern, std::string_view text);

}  // namespace berth::api
