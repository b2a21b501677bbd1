#include "agent/secret_folder.h"

#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <unistd.h>

namespace berth::agent {
namespace {

constexpr char kAsm[] = "arn:aws:secretsmanager:us-east-1:000000000000:secret:";
constexpr char kSsm[] = "arn:aws:ssm:us-east-1:000000000000:parameter/";

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "berth-secrets-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  void Write(const std::string& name, const std::string& value) const {
    std::filesystem::create_directories((path / name).parent_path());
    std::ofstream(path / name, std::ios::binary) << value;
  }
  std::filesystem::path path = {};
};

struct Case {
  std::string why;
  std::string value_from;
  std::string value;  // or what the error has
  bool ok = true;
};

TEST_CASE("a secret's value is its file's", "[agent]") {
  const Folder folder;
  folder.Write("prod/db", "pass word\n");
  folder.Write("token-AbCdEf", R"({"user":"u","number":1})");
  folder.Write("large", std::string(64 * 1024 + 2, 'x'));
  const auto c = GENERATE(values<Case>({
      {"a parameter's name", "prod/db", "pass word"},
      {"a parameter's path", "/prod/db", "pass word"},
      {"a parameter's ARN", std::string(kSsm) + "prod/db", "pass word"},
      {"a secret's ARN", std::string(kAsm) + "token-AbCdEf", R"({"user":"u","number":1})"},
      {"a JSON key", std::string(kAsm) + "token-AbCdEf:user::", "u"},
      {"a JSON key that is not there", std::string(kAsm) + "token-AbCdEf:pin::", "under pin",
       false},
      {"a JSON key that is no text", std::string(kAsm) + "token-AbCdEf:number::", "under number",
       false},
      {"a JSON key in no JSON", std::string(kAsm) + "prod/db:user::", "not a JSON object", false},
      {"a version", std::string(kAsm) + "token-AbCdEf::AWSPREVIOUS:", "no versions", false},
      {"nowhere", "prod/none", "cannot read", false},
      {"a folder", "prod", "cannot read", false},
      {"out of the folder", "../passwd", "no file's", false},
      {"too large", "large", "larger than", false},
      {"something else's ARN", "arn:aws:s3:::bucket/key", "neither", false},
  }));
  INFO(c.why);

  const absl::StatusOr<std::string> value = SecretFolder(folder.path.string()).Read(c.value_from);

  REQUIRE(value.ok() == c.ok);
  if (c.ok) {
    CHECK(*value == c.value);
  } else {
    const std::string message(value.status().message());
    CHECK_THAT(message,
               Catch::StartsWith("ResourceInitializationError: secret " + c.value_from + ": "));
    CHECK_THAT(message, Catch::Contains(c.value));
  }
}

}  // namespace
}  // namespace berth::agent
