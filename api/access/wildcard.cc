#include "api/access/wildcard.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace berth::api {

// Goes back to the latest star only, which is enough: O(pattern * text), whatever their form.
bool WildcardMatches(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0;
  size_t star = std::string_view::npos, star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

// All places in the pattern that the text can have led to, then whether what follows one of them
// can be a number.
bool WildcardMatchesNumbered(std::string_view pattern, std::string_view text) {
  std::vector<bool> places(pattern.size() + 1), next(pattern.size() + 1);
  const auto pass_stars = [&](std::vector<bool>& set) {
    for (size_t p = 0; p < pattern.size(); ++p) {
      if (set[p] && pattern[p] == '*') set[p + 1] = true;
    }
  };
  places[0] = true;
  pass_stars(places);
  for (const char c : text) {
    next.assign(next.size(), false);
    for (size_t p = 0; p < pattern.size(); ++p) {
      if (!places[p]) continue;
      if (pattern[p] == '*') next[p] = true;
      if (pattern[p] == '?' || pattern[p] == c) next[p + 1] = true;
    }
    pass_stars(next);
    places.swap(next);
  }
  const size_t last = pattern.find_last_not_of("0123456789?*");
  const size_t from = last == std::string_view::npos ? 0 : last + 1;
  return std::find(places.begin() + static_cast<std::ptrdiff_t>(from), places.end(), true) !=
         places.end();
}

}  // namespace berth::api
