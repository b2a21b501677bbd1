// Cluster queries as callers write them: the text up to the first line break is the query, the rest
// are values of an instance. What compiles has to compile again to the same, and can be asked.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "placement/query.h"

namespace {

class Instance : public berth::placement::QueryFacts {
 public:
  explicit Instance(std::string_view value) : value_(value) {}

  std::optional<std::string_view> Attribute(std::string_view name) const override {
    if (name.size() % 3 == 0) return std::nullopt;
    return value_;
  }
  bool AgentConnected() const override { return value_.size() % 2 == 0; }
  std::string_view AgentVersion() const override { return value_; }
  std::string_view Ec2InstanceId() const override { return value_; }
  absl::Time RegisteredAt() const override { return absl::FromUnixSeconds(1529360908); }
  int64_t RunningTasksCount() const override { return static_cast<int64_t>(value_.size()); }
  bool AnyTaskGroup(absl::FunctionRef<bool(std::string_view)> matches) const override {
    return matches(value_) || matches("");
  }

 private:
  std::string_view value_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t end = input.find('\n');
  const std::string_view text = input.substr(0, end);
  const std::string_view value = end == std::string_view::npos ? "" : input.substr(end + 1);
  const auto query = berth::placement::Query::Compile(text);
  if (!query.ok()) {
    if (query.status().message().empty()) std::abort();
    return 0;
  }
  const auto again = berth::placement::Query::Compile((*query)->text());
  if (!again.ok()) std::abort();
  const Instance instance(value);
  const bool matches = (*query)->Matches(instance);
  if ((*again)->Matches(instance) != matches) std::abort();
  // Its negation is a query too, unless it is as long or as deep as they come.
  const auto negation = berth::placement::Query::Compile("not(" + std::string(text) + ")");
  if (negation.ok() && (*negation)->Matches(instance) == matches) std::abort();
  return 0;
}
