// Values of the cluster query language that are more than text: moments, versions, counts. Inside
// placement/ only.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace berth::placement {

// Seconds since 1970 of `2018-06-18T22:28:28+00:00`, `...Z`, without a zone (UTC), or of a date
// alone (its midnight, UTC). A fraction of a second may be there and does not count.
std::optional<int64_t> ParseMoment(std::string_view text);

// A whole number, with a sign or without.
std::optional<int64_t> ParseWholeNumber(std::string_view text);

// A version's numbers, each without leading zeros: of any length, so never too large.
using Version = std::vector<std::string>;
// "1.75.0"; nothing else.
std::optional<Version> ParseVersion(std::string_view text);
// As an agent reports it: "v1.75.0-dev (*abc)" is 1.75.0. Nothing when it begins with no number.
std::optional<Version> LeadingVersion(std::string_view text);
// 1.2 and 1.2.0 are equal.
std::strong_ordering CompareVersions(const Version& a, const Version& b);

}  // namespace berth::placement
