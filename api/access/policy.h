// A policy document of IAM's shape, compiled: what a key may do within its role.
//
//   {"Version": "2012-10-17",
//    "Statement": [{"Effect": "Allow", "Action": "ecs:Describe*", "Resource": "*"}]}
//
// Action or NotAction, Resource or NotResource, each a text or a list of texts with * and ?.
// Whatever would narrow a statement and is not understood (Condition, variables) is refused, so
// that no key can do more than its policy says. Immutable; used on any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "api/access/call_resources.h"

namespace berth::api {

inline constexpr size_t kPolicyBytesMax = 10 * 1024;
inline constexpr size_t kPolicyStatementsMax = 100;

class Policy {
 public:
  // InvalidParameter, naming the statement and its element.
  static absl::StatusOr<std::shared_ptr<const Policy>> Compile(std::string_view json);

  enum class Verdict {
    kAllowed,
    kNotAllowed,  // no statement allows it
    kDenied,      // one denies it, which counts more than any that allow it
  };
  // `action` with its service: "ecs:RunTask".
  Verdict Evaluate(std::string_view action, const CallResource& resource) const;

 private:
  struct Statement {
    bool deny = false;
    bool not_action = false;
    bool not_resource = false;
    std::vector<std::string> actions = {};  // lower case
    std::vector<std::string> resources = {};

    bool IsAbout(std::string_view lower_action, const CallResource& resource) const;
  };

  friend class PolicyReader;
  std::vector<Statement> statements_;
};

}  // namespace berth::api
