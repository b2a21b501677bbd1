#include <algorithm>

#include "api/shapes/registration.h"
#include "model/capabilities.h"

namespace berth::api {

namespace {

using model::Attribute;

// What an instance is taken for when it does not say.
constexpr char kDefaultInstanceType[] = "berth.host";
constexpr char kDefaultArchitecture[] = "x86_64";

bool Has(const std::vector<Attribute>& attributes, std::string_view name) {
  return std::ranges::any_of(attributes,
                             [&](const Attribute& attribute) { return attribute.name == name; });
}

void AddIfAbsent(std::string_view name, std::optional<std::string> value,
                 std::vector<Attribute>& attributes) {
  if (Has(attributes, name)) return;
  attributes.push_back({.name = std::string(name), .value = std::move(value)});
}

std::string FirstOf(std::string_view text, std::string_view otherwise) {
  return std::string(text.empty() ? otherwise : text);
}

bool AllHaveMemory(const std::vector<model::Gpu>& gpus) {
  return !gpus.empty() &&
         std::ranges::all_of(gpus, [](const model::Gpu& gpu) { return gpu.memory_mib > 0; });
}

}  // namespace

std::vector<Attribute> WithBuiltInAttributes(std::vector<Attribute> sent,
                                             const IdentityDocument& identity,
                                             std::string_view default_zone) {
  AddIfAbsent("ecs.availability-zone", FirstOf(identity.availability_zone, default_zone), sent);
  AddIfAbsent("ecs.instance-type", FirstOf(identity.instance_type, kDefaultInstanceType), sent);
  AddIfAbsent("ecs.os-type", "linux", sent);
  AddIfAbsent("ecs.os-family", "LINUX", sent);
  AddIfAbsent("ecs.cpu-architecture", FirstOf(identity.architecture, kDefaultArchitecture), sent);
  // An image, unlike these, is not something that every machine has; nor are a VPC and a subnet,
  // which are there (ecs.vpc-id, ecs.subnet-id) when the agent sends them.
  if (!identity.image_id.empty()) AddIfAbsent("ecs.ami-id", identity.image_id, sent);
  return sent;
}

std::vector<Attribute> WithEmulatedCapabilities(std::vector<Attribute> attributes,
                                                const model::RegisteredResources& resources) {
  for (const std::string& name : model::AllCapabilities()) {
    if (name == model::kGpuSharingCapability && !AllHaveMemory(resources.gpus)) continue;
    AddIfAbsent(name, std::nullopt, attributes);
  }
  return attributes;
}

}  // namespace berth::api
