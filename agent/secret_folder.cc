#include "agent/secret_folder.h"

#include <filesystem>
#include <fstream>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "agent/json.h"
#include "model/arn.h"

namespace berth::agent {

namespace {

constexpr size_t kSecretBytesMax = 64 * 1024;  // as Secrets Manager's
constexpr std::string_view kParameter = "parameter/";
constexpr std::string_view kSecret = "secret:";

absl::Status Trouble(std::string_view value_from, std::string_view what) {
  return absl::FailedPreconditionError(
      absl::StrFormat("ResourceInitializationError: secret %s: %s", value_from, what));
}

// Below the folder, and nowhere else.
bool IsSafe(std::string_view file) {
  const std::vector<std::string> parts = absl::StrSplit(std::string(file), '/');
  for (const std::string& part : parts) {
    if (part.empty() || part == "." || part == "..") return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<SecretPlace> PlaceOf(std::string_view value_from) {
  SecretPlace place = {.file = std::string(value_from)};
  if (value_from.starts_with("arn:")) {
    const std::optional<model::Arn> arn = model::ParseArn(value_from);
    if (arn && arn->resource.starts_with(kParameter)) {
      place.file = arn->resource.substr(kParameter.size());
    } else if (arn && arn->resource.starts_with(kSecret)) {
      // NAME:JSON-KEY:VERSION-STAGE:VERSION-ID
      const std::vector<std::string> parts =
          absl::StrSplit(arn->resource.substr(kSecret.size()), ':');
      place.file = parts[0];
      if (parts.size() > 1) place.json_key = parts[1];
      for (size_t i = 2; i < parts.size(); ++i) {
        if (parts[i].empty()) continue;
        return Trouble(value_from, "a file has no versions, so none can be chosen");
      }
    } else {
      return Trouble(value_from, "it is neither a secret's ARN nor a parameter's name or ARN");
    }
  }
  if (place.file.starts_with('/')) place.file.erase(0, 1);
  if (!IsSafe(place.file)) return Trouble(value_from, "its name is no file's");
  return place;
}

absl::StatusOr<std::string> SecretFolder::Read(std::string_view value_from) const {
  const absl::StatusOr<SecretPlace> place = PlaceOf(value_from);
  if (!place.ok()) return place.status();
  const std::filesystem::path path = std::filesystem::path(path_) / place->file;
  std::error_code ignored;  // What is no file cannot be opened, and is told below.
  std::ifstream file(path, std::ios::binary);
  if (!std::filesystem::is_regular_file(path, ignored) || !file) {
    return Trouble(value_from, absl::StrFormat("the agent cannot read %s", path.string()));
  }
  std::string value(kSecretBytesMax + 1, '\0');
  file.read(value.data(), static_cast<std::streamsize>(value.size()));
  value.resize(static_cast<size_t>(file.gcount()));
  if (value.size() > kSecretBytesMax) {
    return Trouble(value_from,
                   absl::StrFormat("%s is larger than %d bytes", path.string(), kSecretBytesMax));
  }
  if (value.ends_with('\n')) value.pop_back();
  if (value.find('\0') != std::string::npos) {
    return Trouble(value_from, "it holds a zero byte, which an environment variable cannot");
  }
  if (place->json_key.empty()) return value;
  json::Document document;
  if (!json::Parse(value, document) || !document.IsObject()) {
    return Trouble(value_from, absl::StrFormat("%s is not a JSON object", path.string()));
  }
  std::optional<std::string> member = json::FindString(document, place->json_key.c_str());
  if (!member) {
    return Trouble(value_from,
                   absl::StrFormat("%s has no text under %s", path.string(), place->json_key));
  }
  return *std::move(member);
}

}  // namespace berth::agent
