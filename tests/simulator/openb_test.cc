// Reading traces: what is right, and a clear word on what is wrong.
#include "simulator/openb.h"

#include <string>

#include <catch2/catch.hpp>

namespace berth::simulator {
namespace {

constexpr char kNodeColumns[] = "sn,cpu_milli,memory_mib,gpu,model\n";
constexpr char kTaskColumns[] = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n";

}  // namespace

TEST_CASE("nodes are read in the order of the lines", "[openb]") {
  const auto nodes = ReadTraceNodes(
      "sn,cpu_milli,memory_mib,gpu,model\nb,64000,262144,2,P100\n"
      "a,96000,1,0,none\n");

  REQUIRE(nodes.ok());
  CHECK(*nodes ==
        std::vector<TraceNode>{{"b", 64000, 262144, 2, "P100"}, {"a", 96000, 1, 0, "none"}});
}

TEST_CASE("columns are found by name, line ends may be those of Windows, the last may lack one",
          "[openb]") {
  const auto tasks = ReadTraceTasks(
      "qos,gpu_milli,num_gpu,memory_mib,cpu_milli,name\r\nLS,460,1,12288,6000,t\r\n\r\nLS,0,0,1,2,"
      "u");

  REQUIRE(tasks.ok());
  CHECK(*tasks == std::vector<TraceTask>{{"t", 6000, 12288, 1, 460, ""}, {"u", 2, 1, 0, 0, ""}});
}

TEST_CASE("a task without a GPU has neither a share nor models", "[openb]") {
  const auto tasks = ReadTraceTasks(std::string(kTaskColumns) + "t,1,2,0,500,T4|P100\n");

  REQUIRE(tasks.ok());
  CHECK(*tasks == std::vector<TraceTask>{{"t", 1, 2, 0, 0, ""}});
}

TEST_CASE("a file of tasks that makes no sense is refused by line", "[openb]") {
  struct Case {
    std::string why;
    std::string text;
    std::string message;
  };
  const std::string columns = kTaskColumns;
  const auto c = GENERATE_COPY(values<Case>({
      {"nothing at all", "", "line 1: no column name; the first line names the columns"},
      {"a column is missing", "name,cpu_milli\nt,1\n", "line 1: no column memory_mib"},
      {"no task", columns, "there is only the line of column names"},
      {"a field too few", columns + "a,1,1,0,0,\nt,1,1,1,500\n",
       "line 3: 5 fields under 6 column names"},
      {"no number", columns + "t,one,1,1,500,\n", "line 2: cpu_milli is 'one', not a whole number"},
      {"a fraction", columns + "t,1.5,1,1,500,\n", "cpu_milli is '1.5'"},
      {"a negative number", columns + "t,1,-1,1,500,\n", "memory_mib is '-1'"},
      {"too large a number", columns + "t,99999999999999999999,1,1,500,\n", "cpu_milli is '9999"},
      {"more than a GPU", columns + "t,1,1,1,1001,\n",
       "line 2: gpu_milli is '1001', not a whole number from 0 to 1000"},
      {"several fractions", columns + "t,1,1,2,500,\n",
       "line 2: 2 GPUs of 500 milli: several GPUs are whole ones, of 1000"},
      {"a GPU of nothing", columns + "t,1,1,1,0,\n", "line 2: num_gpu without gpu_milli"},
      {"no name", columns + ",1,1,1,500,\n", "line 2: name is empty"},
      {"a name twice", columns + "t,1,1,1,500,\nt,1,1,1,500,\n",
       "line 3: the name 't' comes twice"},
      {"a quoted field", columns + "t,1,1,1,500,\"T4|P100\"\n",
       "line 2: a quotation mark: fields are not quoted here"},
      {"a byte that is no UTF-8", columns + "t\xFF,1,1,1,500,\n",
       "line 2: a byte that is no UTF-8 text"},
      {"a control character", columns + "t\t,1,1,1,500,\n", "line 2: a byte that is no UTF-8 text"},
  }));
  INFO(c.why);

  const auto tasks = ReadTraceTasks(c.text);

  REQUIRE_FALSE(tasks.ok());
  CHECK_THAT(std::string(tasks.status().message()),
             Catch::StartsWith(c.message) || Catch::Contains(c.message));
}

TEST_CASE("a node of more devices than a fleet knows is refused", "[openb]") {
  const std::string columns = kNodeColumns;

  CHECK(ReadTraceNodes(columns + "a,1,1,32,T4\n").ok());
  CHECK_FALSE(ReadTraceNodes(columns + "a,1,1,33,T4\n").ok());
}

}  // namespace berth::simulator
