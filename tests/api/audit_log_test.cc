#include "api/access/audit_log.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <rapidjson/document.h>
#include <sys/stat.h>

namespace berth::api {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "berth-audit-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path_); }
  std::string File(const std::string& name) const { return (path_ / name).string(); }
  std::vector<std::string> Lines(const std::string& name) const {
    std::ifstream file(path_ / name);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

 private:
  fs::path path_;
};

AuditEntry Entry(const std::string& request_id) {
  return {.time = absl::FromUnixMillis(1'800'000'000'123),
          .request_id = request_id,
          .principal = "arn:aws:iam::000000000000:user/u",
          .access_key = "AKIA1",
          .source = "127.0.0.1",
          .action = "ecs:StopTask",
          .resources = {"arn:1", "arn:2", "arn:3"},
          .status = 200,
          .code = "OK",
          .took = absl::Microseconds(1500)};
}

}  // namespace

TEST_CASE("an audit entry is one line of JSON", "[audit]") {
  CHECK(FormatAuditEntry(Entry("r1"), 2) ==
        R"({"time":"2027-01-15T08:00:00.123Z","requestId":"r1",)"
        R"("principal":"arn:aws:iam::000000000000:user/u","accessKeyId":"AKIA1",)"
        R"("sourceAddress":"127.0.0.1","action":"ecs:StopTask","resources":["arn:1","arn:2"],)"
        R"("moreResources":1,"status":200,"code":"OK","ms":1.5})");

  AuditEntry hostile = Entry("r2");
  hostile.resources = {"a\"\n\\b"};
  const std::string line = FormatAuditEntry(hostile, 2);
  CHECK(line.find('\n') == std::string::npos);
  rapidjson::Document document;
  CHECK_FALSE(document.Parse(line).HasParseError());
  CHECK(document["resources"][0].GetString() == std::string("a\"\n\\b"));
}

TEST_CASE("entries are there in order once the log is closed, for their owner alone", "[audit]") {
  const Folder folder;
  {
    auto log = AuditLog::Open(folder.File("audit.log"));
    REQUIRE(log.ok());
    for (int i = 0; i < 1000; ++i) (*log)->Add(Entry(std::to_string(i)));
    CHECK((*log)->dropped() == 0);
  }

  const auto lines = folder.Lines("audit.log");
  REQUIRE(lines.size() == 1000);
  for (int i = 0; i < 1000; ++i) {
    CHECK(lines[static_cast<size_t>(i)].find("\"requestId\":\"" + std::to_string(i) + "\"") !=
          std::string::npos);
  }
  struct stat status {};
  REQUIRE(::stat(folder.File("audit.log").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);

  SECTION("and opening it again adds to it") {
    { (*AuditLog::Open(folder.File("audit.log")))->Add(Entry("again")); }
    CHECK(folder.Lines("audit.log").size() == 1001);
  }
}

TEST_CASE("the file is rotated by size, and the oldest goes", "[audit]") {
  const Folder folder;
  AuditLimits limits;
  limits.file_bytes_max = 1000;
  limits.files_max = 2;
  {
    auto log = AuditLog::Open(folder.File("audit.log"), limits);
    REQUIRE(log.ok());
    for (int i = 0; i < 100; ++i) (*log)->Add(Entry(std::to_string(i)));
  }

  CHECK(fs::file_size(folder.File("audit.log")) <= 1000);
  CHECK(fs::exists(folder.File("audit.1.log")));
  CHECK(fs::exists(folder.File("audit.2.log")));
  CHECK_FALSE(fs::exists(folder.File("audit.3.log")));
  CHECK(folder.Lines("audit.log").back().find("\"requestId\":\"99\"") != std::string::npos);
}

TEST_CASE("no entry is lost in silence", "[audit]") {
  const Folder folder;
  constexpr int kEntries = 20'000;
  AuditLimits limits;
  limits.queue_max = 3;
  limits.warning_interval = absl::InfiniteDuration();
  uint64_t dropped = 0;
  {
    auto log = AuditLog::Open(folder.File("audit.log"), limits);
    REQUIRE(log.ok());
    for (int i = 0; i < kEntries; ++i) (*log)->Add(Entry(std::to_string(i)));
    dropped = (*log)->dropped();
  }

  uint64_t written = 0, said = 0;
  for (const std::string& line : folder.Lines("audit.log")) {
    rapidjson::Document document;
    REQUIRE_FALSE(document.Parse(line).HasParseError());
    if (document.HasMember("dropped")) {
      said += document["dropped"].GetUint64();
    } else {
      ++written;
    }
  }
  CHECK(dropped > 0);
  CHECK(said == dropped);
  CHECK(written + dropped == kEntries);
}

TEST_CASE("a log that cannot be opened is an error that names it", "[audit]") {
  const auto log = AuditLog::Open("/proc/no/audit.log");
  REQUIRE_FALSE(log.ok());
  CHECK(std::string(log.status().message()).find("/proc/no/audit.log") != std::string::npos);
}

}  // namespace berth::api
