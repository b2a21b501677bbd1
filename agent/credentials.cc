#include "agent/credentials.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"

namespace berth::agent {
namespace {

// A file for people; a larger one is something else.
constexpr size_t kFileBytesMax = 1024 * 1024;

std::string Stripped(std::string_view text) {
  return std::string(absl::StripAsciiWhitespace(absl::string_view(text.data(), text.size())));
}

std::string_view TakeLine(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return line;
}

}  // namespace

absl::StatusOr<auth::Credentials> ParseCredentials(std::string_view text,
                                                   const std::string& profile) {
  bool found = false;
  bool in_profile = false;
  std::map<std::string, std::string> values;
  while (!text.empty()) {
    const std::string line = Stripped(TakeLine(text));
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[' && line.back() == ']') {
      const std::string name = Stripped(line.substr(1, line.size() - 2));
      // Files of the other kind, for settings, say "profile NAME".
      in_profile = name == profile || name == "profile " + profile;
      found = found || in_profile;
      continue;
    }
    const size_t equals = line.find('=');
    if (!in_profile || equals == std::string::npos) continue;
    values[Stripped(line.substr(0, equals))] = Stripped(line.substr(equals + 1));
  }
  if (!found) {
    return absl::InvalidArgumentError(absl::StrFormat("there is no section [%s]", profile));
  }
  auth::Credentials credentials{.access_key_id = values["aws_access_key_id"],
                                .secret_access_key = values["aws_secret_access_key"],
                                .session_token = values["aws_session_token"]};
  for (const auto& [name, value] : {std::pair("aws_access_key_id", credentials.access_key_id),
                                    {"aws_secret_access_key", credentials.secret_access_key}}) {
    if (value.empty()) {
      return absl::InvalidArgumentError(absl::StrFormat("section [%s] has no %s", profile, name));
    }
  }
  return credentials;
}

CredentialSource::Stamp CredentialSource::StampOf(const std::string& path) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) return {};
  return {.inode = static_cast<int64_t>(file.st_ino),
          .size = file.st_size,
          .changed_ns = file.st_mtim.tv_sec * 1'000'000'000 + file.st_mtim.tv_nsec};
}

absl::StatusOr<auth::Credentials> CredentialSource::Read() const {
  std::ifstream file(path_, std::ios::binary);
  if (!file) {
    return absl::InvalidArgumentError(
        absl::StrFormat("cannot read the credentials in %s: %s", path_, std::strerror(errno)));
  }
  std::string text(kFileBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kFileBytesMax) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s is no credentials file: it is larger than %d bytes", path_, kFileBytesMax));
  }
  absl::StatusOr<auth::Credentials> credentials = ParseCredentials(text, profile_);
  if (credentials.ok()) return credentials;
  return absl::InvalidArgumentError(absl::StrFormat("%s has no credentials to use: %s", path_,
                                                    std::string(credentials.status().message())));
}

absl::StatusOr<std::shared_ptr<CredentialSource>> CredentialSource::FromFile(
    const std::string& path, const std::string& profile) {
  auto source = std::make_shared<CredentialSource>(auth::Credentials{});
  source->path_ = path;
  source->profile_ = profile;
  source->read_ = StampOf(path);
  absl::StatusOr<auth::Credentials> credentials = source->Read();
  if (!credentials.ok()) return credentials.status();
  source->current_ = *std::move(credentials);
  return source;
}

const auth::Credentials& CredentialSource::Current() {
  if (path_.empty()) return current_;
  const Stamp now = StampOf(path_);
  if (now == read_) return current_;
  read_ = now;
  absl::StatusOr<auth::Credentials> credentials = Read();
  if (credentials.ok()) {
    if (credentials->access_key_id != current_.access_key_id) {
      spdlog::info("from now on the key {} of {} is used", credentials->access_key_id, path_);
    }
    current_ = *std::move(credentials);
  } else {
    spdlog::error("the key {} stays in use: {}", current_.access_key_id,
                  std::string(credentials.status().message()));
  }
  return current_;
}

std::string CredentialSource::Describe() const { return path_.empty() ? "the environment" : path_; }

}  // namespace berth::agent
