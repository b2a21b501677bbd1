// The cluster query language: what memberOf constraints and ListContainerInstances' filter are
// written in. Grammar, subjects and operators: ecs-api.md 8.4.
//
// Compiled once, immutable, used on any thread. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace berth::placement {

inline constexpr size_t kQueryLengthMax = 2000;  // characters
inline constexpr int kQueryDepthMax = 50;        // parentheses and nots within each other
// Of all regular expressions of a query together (pattern.h). Without counts in {m,n} a query of
// full length does not reach it.
inline constexpr int64_t kQueryPatternStatesMax = 8000;

struct QueryExpression;  // query_expression.h

// One container instance as a query sees it.
class QueryFacts {
 public:
  virtual ~QueryFacts() = default;

  // Nothing: the instance lacks it. A name without a value has the empty one.
  virtual std::optional<std::string_view> Attribute(std::string_view name) const = 0;
  virtual bool AgentConnected() const = 0;
  // As its agent reports it. Compared are the numbers that it begins with, after a `v` or not;
  // where there are none, no comparison holds.
  virtual std::string_view AgentVersion() const = 0;
  virtual std::string_view Ec2InstanceId() const = 0;
  virtual absl::Time RegisteredAt() const = 0;  // compared by the second
  virtual int64_t RunningTasksCount() const = 0;
  // Whether some task on the instance, not yet STOPPED, is of a group that `matches`.
  virtual bool AnyTaskGroup(absl::FunctionRef<bool(std::string_view)> matches) const = 0;
};

class Query {
 public:
  // The error is InvalidParameter: it quotes the expression, says the position (a 1-based count of
  // characters) and what was expected there.
  static absl::StatusOr<std::shared_ptr<const Query>> Compile(std::string_view text);

  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query();

  bool Matches(const QueryFacts& instance) const;
  const std::string& text() const { return text_; }
  const QueryExpression& expression() const { return *expression_; }  // for placement/ only

 private:
  Query(std::string text, std::unique_ptr<const QueryExpression> expression);

  std::string text_;
  std::unique_ptr<const QueryExpression> expression_;
};

}  // namespace berth::placement
