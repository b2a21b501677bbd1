#include "api/shapes/placement_rules.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "api/decode.h"
#include "model/errors.h"
#include "placement/query.h"

namespace berth::api {

struct ConstraintArgument {
  std::string type = {};
  std::string expression = {};
};
template <>
inline constexpr auto kFields<ConstraintArgument> = std::array{
    Field<&ConstraintArgument::type>("type"),
    Field<&ConstraintArgument::expression>("expression"),
};

struct StrategyArgument {
  std::string type = {};
  std::string field = {};
};
template <>
inline constexpr auto kFields<StrategyArgument> = std::array{
    Field<&StrategyArgument::type>("type"),
    Field<&StrategyArgument::field>("field"),
};

namespace {

using model::InvalidParameter;
using placement::Rules;
using placement::Strategy;

constexpr std::string_view kAttributePrefix = "attribute:";
constexpr size_t kAttributeNameMax = 128;

absl::Status AddConstraint(const ConstraintArgument& constraint, const std::string& path,
                           Rules& rules) {
  if (constraint.type == "distinctInstance") {
    if (!constraint.expression.empty()) {
      return InvalidParameter(absl::StrFormat(
          "%s.expression is given; a distinctInstance constraint has none: leave it out", path));
    }
    rules.distinct_instance = true;
    return absl::OkStatus();
  }
  if (constraint.type != "memberOf") {
    return InvalidParameter(absl::StrFormat(
        "%s.type is '%s'; it must be distinctInstance or memberOf", path, constraint.type));
  }
  if (constraint.expression.empty()) {
    return InvalidParameter(
        absl::StrFormat("%s.expression is missing; a memberOf constraint needs one", path));
  }
  auto query = placement::Query::Compile(constraint.expression);
  if (!query.ok()) {
    return InvalidParameter(
        absl::StrFormat("%s.expression: %s", path, std::string(query.status().message())));
  }
  rules.member_of.push_back(*std::move(query));
  return absl::OkStatus();
}

bool IsAttributeName(std::string_view name) {
  return !name.empty() && name.size() <= kAttributeNameMax &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                  std::string_view("-_./\\").find(c) != std::string_view::npos;
         });
}

// In any case of letters, as ECS takes them; attributes' names alone differ by it.
absl::Status SetSpreadField(const std::string& field, const std::string& path, Strategy& strategy) {
  const std::string lower = absl::AsciiStrToLower(field);
  if (lower == "instanceid" || lower == "host") {
    strategy.field = Strategy::Field::kInstanceId;
    return absl::OkStatus();
  }
  if (absl::StartsWith(lower,
                       absl::string_view(kAttributePrefix.data(), kAttributePrefix.size())) &&
      IsAttributeName(std::string_view(field).substr(kAttributePrefix.size()))) {
    strategy.field = Strategy::Field::kAttribute;
    strategy.attribute = field.substr(kAttributePrefix.size());
    return absl::OkStatus();
  }
  return InvalidParameter(absl::StrFormat(
      "%s.field is '%s'; for spread it must be instanceId, host or attribute:<name>", path, field));
}

absl::Status SetBinpackField(const std::string& field, const std::string& path,
                             Strategy& strategy) {
  const std::string lower = absl::AsciiStrToLower(field);
  if (lower == "cpu") strategy.field = Strategy::Field::kCpu;
  if (lower == "memory") strategy.field = Strategy::Field::kMemory;
  if (lower == "gpumemory") strategy.field = Strategy::Field::kGpuMemory;
  if (strategy.field != Strategy::Field::kNone) return absl::OkStatus();
  return InvalidParameter(absl::StrFormat(
      "%s.field is '%s'; for binpack it must be cpu, memory or gpuMemory", path, field));
}

absl::Status AddStrategy(const StrategyArgument& argument, const std::string& path, Rules& rules) {
  Strategy& strategy = rules.strategies.emplace_back();
  if (argument.type == "random") return absl::OkStatus();
  if (argument.type != "spread" && argument.type != "binpack") {
    return InvalidParameter(absl::StrFormat("%s.type is '%s'; it must be random, spread or binpack",
                                            path, argument.type));
  }
  if (argument.field.empty()) {
    return InvalidParameter(
        absl::StrFormat("%s.field is missing; %s needs one", path, argument.type));
  }
  if (argument.type == "spread") {
    strategy.kind = Strategy::Kind::kSpread;
    return SetSpreadField(argument.field, path, strategy);
  }
  strategy.kind = Strategy::Kind::kBinpack;
  return SetBinpackField(argument.field, path, strategy);
}

// Adds each entry of the list, of which there may be so many.
template <class Argument, class Add>
absl::Status AddEach(JsonView body, const char* member, size_t max, Rules& rules, Add add) {
  const JsonView list = body.Find(member);
  if (!list) return absl::OkStatus();
  if (static_cast<size_t>(list.size()) > max) {
    return InvalidParameter(
        absl::StrFormat("%s has %d entries; at most %d are allowed", member, list.size(), max));
  }
  for (int i = 0; i < list.size(); ++i) {
    const absl::Status status =
        add(Decode<Argument>(list.At(i)), absl::StrFormat("%s[%d]", member, i), rules);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Rules> DecodePlacementRules(JsonView body) {
  Rules rules;
  absl::Status status = AddEach<ConstraintArgument>(
      body, "placementConstraints", placement::kConstraintsMax, rules, AddConstraint);
  if (!status.ok()) return status;
  status = AddEach<StrategyArgument>(body, "placementStrategy", placement::kStrategiesMax, rules,
                                     AddStrategy);
  if (!status.ok()) return status;
  return rules;
}

}  // namespace berth::api
