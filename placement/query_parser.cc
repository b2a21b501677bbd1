// From text to a tree, by recursive descent: one function for each rule of ecs-api.md 8.4.
#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/errors.h"
#include "model/utf8.h"
#include "placement/query_expression.h"
#include "placement/query_scanner.h"

namespace berth::placement {
namespace {

using Kind = QueryExpression::Kind;
using Op = QueryOperator;
using Subject = QuerySubject;

struct OperatorSpelling {
  std::string_view spelling;
  Op op;
};
// One that begins another comes after it.
constexpr OperatorSpelling kOperators[] = {
    {"==", Op::kEqual},
    {"equals", Op::kEqual},
    {"!=", Op::kNotEqual},
    {"not_equals", Op::kNotEqual},
    {">=", Op::kGreaterEqual},
    {"greater_than_equal", Op::kGreaterEqual},
    {">", Op::kGreater},
    {"greater_than", Op::kGreater},
    {"<=", Op::kLessEqual},
    {"less_than_equal", Op::kLessEqual},
    {"<", Op::kLess},
    {"less_than", Op::kLess},
    {"=~", Op::kMatches},
    {"matches", Op::kMatches},
    {"!~", Op::kNotMatches},
    {"not_matches", Op::kNotMatches},
    {"in", Op::kIn},
    {"!in", Op::kNotIn},
    {"not_in", Op::kNotIn},
    {"exists", Op::kExists},
    {"!exists", Op::kNotExists},
    {"not_exists", Op::kNotExists},
};

constexpr std::string_view kAttributePrefix = "attribute:";

struct SubjectSpelling {
  std::string_view spelling;
  Subject subject;
};
constexpr SubjectSpelling kSubjects[] = {
    {"agentConnected", Subject::kAgentConnected},       {"agentVersion", Subject::kAgentVersion},
    {"ec2InstanceId", Subject::kEc2InstanceId},         {"registeredAt", Subject::kRegisteredAt},
    {"runningTasksCount", Subject::kRunningTasksCount}, {"task:group", Subject::kTaskGroup},
};
constexpr char kSubjectExpected[] =
    "a subject (attribute:<name>, agentConnected, agentVersion, ec2InstanceId, registeredAt, "
    "runningTasksCount or task:group)";

// What may be asked of a subject, and how that is said.
struct Operators {
  std::initializer_list<Op> allowed;
  const char* listed;
};

const Operators& OperatorsOf(Subject subject) {
  static const Operators kAll = {
      {Op::kEqual, Op::kNotEqual, Op::kGreater, Op::kGreaterEqual, Op::kLess, Op::kLessEqual,
       Op::kMatches, Op::kNotMatches, Op::kIn, Op::kNotIn, Op::kExists, Op::kNotExists},
      "==, !=, >, >=, <, <=, =~, !~, in, !in, exists, !exists"};
  static const Operators kOfText = {
      {Op::kEqual, Op::kNotEqual, Op::kMatches, Op::kNotMatches, Op::kIn, Op::kNotIn},
      "==, !=, =~, !~, in, !in"};
  static const Operators kOfOrder = {
      {Op::kEqual, Op::kNotEqual, Op::kGreater, Op::kGreaterEqual, Op::kLess, Op::kLessEqual},
      "==, !=, >, >=, <, <="};
  switch (subject) {
    case Subject::kAttribute:
      return kAll;
    case Subject::kAgentConnected:
    case Subject::kEc2InstanceId:
    case Subject::kTaskGroup:
      return kOfText;
    case Subject::kAgentVersion:
    case Subject::kRegisteredAt:
    case Subject::kRunningTasksCount:
      return kOfOrder;
  }
  return kAll;
}

class QueryParser {
 public:
  explicit QueryParser(std::string_view text) : scanner_(text) {}

  absl::StatusOr<QueryExpression> Parse() {
    absl::StatusOr<QueryExpression> expression = Or();
    if (!expression.ok() || scanner_.AtEnd()) return expression;
    return scanner_.Expected("and, && or, || or the end");
  }

 private:
  absl::StatusOr<QueryExpression> Or() {
    return Joined(Kind::kOr, {"||", "or"}, &QueryParser::And);
  }
  absl::StatusOr<QueryExpression> And() {
    return Joined(Kind::kAnd, {"&&", "and"}, &QueryParser::Unary);
  }

  absl::StatusOr<QueryExpression> Joined(
      Kind kind, std::pair<const char*, const char*> spellings,
      absl::StatusOr<QueryExpression> (QueryParser::*operand)()) {
    QueryExpression joined{.kind = kind};
    do {
      absl::StatusOr<QueryExpression> next = (this->*operand)();
      if (!next.ok()) return next;
      joined.operands.push_back(*std::move(next));
    } while (scanner_.Take(spellings.first) || scanner_.Take(spellings.second));
    if (joined.operands.size() > 1) return joined;
    return QueryExpression(std::move(joined.operands.front()));
  }

  absl::StatusOr<QueryExpression> Unary() {
    const size_t begin = scanner_.NextOffset();
    const bool negates = scanner_.Take("!") || scanner_.Take("not");
    if (!negates && !scanner_.Take("(")) return Test();
    if (depth_ == kQueryDepthMax) {
      return scanner_.WrongAt(
          begin, absl::StrFormat("parentheses and not stand within each other more than %d deep",
                                 kQueryDepthMax));
    }
    ++depth_;
    absl::StatusOr<QueryExpression> inside = negates ? Unary() : Or();
    --depth_;
    if (!inside.ok()) return inside;
    if (negates) {
      QueryExpression negation{.kind = Kind::kNot};
      negation.operands.push_back(*std::move(inside));
      return negation;
    }
    if (!scanner_.Take(")")) return scanner_.Expected("and, && or, || or )");
    return inside;
  }

  absl::StatusOr<QueryExpression> Test() {
    QueryExpression expression{.kind = Kind::kTest};
    QueryTest& test = expression.test;
    absl::Status status = TakeSubject(test);
    if (!status.ok()) return status;
    status = TakeOperator(test);
    if (!status.ok()) return status;
    if (test.op == Op::kExists || test.op == Op::kNotExists) return expression;
    status = test.op == Op::kIn || test.op == Op::kNotIn ? TakeList(test) : TakeOneValue(test);
    if (!status.ok()) return status;
    return expression;
  }

  absl::Status TakeSubject(QueryTest& test) {
    // The name follows the colon at once, so that the colon may end no word.
    if (scanner_.Take(kAttributePrefix)) {
      test.subject = Subject::kAttribute;
      test.attribute = scanner_.TakeAttributeName();
      if (!test.attribute.empty()) return absl::OkStatus();
      return scanner_.Expected("the name of an attribute");
    }
    for (const SubjectSpelling& known : kSubjects) {
      if (!scanner_.Take(known.spelling)) continue;
      test.subject = known.subject;
      return absl::OkStatus();
    }
    return scanner_.Expected(kSubjectExpected);
  }

  absl::Status TakeOperator(QueryTest& test) {
    const Operators& operators = OperatorsOf(test.subject);
    const size_t begin = scanner_.NextOffset();
    for (const OperatorSpelling& known : kOperators) {
      if (!scanner_.Take(known.spelling)) continue;
      test.op = known.op;
      if (std::find(operators.allowed.begin(), operators.allowed.end(), known.op) !=
          operators.allowed.end()) {
        return absl::OkStatus();
      }
      return scanner_.WrongAt(begin, absl::StrFormat("%s cannot be asked of this subject, only %s",
                                                     known.spelling, operators.listed));
    }
    return scanner_.Expected(absl::StrFormat("an operator (%s)", operators.listed));
  }

  absl::Status TakeList(QueryTest& test) {
    if (!scanner_.Take("[")) return scanner_.Expected("a list in [ and ]");
    do {
      std::optional<QueryScanner::Value> value = scanner_.TakeValue();
      if (!value) return scanner_.ExpectedValue();
      test.values.push_back(std::move(value->text));
    } while (scanner_.Take(","));
    if (!scanner_.Take("]")) return scanner_.Expected(", or ]");
    return absl::OkStatus();
  }

  absl::Status TakeOneValue(QueryTest& test) {
    std::optional<QueryScanner::Value> value = scanner_.TakeValue();
    if (!value) return scanner_.ExpectedValue();
    const absl::Status status = Understand(*value, test);
    test.values.push_back(std::move(value->text));
    return status;
  }

  // What the value says where it is more than text.
  absl::Status Understand(const QueryScanner::Value& value, QueryTest& test) {
    if (test.op == Op::kMatches || test.op == Op::kNotMatches) return CompilePattern(value, test);
    if (test.subject == Subject::kRegisteredAt) {
      const std::optional<int64_t> seconds = ParseMoment(value.text);
      if (!seconds) {
        return scanner_.WrongAt(value.offset,
                                "a date is expected, such as 2018-06-18 or "
                                "2018-06-18T22:28:28+00:00");
      }
      test.number = *seconds;
    }
    if (test.subject == Subject::kRunningTasksCount) {
      const std::optional<int64_t> count = ParseWholeNumber(value.text);
      if (!count) return scanner_.WrongAt(value.offset, "a whole number is expected");
      test.number = *count;
    }
    if (test.subject == Subject::kAgentVersion) {
      std::optional<Version> version = ParseVersion(value.text);
      if (!version) {
        return scanner_.WrongAt(value.offset, "a version is expected, such as 1.75.0");
      }
      test.version = *std::move(version);
    }
    return absl::OkStatus();
  }

  absl::Status CompilePattern(const QueryScanner::Value& value, QueryTest& test) {
    std::variant<Pattern, PatternError> compiled = Pattern::Compile(value.text, states_left_);
    if (const auto* error = std::get_if<PatternError>(&compiled)) {
      const size_t bytes = model::FirstCharacters(value.text, error->character).size();
      return scanner_.WrongAt(value.offset + bytes,
                              absl::StrFormat("in the regular expression %s", error->why));
    }
    test.pattern = std::get<Pattern>(std::move(compiled));
    states_left_ -= test.pattern->states();
    return absl::OkStatus();
  }

  QueryScanner scanner_;
  int depth_ = 0;
  int64_t states_left_ = kQueryPatternStatesMax;
};

}  // namespace

absl::StatusOr<QueryExpression> ParseQuery(std::string_view text) {
  const size_t length = model::CountCharacters(text);
  if (length > kQueryLengthMax) {
    return model::InvalidParameter(absl::StrFormat(
        "the expression has %d characters; at most %d are allowed", length, kQueryLengthMax));
  }
  return QueryParser(text).Parse();
}

}  // namespace berth::placement
