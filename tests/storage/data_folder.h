// A folder that lives as long as a test, and the sqlite3 shell's view of a file in it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <sqlite3.h>
#include <stdlib.h>

namespace berth::storage::testing {

class DataFolder {
 public:
  enum class Kind {
    kDisk,
    kMemory,  // where a test brings its own disk, and a real one would only slow it down
  };

  explicit DataFolder(Kind kind = Kind::kDisk) {
    const std::filesystem::path memory = "/dev/shm";
    const bool in_memory = kind == Kind::kMemory && std::filesystem::is_directory(memory);
    const auto parent = in_memory ? memory : std::filesystem::temp_directory_path();
    std::string pattern = (parent / "berth-storage-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  DataFolder(const DataFolder&) = delete;
  DataFolder& operator=(const DataFolder&) = delete;
  ~DataFolder() {
    std::error_code ignored;  // A folder left behind fails no test.
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }
  std::string File() const { return (path_ / "berth.db").string(); }

 private:
  std::filesystem::path path_;
};

// What an operator does with `sqlite3 FILE`, also while a server runs.
class Shell {
 public:
  explicit Shell(const std::string& file) {
    REQUIRE(sqlite3_open(file.c_str(), &db_) == SQLITE_OK);
    sqlite3_busy_timeout(db_, 2000);
  }
  Shell(const Shell&) = delete;
  Shell& operator=(const Shell&) = delete;
  ~Shell() { sqlite3_close(db_); }

  // The values of each row joined by "|", as the shell prints them.
  std::vector<std::string> Query(const std::string& sql) {
    std::vector<std::string> rows;
    char* error = nullptr;
    const auto add_row = [](void* list, int count, char** values, char**) {
      std::string row;
      for (int i = 0; i < count; ++i) {
        if (i > 0) row += "|";
        row += values[i] == nullptr ? "" : values[i];
      }
      static_cast<std::vector<std::string>*>(list)->push_back(row);
      return 0;
    };
    const int code = sqlite3_exec(db_, sql.c_str(), add_row, &rows, &error);
    INFO(sql << ": " << (error == nullptr ? "" : error));
    sqlite3_free(error);
    REQUIRE(code == SQLITE_OK);
    return rows;
  }

 private:
  sqlite3* db_ = nullptr;
};

}  // namespace berth::storage::testing
