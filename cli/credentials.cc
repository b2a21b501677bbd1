#include "cli/credentials.h"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <utility>

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

// A section of an AWS credentials file.
auth::Credentials ReadCredentialsFile(const std::string& path, const std::string& profile) {
  const auto source = agent::CredentialSource::FromFile(path, profile);
  if (!source.ok()) throw std::runtime_error(std::string(source.status().message()));
  return (*source)->Current();
}

std::string AdminFileIn(const CredentialSources& sources) {
  return (std::filesystem::path(sources.data) / api::kAdminCredentialsFile).string();
}

}  // namespace

std::optional<auth::Credentials> LookForCredentials(const CredentialSources& sources) {
  if (!sources.file.empty() || !sources.profile.empty()) {
    return ReadCredentialsFile(sources.file.empty() ? UsersFile() : sources.file,
                               sources.profile.empty() ? kDefaultProfile : sources.profile);
  }
  const std::string id = Variable("AWS_ACCESS_KEY_ID");
  const std::string secret = Variable("AWS_SECRET_ACCESS_KEY");
  if (!id.empty() && !secret.empty()) {
    return auth::Credentials{.access_key_id = id,
                             .secret_access_key = secret,
                             .session_token = Variable("AWS_SESSION_TOKEN")};
  }
  const std::string profile = Variable("AWS_PROFILE");
  if (!profile.empty() || !Variable("AWS_SHARED_CREDENTIALS_FILE").empty()) {
    return ReadCredentialsFile(UsersFile(), profile.empty() ? kDefaultProfile : profile);
  }
  const std::string admin = AdminFileIn(sources);
  if (std::filesystem::exists(admin)) return ReadCredentialsFile(admin, kDefaultProfile);
  return std::nullopt;
}

auth::Credentials FindCredentials(const CredentialSources& sources) {
  if (auto found = LookForCredentials(sources)) return *std::move(found);
  throw std::runtime_error(fmt::format(
      "no credentials: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set, neither are "
      "AWS_PROFILE and AWS_SHARED_CREDENTIALS_FILE, and there is no {}; name the server's data "
      "folder with --data, or a credentials file with --credentials-file; when every admin's is "
      "lost, `berth key recover` makes one for a stopped server",
      AdminFileIn(sources)));
}

}  // namespace berth::cli
