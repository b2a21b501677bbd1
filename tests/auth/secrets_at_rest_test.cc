// Sealed secrets, the key file, and new keys.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <catch2/catch.hpp>
#include <sys/stat.h>

#include "auth/new_key.h"
#include "auth/private_file.h"
#include "auth/secret_box.h"

namespace berth::auth {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "berth-auth-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path_); }
  std::string File(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

unsigned ModeOf(const std::string& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

std::string Words(const absl::Status& status) { return std::string(status.message()); }

}  // namespace

TEST_CASE("a sealed secret opens with the same key, for the same owner, unchanged", "[secrets]") {
  const SecretBox box(std::string(32, 'k'));
  const SecretBox other(std::string(32, 'o'));
  const std::string sealed = box.Seal("the secret", "AKIA1");

  CHECK(box.Open(sealed, "AKIA1") == "the secret");
  CHECK(sealed.find("the secret") == std::string::npos);
  CHECK(box.Open(sealed, "AKIA2") == std::nullopt);
  CHECK(other.Open(sealed, "AKIA1") == std::nullopt);

  SECTION("two sealings of one secret differ") { CHECK(box.Seal("the secret", "AKIA1") != sealed); }
  SECTION("a change of any digit is noticed") {
    for (size_t i = 0; i < sealed.size(); ++i) {
      std::string changed = sealed;
      changed[i] = changed[i] == '0' ? '1' : '0';
      CHECK(box.Open(changed, "AKIA1") == std::nullopt);
    }
  }
  SECTION("and so is any cut") {
    for (size_t size = 0; size < sealed.size(); ++size) {
      CHECK(box.Open(sealed.substr(0, size), "AKIA1") == std::nullopt);
    }
  }
  SECTION("an empty secret is one") { CHECK(box.Open(box.Seal("", "a"), "a") == ""); }
}

TEST_CASE("the key file is made once, for its owner alone", "[secrets]") {
  const Folder folder;
  const std::string path = folder.File("secrets.key");

  const auto first = LoadSecretBox(path, true);
  REQUIRE(first.ok());
  CHECK(ModeOf(path) == 0600);
  const auto again = LoadSecretBox(path, true);
  REQUIRE(again.ok());
  CHECK(again->Open(first->Seal("s", "o"), "o") == "s");

  SECTION("it is refused when others may read it") {
    fs::permissions(path, fs::perms::group_read, fs::perm_options::add);
    const auto refused = LoadSecretBox(path, true);
    CHECK(Words(refused.status()) ==
          path +
              " has mode 0640: others than its owner may read or change it. Run chmod 600 on it, "
              "and think of who may have read it");
  }
  SECTION("and when it holds no key") {
    REQUIRE(WritePrivateFile(path, "0123").ok());
    CHECK(Words(LoadSecretBox(path, true).status()) ==
          path + " does not hold 64 hexadecimal digits; put it back from where it was backed up");
    REQUIRE(WritePrivateFile(path, std::string(1000, '0')).ok());
    CHECK(Words(LoadSecretBox(path, true).status()) == path + " is larger than 65 bytes");
  }
  SECTION("and is not made anew where secrets wait for the lost one") {
    fs::remove(path);
    const auto missing = LoadSecretBox(path, false);
    CHECK(Words(missing.status()) ==
          path +
              " is missing, and without it the secrets of the access keys in the database cannot "
              "be opened; put it back from where it was backed up");
    CHECK_FALSE(fs::exists(path));
  }
  SECTION("a folder in its place is refused") {
    fs::remove(path);
    fs::create_directory(path);
    CHECK(Words(LoadSecretBox(path, true).status()) == path + " is no plain file");
  }
}

TEST_CASE("a private file is replaced whole", "[secrets]") {
  const Folder folder;
  const std::string path = folder.File("f");
  std::ofstream(path + ".new") << "left by a crash";

  REQUIRE(WritePrivateFile(path, "one").ok());
  REQUIRE(WritePrivateFile(path, "two").ok());

  const auto text = ReadPrivateFile(path, 10);
  REQUIRE(text.ok());
  CHECK(*text == "two");
  CHECK_FALSE(fs::exists(path + ".new"));
  CHECK(Words(WritePrivateFile(folder.File("no/f"), "x")).find("No such file") !=
        std::string::npos);
}

TEST_CASE("new keys have AWS's form and differ", "[secrets]") {
  std::set<std::string> ids, secrets;
  for (int i = 0; i < 100; ++i) {
    const Credentials key = NewAccessKey();
    CHECK(key.access_key_id.size() == kKeyIdLength);
    CHECK(key.access_key_id.starts_with("AKIA"));
    CHECK(key.access_key_id.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") ==
          std::string::npos);
    CHECK(key.secret_access_key.size() == kSecretLength);
    ids.insert(key.access_key_id);
    secrets.insert(key.secret_access_key);
  }
  CHECK(ids.size() == 100);
  CHECK(secrets.size() == 100);
}

}  // namespace berth::auth
