#include "model/container_instance.h"

#include <catch2/catch.hpp>

namespace berth::model {
namespace {

ContainerInstance Instance(std::vector<Attribute> attributes, std::vector<Gpu> gpus) {
  return {.resources = {.gpus = std::move(gpus)}, .attributes = std::move(attributes)};
}

TEST_CASE("an attribute is found by its whole name", "[instance]") {
  const ContainerInstance instance = Instance({{"a"}, {"b", "1"}, {"bb", "2"}}, {});

  REQUIRE(FindAttribute(instance, "b") != nullptr);
  CHECK(FindAttribute(instance, "b")->value == "1");
  CHECK(FindAttribute(instance, "a")->value == std::nullopt);
  CHECK(FindAttribute(instance, "bb")->value == "2");
  for (const char* name : {"", "0", "ab", "bbb", "B"}) {
    INFO(name);
    CHECK(FindAttribute(instance, name) == nullptr);
  }
  CHECK(FindAttribute(Instance({}, {}), "a") == nullptr);
}

TEST_CASE("sharing takes the capability and a memory figure for every GPU", "[instance]") {
  struct Case {
    std::string why;
    std::vector<Attribute> attributes;
    std::vector<Gpu> gpus;
    bool offered;
  };
  const Attribute capability{kGpuSharingCapability};
  const std::vector<Case> cases = {
      {"both", {capability}, {{{"g0"}, 22587}, {{"g1"}, 1}}, true},
      {"no capability", {{"ecs.os-type", "linux"}}, {{{"g0"}, 22587}}, false},
      {"one of two GPUs has no figure", {capability}, {{{"g0"}, 22587}, {{"g1"}, 0}}, false},
      {"no GPU to share", {capability}, {}, false},
  };
  for (const Case& c : cases) {
    INFO(c.why);
    CHECK(OffersGpuSharing(Instance(c.attributes, c.gpus)) == c.offered);
  }
}

}  // namespace
}  // namespace berth::model
