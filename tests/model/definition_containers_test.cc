// What containers a definition may have, and their sizes. Texts that ECS is known to give are
// compared to the letter.
#include <catch2/catch.hpp>

#include "rule_cases.h"

namespace berth::model {
namespace {

std::vector<ContainerDefinition> Containers(int count) {
  std::vector<ContainerDefinition> containers;
  for (int i = 0; i < count; ++i) containers.push_back(Container("c" + std::to_string(i)));
  return containers;
}

TEST_CASE("a definition has one to ten containers with names and images", "[validation]") {
  CheckAll({
      {"as it stands", [](TaskSpec&) {}},
      {"no family", [](TaskSpec& s) { s.family = ""; }, "Family should not be null or empty."},
      {"a bad family", [](TaskSpec& s) { s.family = "a:b"; },
       "Family contains invalid characters."},
      {"the longest family", [](TaskSpec& s) { s.family = std::string(255, 'f'); }},
      {"one more", [](TaskSpec& s) { s.family = std::string(256, 'f'); },
       "Family contains invalid characters."},
      {"no containers", [](TaskSpec& s) { s.containers.clear(); },
       "Container list cannot be empty."},
      {"ten", [](TaskSpec& s) { s.containers = Containers(10); }},
      {"eleven", [](TaskSpec& s) { s.containers = Containers(11); },
       "containerDefinitions has 11 containers; a task definition may have at most 10"},
      {"no name", App([](auto& c) { c.name = ""; }), "Container.name should not be null or empty."},
      {"no image", App([](auto& c) { c.image = ""; }),
       "Container.image should not be null or empty."},
      {"a bad name", App([](auto& c) { c.name = "a b"; }),
       "Container.name contains invalid characters."},
      {"a bad image", App([](auto& c) { c.image = "a b"; }),
       "Container.image contains invalid characters."},
      {"an image with all that is allowed",
       App([](auto& c) { c.image = "Reg.example-1.com:5000/a_b/c#d@sha256:0f"; })},
      {"a long image", App([](auto& c) { c.image = std::string(255, 'i'); })},
      {"one more", App([](auto& c) { c.image = std::string(256, 'i'); }),
       "container 'app': image is 256 characters long; it must be at most 255 characters long"},
      {"one name twice", [](TaskSpec& s) { s.containers.push_back(Container("app")); },
       "Container names must be unique within a Task Definition."},
      {"nothing essential", App([](auto& c) { c.essential = false; }),
       "The task definition doesn't have any essential container; set essential to true for at "
       "least one"},
      {"one of two essential",
       [](TaskSpec& s) {
         s.containers.push_back(Container("side"));
         s.containers[0].essential = false;
       }},
  });
}

TEST_CASE("the first mistake in a fixed order is the one that is told", "[validation]") {
  TaskSpec spec = Spec();
  spec.containers[0].image = "";
  spec.containers[0].memory_mib = 1;
  spec.requires_compatibilities = {"MOON"};

  CHECK(Refusal(spec) == "Container.image should not be null or empty.");
  spec.containers[0].image = "busybox";
  CHECK(Refusal(spec) == "container 'app': memory is 1; it must be from 6 to 2147483647");
  spec.containers[0].memory_mib = 6;
  CHECK(Refusal(spec) ==
        "requiresCompatibilities[0] is 'MOON'; it must be one of EC2, FARGATE, EXTERNAL, "
        "MANAGED_INSTANCES");
}

TEST_CASE("every container has memory, and fits its task", "[validation]") {
  const auto memory = [](std::optional<int64_t> limit, std::optional<int64_t> reservation) {
    return App([=](auto& c) {
      c.memory_mib = limit;
      c.memory_reservation_mib = reservation;
    });
  };
  const std::string none =
      "Invalid setting for container 'app'. At least one of 'memory' or 'memoryReservation' must "
      "be "
      "specified.";
  const std::string cpu_sum =
      "The sum of all container 'cpu' values cannot be greater than the value of the task 'cpu'.";
  const auto cpus = [](int64_t a, int64_t b) {
    return [=](TaskSpec& s) {
      s.containers.push_back(Container("side"));
      s.containers[0].cpu_units = a;
      s.containers[1].cpu_units = b;
      SetCpu(s, "256");
    };
  };
  CheckAll({
      {"none anywhere", memory({}, {}), none},
      {"the task's is enough",
       [](TaskSpec& s) {
         s.containers[0].memory_mib.reset();
         SetMemory(s, "512");
       }},
      {"a reservation is enough", memory({}, 64)},
      {"too little", memory(5, {}),
       "container 'app': memory is 5; it must be from 6 to 2147483647"},
      {"just enough", memory(6, {})},
      {"too small a reservation", memory({}, 5),
       "container 'app': memoryReservation is 5; it must be from 6 to 2147483647"},
      {"beyond an integer", memory(2147483648, {}),
       "container 'app': memory is 2147483648; it must be from 6 to 2147483647"},
      {"limit below reservation", memory(64, 65),
       "container 'app': memory is 64; it must be at least memoryReservation, which is 65"},
      {"limit equal to reservation", memory(64, 64)},
      {"limit above the task's", [](TaskSpec& s) { SetMemory(s, "127"); },
       "The 'memory' setting for container 'app' is greater than for the task."},
      {"limit equal to the task's", [](TaskSpec& s) { SetMemory(s, "128"); }},
      {"the sum above the task's",
       [](TaskSpec& s) {
         s.containers.push_back(Container("side"));
         SetMemory(s, "255");
       },
       "the containers reserve 256 MiB of memory together (memoryReservation, or memory where "
       "there "
       "is none); the task's memory is 255 MiB and must be at least that"},
      {"the sum equal to the task's",
       [](TaskSpec& s) {
         s.containers.push_back(Container("side"));
         SetMemory(s, "256");
       }},
      {"reservations count before limits",
       [](TaskSpec& s) {
         s.containers.push_back(Container("side"));
         s.containers[0].memory_reservation_mib = 64;
         s.containers[1].memory_reservation_mib = 64;
         SetMemory(s, "128");
       }},
      {"negative cpu", App([](auto& c) { c.cpu_units = -1; }),
       "container 'app': cpu is -1; it must be from 0 to 2147483647"},
      {"the cpu sum equal to the task's", cpus(128, 128)},
      {"the cpu sum above the task's", cpus(128, 129), cpu_sum},
      {"a cpu sum beyond 32 bits", cpus(2147483647, 2147483647), cpu_sum},
  });
}

TEST_CASE("a task's size is checked", "[validation]") {
  const auto cpu = [](const char* text) { return [=](TaskSpec& s) { SetCpu(s, text); }; };
  const auto memory = [](const char* text) { return [=](TaskSpec& s) { SetMemory(s, text); }; };
  const std::string bad_cpu = "Invalid 'cpu' setting for task.";
  const std::string bad_memory = "Invalid 'memory' setting for task.";
  CheckAll({
      {"no number", cpu("many"), bad_cpu},
      {"one below the least", cpu("127"), bad_cpu},
      {"the least", cpu("128")},
      {"the most", cpu("196608")},
      {"one above the most", cpu("196609"), bad_cpu},
      {"vCPU", cpu("2 vCPU")},
      {"negative", cpu("-256"), bad_cpu},
      {"empty", cpu(""), bad_cpu},
      {"no number", memory("much"), bad_memory},
      {"zero", memory("0"), bad_memory},
      {"empty", memory(""), bad_memory},
      {"GB", memory("2 GB")},
      {"absurd", memory("999999999 GB"), bad_memory},
  });
}

}  // namespace
}  // namespace berth::model
