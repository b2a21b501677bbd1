#include "cli/credentials.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#include "agent/credentials.h"
#include "api/access/first_key.h"

namespace berth::cli {
namespace {

constexpr char kDefaultProfile[] = "default";

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::string UsersFile() {
  const std::string named = Variable("AWS_SHARED_CREDENTIALS_FILE");
  return named.empty() ? Variable("HOME") + "/.aws/credentials" : named;
}

}  // namespace

auth::Credentials ReadCredentialsFile(const std::string& path, const std::string& profile) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(fmt::format("cannot read the credentials file {}", path));
  std::ostringstream text;
  text << file.rdbuf();
  absl::StatusOr<auth::Credentials> credentials = agent::ParseCredentials(text.str(), profile);
  if (!credentials.ok()) {
    throw std::runtime_error(
        fmt::format("{}: {}", path, std::string(credentials.status().message())));
  }
  return *std::move(credentials);
}

auth::Credentials FindCredentials(const CredentialSources& sources) {
  if (!sources.file.empty() || !sources.profile.empty()) {
    return ReadCredentialsFile(sources.file.empty() ? UsersFile() : sources.file,
                               sources.profile.empty() ? kDefaultProfile : sources.profile);
  }
  const std::string id = Variable("AWS_ACCESS_KEY_ID");
  const std::string secret = Variable("AWS_SECRET_ACCESS_KEY");
  if (!id.empty() && !secret.empty()) {
    return {.access_key_id = id,
            .secret_access_key = secret,
            .session_token = Variable("AWS_SESSION_TOKEN")};
  }
  const std::string profile = Variable("AWS_PROFILE");
  if (!profile.empty() || !Variable("AWS_SHARED_CREDENTIALS_FILE").empty()) {
    return ReadCredentialsFile(UsersFile(), profile.empty() ? kDefaultProfile : profile);
  }
  const std::string admin =
      (std::filesystem::path(sources.data) / api::kAdminCredentialsFile).string();
  if (std::filesystem::exists(admin)) return ReadCredentialsFile(admin, kDefaultProfile);
  throw std::runtime_error(fmt::format(
      "no credentials: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set, neither are "
      "AWS_PROFILE and AWS_SHARED_CREDENTIALS_FILE, and there is no {}; name the server's data "
      "folder with --data, or a credentials file with --credentials-file",
      admin));
}

}  // namespace berth::cli
