// Which subnet a task's network gets. Docker's own pool holds about thirty networks; small subnets
// of a range of ours let hundreds of tasks have one each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace berth::agent {

struct Subnet {
  uint32_t address = 0;  // its first one, in host order
  int prefix = 32;

  bool operator==(const Subnet&) const = default;
};

// "10.213.0.0/16". Errors name what is wrong, such as bits beyond the prefix.
absl::StatusOr<Subnet> ParseSubnet(std::string_view text);
std::string ToString(const Subnet& subnet);
bool Overlap(const Subnet& a, const Subnet& b);

// The first subnet of that prefix in `range`, in order of address, that overlaps none of `taken`.
std::optional<Subnet> ChooseSubnet(const Subnet& range, int prefix,
                                   const std::vector<Subnet>& taken);
// How many there are in all.
int64_t SubnetCount(const Subnet& range, int prefix);

}  // namespace berth::agent
