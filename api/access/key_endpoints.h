// Access keys over HTTP, beside the ECS API: /berth/v1/keys (docs/security.md). Calls are signed as
// all others are, and for admins alone.
#pragma once

#include <string>
#include <string_view>

#include "api/caller.h"
#include "api/dispatch.h"
#include "api/net.h"

namespace berth::api {

class ClusterLoop;
class KeyRing;

inline constexpr char kKeysPath[] = "/berth/v1/keys";

class KeyEndpoints {
 public:
  // What it works with; all outlive it. `ring`: null with --auth none.
  struct Parts {
    ClusterLoop& loop;
    KeyRing* ring;
    const ServerSettings& settings;
  };

  explicit KeyEndpoints(Parts parts) : parts_(parts) {}

  static bool Owns(std::string_view path);
  // The name for policies and logs (authorize.h), or nothing when the path has no such method.
  static std::string_view ActionOf(std::string_view method, std::string_view path);
  // What may be done with the path: "GET, POST".
  static const char* AllowedMethods(std::string_view path);

  // Requires: ActionOf gave a name.
  net::awaitable<ApiResponse> Respond(std::string_view action, std::string path, std::string body,
                                      Caller caller);

 private:
  net::awaitable<ApiResponse> Create(std::string body, Caller caller);
  net::awaitable<ApiResponse> Revoke(std::string id, Caller caller);
  net::awaitable<ApiResponse> List(Caller caller);
  ApiResponse Refused(const absl::Status& error, std::string resource) const;

  Parts parts_;
};

}  // namespace berth::api
