#include "placement/query_values.h"

#include <algorithm>
#include <limits>

#include "absl/time/civil_time.h"
#include "absl/time/time.h"

namespace berth::placement {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Reads text from its beginning; what has been read is gone.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool AtEnd() const { return rest_.empty(); }
  bool Take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // Exactly so many digits.
  std::optional<int> TakeNumber(size_t digits) {
    const std::string_view number = rest_.substr(0, digits);
    if (number.size() < digits || !std::all_of(number.begin(), number.end(), IsDigit)) {
      return std::nullopt;
    }
    int value = 0;
    for (const char c : number) value = value * 10 + (c - '0');
    rest_.remove_prefix(digits);
    return value;
  }
  // As many as there are.
  std::string_view TakeDigits() {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), IsDigit);
    const std::string_view digits = rest_.substr(0, end - rest_.begin());
    rest_.remove_prefix(digits.size());
    return digits;
  }

 private:
  std::string_view rest_;
};

std::optional<absl::CivilDay> TakeDay(Reader& reader) {
  const auto year = reader.TakeNumber(4);
  if (!year || !reader.Take('-')) return std::nullopt;
  const auto month = reader.TakeNumber(2);
  if (!month || !reader.Take('-')) return std::nullopt;
  const auto day = reader.TakeNumber(2);
  if (!day) return std::nullopt;
  const absl::CivilDay civil(*year, *month, *day);
  // A day that is not in the calendar comes out as another.
  if (civil.month() != *month || civil.day() != *day) return std::nullopt;
  return civil;
}

// Seconds since midnight.
std::optional<int64_t> TakeTimeOfDay(Reader& reader) {
  const auto hour = reader.TakeNumber(2);
  if (!hour || !reader.Take(':')) return std::nullopt;
  const auto minute = reader.TakeNumber(2);
  if (!minute || !reader.Take(':')) return std::nullopt;
  const auto second = reader.TakeNumber(2);
  if (!second || *hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
  if (reader.Take('.') && reader.TakeDigits().empty()) return std::nullopt;
  return *hour * 3600 + *minute * 60 + *second;
}

// How far the zone's clocks are ahead of UTC, in seconds.
std::optional<int64_t> TakeZone(Reader& reader) {
  if (reader.AtEnd() || reader.Take('Z')) return 0;
  const bool ahead = reader.Take('+');
  if (!ahead && !reader.Take('-')) return std::nullopt;
  const auto hours = reader.TakeNumber(2);
  if (!hours || !reader.Take(':')) return std::nullopt;
  const auto minutes = reader.TakeNumber(2);
  if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  const int64_t seconds = *hours * 3600 + *minutes * 60;
  return ahead ? seconds : -seconds;
}

std::string WithoutLeadingZeros(std::string_view digits) {
  const size_t first = digits.find_first_not_of('0');
  return first == std::string_view::npos ? "0" : std::string(digits.substr(first));
}

// Numbers with a dot between each two.
Version TakeVersion(Reader& reader) {
  Version version;
  for (std::string_view digits = reader.TakeDigits(); !digits.empty();
       digits = reader.TakeDigits()) {
    version.push_back(WithoutLeadingZeros(digits));
    if (!reader.Take('.')) break;
  }
  return version;
}

}  // namespace

std::optional<int64_t> ParseMoment(std::string_view text) {
  Reader reader(text);
  const auto day = TakeDay(reader);
  if (!day) return std::nullopt;
  const int64_t midnight = absl::ToUnixSeconds(absl::FromCivil(*day, absl::UTCTimeZone()));
  if (reader.AtEnd()) return midnight;
  if (!reader.Take('T')) return std::nullopt;
  const auto since_midnight = TakeTimeOfDay(reader);
  if (!since_midnight) return std::nullopt;
  const auto ahead = TakeZone(reader);
  if (!ahead || !reader.AtEnd()) return std::nullopt;
  return midnight + *since_midnight - *ahead;
}

std::optional<int64_t> ParseWholeNumber(std::string_view text) {
  Reader reader(text);
  const bool negative = reader.Take('-');
  const std::string_view digits = reader.TakeDigits();
  if (digits.empty() || !reader.AtEnd()) return std::nullopt;
  int64_t value = 0;
  for (const char c : digits) {
    const int64_t digit = c - '0';
    if (value > (std::numeric_limits<int64_t>::max() - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  return negative ? -value : value;
}

std::optional<Version> ParseVersion(std::string_view text) {
  if (text.empty() || !IsDigit(text.back())) return std::nullopt;
  Reader reader(text);
  Version version = TakeVersion(reader);
  if (version.empty() || !reader.AtEnd()) return std::nullopt;
  return version;
}

std::optional<Version> LeadingVersion(std::string_view text) {
  Reader reader(text);
  reader.Take('v');
  Version version = TakeVersion(reader);
  if (version.empty()) return std::nullopt;
  return version;
}

std::strong_ordering CompareVersions(const Version& a, const Version& b) {
  const std::string kZero = "0";
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const std::string& mine = i < a.size() ? a[i] : kZero;
    const std::string& other = i < b.size() ? b[i] : kZero;
    if (mine.size() != other.size()) return mine.size() <=> other.size();
    if (mine != other) return mine <=> other;
  }
  return std::strong_ordering::equal;
}

}  // namespace berth::placement
