// Checking that a request is signed, in two steps: what it claims, which needs no secret, and
// whether the signature is that of the key it names. ecs-api.md 1.4.
//
// Nothing of the request is trusted: the payload is hashed here, every length has a limit, and
// headers that mean something to us must be among those that were signed. A request that is sent
// again within the window is accepted again, as Signature Version 4 is made; what it does twice it
// must do once (client tokens, and commands that may be repeated).
//
// Pure but for the cache of signing keys, which is thread-safe.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "auth/canonical_request.h"

namespace berth::auth {

// How far a request's clock may be off, either way.
inline constexpr absl::Duration kSkewMax = absl::Minutes(5);
inline constexpr size_t kAuthorizationBytesMax = 4096;
inline constexpr size_t kSignedHeadersMax = 64;
inline constexpr size_t kAccessKeyIdBytesMax = 128;
inline constexpr size_t kRegionBytesMax = 64;
inline constexpr size_t kCachedKeysMax = 16 * 1024;

enum class Problem {
  kMissingToken,         // no Authorization header
  kIncompleteSignature,  // it, or what goes with it, is malformed
  kUnrecognizedClient,   // no such key, or it was revoked
  kInvalidSignature,
};

struct Refusal {
  Problem problem = Problem::kInvalidSignature;
  std::string message = {};
};

// What came in. All of it outlives the call.
struct ReceivedRequest {
  std::string_view method;
  std::string_view target;  // as in the request line
  std::span<const Header> headers;
  std::string_view body;
};

// A request that says who signed it, well-formed and of this time.
struct Claim {
  std::string access_key_id = {};
  Scope scope = {};
  std::string string_to_sign = {};
  std::string signature = {};
  bool has_session_token = false;
};

std::variant<Claim, Refusal> ReadClaim(const ReceivedRequest& request, absl::Time now);

// Signing keys that were good once, so that the next request of the same key, day and region needs
// one HMAC and not five.
class SigningKeys {
 public:
  // Whether the claim's signature is the one that the secret makes, which is that of the key that
  // the claim names. Only right ones are remembered, so that nobody without a key fills the cache.
  bool Matches(const Claim& claim, const std::string& secret);

  // Of a key whose secret is no longer good.
  void Forget(std::string_view access_key_id);

 private:
  struct Entry {
    Scope scope = {};
    std::string signing_key = {};
  };
  absl::Mutex mutex_;
  // By access key id: its clients nearly always share one region.
  absl::flat_hash_map<std::string, Entry> keys_ ABSL_GUARDED_BY(mutex_);
};

// `secret` is the claimed key's; null when there is no such key: the work is done all the same, so
// that the time does not tell.
std::variant<std::monostate, Refusal> CheckClaim(const Claim& claim, const std::string* secret,
                                                 SigningKeys& keys);

}  // namespace berth::auth
