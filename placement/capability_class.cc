#include "placement/capability_class.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "model/check.h"

namespace berth::placement {
namespace {

constexpr std::string_view kCapabilityPrefixes[] = {"ecs.capability.",
                                                    "com.amazonaws.ecs.capability."};
constexpr int kBitsPerWord = 64;

void SetBit(std::vector<uint64_t>& bits, int32_t number) {
  const size_t word = number / kBitsPerWord;
  if (bits.size() <= word) bits.resize(word + 1);
  bits[word] |= uint64_t{1} << number % kBitsPerWord;
}

}  // namespace

bool IsCapability(std::string_view attribute) {
  return std::any_of(
      std::begin(kCapabilityPrefixes), std::end(kCapabilityPrefixes),
      [attribute](std::string_view prefix) { return attribute.starts_with(prefix); });
}

const std::string& GpuSharingCapability() {
  static const std::string capability = model::kGpuSharingCapability;
  return capability;
}

bool ServesLaunchType(bool is_external, model::LaunchType launch_type) {
  switch (launch_type) {
    case model::LaunchType::kExternal:
      return is_external;
    case model::LaunchType::kEc2:
    case model::LaunchType::kManagedInstances:
      return !is_external;
    case model::LaunchType::kFargate:
      return false;
  }
  return false;
}

bool CapabilityClass::Covers(const CapabilityNumbers& required) const {
  return std::all_of(required.begin(), required.end(), [this](int32_t number) {
    const size_t word = number / kBitsPerWord;
    return word < bits.size() && (bits[word] >> number % kBitsPerWord & 1) != 0;
  });
}

bool CapabilityClass::Serves(model::LaunchType launch_type) const {
  return ServesLaunchType(is_external, launch_type);
}

CapabilityClass* CapabilityClasses::Join(const std::vector<std::string>& attributes) {
  std::vector<std::string> key;
  std::copy_if(attributes.begin(), attributes.end(), std::back_inserter(key), IsCapability);
  std::unique_ptr<CapabilityClass>& found = classes_[key];
  if (found == nullptr) {
    found = std::make_unique<CapabilityClass>();
    for (const std::string& capability : key) SetBit(found->bits, NameFor(capability));
    found->is_external = std::binary_search(key.begin(), key.end(), model::kExternalCapability);
    found->capabilities = std::move(key);
  }
  ++found->instances;
  return found.get();
}

void CapabilityClasses::Leave(CapabilityClass* capability_class) {
  if (--capability_class->instances > 0) return;

  for (const FitIndex& index : capability_class->indexes) BERTH_CHECK(index.size() == 0);
  for (const std::string& capability : capability_class->capabilities) {
    const auto name = names_.find(capability);
    if (--name->second.classes > 0) continue;
    free_numbers_.push_back(name->second.number);
    names_.erase(name);
  }
  // A copy: erasing by a reference into what is erased would read it too late.
  const std::vector<std::string> key = capability_class->capabilities;
  classes_.erase(key);
}

int32_t CapabilityClasses::NumberOf(const std::string& capability) const {
  const auto found = names_.find(capability);
  return found == names_.end() ? -1 : found->second.number;
}

int32_t CapabilityClasses::NameFor(const std::string& capability) {
  const auto [name, is_new] = names_.try_emplace(capability);
  if (is_new) {
    if (free_numbers_.empty()) {
      name->second.number = static_cast<int32_t>(names_.size()) - 1;
    } else {
      name->second.number = free_numbers_.back();
      free_numbers_.pop_back();
    }
  }
  ++name->second.classes;
  return name->second.number;
}

}  // namespace berth::placement
