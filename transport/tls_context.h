// Apart from tls.h because OpenSSL's and Asio's headers are slow to compile.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/ssl/context.hpp>

#include "absl/time/time.h"
#include "transport/net.h"

namespace berth::transport {

struct TlsContext {
  explicit TlsContext(net::ssl::context::method method) : ssl(method) {}
  net::ssl::context ssl;
  std::string ca_file = {};  // a client's, for messages
};

// An ASN.1 time; nothing when it is malformed.
std::optional<absl::Time> EndOf(const ASN1_TIME* time);

// For whatever reads PEM: gives no passphrase, and notes in `asked`, a bool, that one was needed.
// Without a callback of its own OpenSSL asks at the terminal, and nothing else goes on until then.
int GiveNoPassphrase(char* buffer, int size, int writing, void* asked);

// The oldest error in OpenSSL's queue of this thread, in words; empties the queue.
std::string TakeOpenSslError();

}  // namespace berth::transport
