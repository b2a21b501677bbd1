#include "agent/docker/subnets.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace berth::agent {

namespace {

uint32_t SizeOf(int prefix) { return prefix == 0 ? UINT32_MAX : (uint32_t{1} << (32 - prefix)); }

uint32_t LastOf(const Subnet& subnet) { return subnet.address + (SizeOf(subnet.prefix) - 1); }

absl::Status Malformed(std::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrFormat("\"%s\" is not an IPv4 range; it should look like 10.213.0.0/16", text));
}

}  // namespace

absl::StatusOr<Subnet> ParseSubnet(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return Malformed(text);
  Subnet subnet;
  const std::string address(text.substr(0, slash));
  const std::vector<std::string> parts = absl::StrSplit(address, '.');
  if (parts.size() != 4 || !absl::SimpleAtoi(std::string(text.substr(slash + 1)), &subnet.prefix) ||
      subnet.prefix < 0 || subnet.prefix > 32) {
    return Malformed(text);
  }
  for (const std::string& part : parts) {
    uint32_t number = 0;
    if (!absl::SimpleAtoi(part, &number) || number > 255) return Malformed(text);
    subnet.address = (subnet.address << 8) | number;
  }
  if (subnet.prefix < 32 && (subnet.address & (SizeOf(subnet.prefix) - 1)) != 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s has address bits beyond its prefix of %d", text, subnet.prefix));
  }
  return subnet;
}

std::string ToString(const Subnet& subnet) {
  const uint32_t a = subnet.address;
  return absl::StrFormat("%d.%d.%d.%d/%d", a >> 24, (a >> 16) & 255, (a >> 8) & 255, a & 255,
                         subnet.prefix);
}

bool Overlap(const Subnet& a, const Subnet& b) {
  return a.address <= LastOf(b) && b.address <= LastOf(a);
}

std::optional<Subnet> ChooseSubnet(const Subnet& range, int prefix,
                                   const std::vector<Subnet>& taken) {
  // Only those within the range matter, and in order one pass finds the first gap.
  std::vector<Subnet> inside;
  for (const Subnet& subnet : taken) {
    if (Overlap(range, subnet)) inside.push_back(subnet);
  }
  std::sort(inside.begin(), inside.end(),
            [](const Subnet& a, const Subnet& b) { return a.address < b.address; });
  const uint64_t size = SizeOf(prefix);
  const uint64_t end = uint64_t{range.address} + SizeOf(range.prefix);
  uint64_t next = range.address;
  for (const Subnet& subnet : inside) {
    if (next + size <= subnet.address) break;
    const uint64_t after = uint64_t{LastOf(subnet)} + 1;
    if (after > next) next = (after + size - 1) / size * size;
  }
  if (next + size > end) return std::nullopt;
  return Subnet{.address = static_cast<uint32_t>(next), .prefix = prefix};
}

int64_t SubnetCount(const Subnet& range, int prefix) {
  return prefix < range.prefix ? 0 : int64_t{1} << (prefix - range.prefix);
}

}  // namespace berth::agent
