// The values of secrets, from files on the agent's machine: there is no Secrets Manager and no
// Parameter Store here. Who runs the machine puts a file for each secret into the folder.
//
// `valueFrom` names the file: a parameter "/prod/db" or its ARN is the file prod/db; a secret's ARN
// ...:secret:NAME is the file NAME, with the suffix that the ARN has. Behind a secret's ARN a JSON
// key may stand, as in ECS: the file is then a JSON object, and the value that member. One line end
// behind the value is not part of it. Files are read anew for each container; values are not
// logged.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace berth::agent {

class SecretFolder {
 public:
  explicit SecretFolder(std::string path) : path_(std::move(path)) {}

  // Errors are ready for ECS: "ResourceInitializationError: secret NAME: ...".
  absl::StatusOr<std::string> Read(std::string_view value_from) const;

 private:
  std::string path_;
};

// The file of a secret below the folder, and the JSON key in it; empty: the whole file.
struct SecretPlace {
  std::string file = {};
  std::string json_key = {};
};
absl::StatusOr<SecretPlace> PlaceOf(std::string_view value_from);

}  // namespace berth::agent
