// Making an access key: an id and a secret that nobody can guess, in the form of AWS's, which
// clients and scanners know.
#pragma once

#include "auth/sigv4.h"

namespace berth::auth {

inline constexpr size_t kKeyIdLength = 20;   // "AKIA" and 16 of A-Z and 2-7
inline constexpr size_t kSecretLength = 40;  // of A-Z, a-z, 0-9, + and /: 240 bits

Credentials NewAccessKey();

}  // namespace berth::auth
