#include "placement/query.h"

#include <algorithm>
#include <utility>

#include "placement/query_expression.h"

namespace berth::placement {
namespace {

using Kind = QueryExpression::Kind;
using Op = QueryOperator;
using Subject = QuerySubject;

bool IsAmong(const std::vector<std::string>& values, std::string_view value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool HoldsInOrder(Op op, std::strong_ordering order) {
  switch (op) {
    case Op::kEqual:
      return order == 0;
    case Op::kNotEqual:
      return order != 0;
    case Op::kGreater:
      return order > 0;
    case Op::kGreaterEqual:
      return order >= 0;
    case Op::kLess:
      return order < 0;
    case Op::kLessEqual:
      return order <= 0;
    default:
      return false;  // the parser lets no other through
  }
}

// What an instance lacks is nothing that could be compared: every operator is false but the one
// that asks for just that.
bool HoldsForAttribute(const QueryTest& test, const QueryFacts& instance) {
  const std::optional<std::string_view> value = instance.Attribute(test.attribute);
  return value ? HoldsForText(test, *value) : test.op == Op::kNotExists;
}

bool Holds(const QueryTest& test, const QueryFacts& instance) {
  switch (test.subject) {
    case Subject::kAttribute:
      return HoldsForAttribute(test, instance);
    case Subject::kAgentConnected:
      return HoldsForText(test, instance.AgentConnected() ? "true" : "false");
    case Subject::kAgentVersion:
      return HoldsForVersion(test, instance.AgentVersion());
    case Subject::kEc2InstanceId:
      return HoldsForText(test, instance.Ec2InstanceId());
    case Subject::kRegisteredAt:
      return HoldsForNumber(test, absl::ToUnixSeconds(instance.RegisteredAt()));
    case Subject::kRunningTasksCount:
      return HoldsForNumber(test, instance.RunningTasksCount());
    case Subject::kTaskGroup:
      return instance.AnyTaskGroup(
          [&test](std::string_view group) { return HoldsForText(test, group); });
  }
  return false;
}

bool Holds(const QueryExpression& expression, const QueryFacts& instance) {
  const auto holds = [&instance](const QueryExpression& operand) {
    return Holds(operand, instance);
  };
  const std::vector<QueryExpression>& operands = expression.operands;
  switch (expression.kind) {
    case Kind::kOr:
      return std::any_of(operands.begin(), operands.end(), holds);
    case Kind::kAnd:
      return std::all_of(operands.begin(), operands.end(), holds);
    case Kind::kNot:
      return !holds(operands.front());
    case Kind::kTest:
      return Holds(expression.test, instance);
  }
  return false;
}

}  // namespace

bool HoldsForText(const QueryTest& test, std::string_view value) {
  switch (test.op) {
    case Op::kMatches:
      return test.pattern->Matches(value);
    case Op::kNotMatches:
      return !test.pattern->Matches(value);
    case Op::kIn:
      return IsAmong(test.values, value);
    case Op::kNotIn:
      return !IsAmong(test.values, value);
    case Op::kExists:
      return true;
    case Op::kNotExists:
      return false;
    default:
      return HoldsInOrder(test.op, value.compare(test.values.front()) <=> 0);
  }
}

// What cannot be read is nothing that could be compared either.
bool HoldsForVersion(const QueryTest& test, std::string_view reported) {
  const std::optional<Version> version = LeadingVersion(reported);
  return version && HoldsInOrder(test.op, CompareVersions(*version, test.version));
}

bool HoldsForNumber(const QueryTest& test, int64_t number) {
  return HoldsInOrder(test.op, number <=> test.number);
}

Query::Query(std::string text, std::unique_ptr<const QueryExpression> expression)
    : text_(std::move(text)), expression_(std::move(expression)) {}
Query::~Query() = default;

absl::StatusOr<std::shared_ptr<const Query>> Query::Compile(std::string_view text) {
  absl::StatusOr<QueryExpression> expression = ParseQuery(text);
  if (!expression.ok()) return expression.status();
  return std::shared_ptr<const Query>(new Query(
      std::string(text), std::make_unique<const QueryExpression>(*std::move(expression))));
}

bool Query::Matches(const QueryFacts& instance) const { return Holds(*expression_, instance); }

}  // namespace berth::placement
