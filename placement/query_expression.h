// A compiled query as a tree. Inside placement/ only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "placement/pattern.h"
#include "placement/query.h"
#include "placement/query_values.h"

namespace berth::placement {

enum class QueryOperator {
  kEqual,
  kNotEqual,
  kGreater,
  kGreaterEqual,
  kLess,
  kLessEqual,
  kMatches,
  kNotMatches,
  kIn,
  kNotIn,
  kExists,
  kNotExists,
};

enum class QuerySubject {
  kAttribute,
  kAgentConnected,
  kAgentVersion,
  kEc2InstanceId,
  kRegisteredAt,
  kRunningTasksCount,
  kTaskGroup,
};

// subject operator values, as in `attribute:color in [green, blue]`.
struct QueryTest {
  QuerySubject subject = QuerySubject::kAttribute;
  std::string attribute = {};  // kAttribute: its name
  QueryOperator op = QueryOperator::kEqual;
  std::vector<std::string> values = {};  // none for kExists; several only for kIn, kNotIn
  std::optional<Pattern> pattern = {};   // kMatches, kNotMatches
  int64_t number = 0;                    // kRegisteredAt: seconds since 1970; kRunningTasksCount
  Version version = {};                  // kAgentVersion
};

struct QueryExpression {
  enum class Kind { kOr, kAnd, kNot, kTest };
  Kind kind = Kind::kTest;
  std::vector<QueryExpression> operands = {};  // one for kNot
  QueryTest test = {};                         // kTest
};

// Whether a test of a subject that is text holds for this one: an attribute's value, an id, a
// group.
bool HoldsForText(const QueryTest& test, std::string_view value);
// kAgentVersion: for a version as the agent reports it.
bool HoldsForVersion(const QueryTest& test, std::string_view reported);
// kRegisteredAt, kRunningTasksCount.
bool HoldsForNumber(const QueryTest& test, int64_t number);

// InvalidParameter, as Query::Compile describes it.
absl::StatusOr<QueryExpression> ParseQuery(std::string_view text);

}  // namespace berth::placement
