// Every limit of the server, by name. The defaults are what production runs with; tests make them
// small. What a limit is exceeded by always gets an answer that says so, or a closed connection
// where the protocol leaves no room for one.
#pragma once

#include <cstddef>

#include "absl/time/time.h"
#include "api/access/audit_limits.h"

namespace berth::api {

// The cluster loop and the committer behind it.
struct LoopLimits {
  // Commands waiting for the loop. One more is answered Unavailable.
  size_t queue_max = 8192;
  // Changes in one transaction. It keeps a transaction, and so the wait of its first reply, short.
  size_t batch_changes_max = 4096;
  // Changes decided and not yet durable. At this many the loop rests, and the queue fills behind
  // it.
  size_t uncommitted_changes_max = 64 * 1024;
  // A tick collects a bounded number of ended things (scheduler/retention.cc), so that this is what
  // decides how many a second are collected.
  absl::Duration tick_interval = absl::Milliseconds(100);
  // How long a reply waits for a store that fails or hangs. Longer than the second no SDK listens.
  absl::Duration read_wait_max = absl::Seconds(5);
  absl::Duration write_wait_max = absl::Seconds(60);
  // A failed commit is tried again after the first, which doubles up to the second.
  absl::Duration store_retry_first = absl::Milliseconds(100);
  absl::Duration store_retry_max = absl::Seconds(5);
};

// The HTTP listener.
struct HttpLimits {
  size_t connections_max = 10'000;
  size_t turned_away_max = 100;  // more connections, that are told so; beyond them they are cut
  size_t header_bytes_max = 16 * 1024;
  // The largest legal request is RegisterTaskDefinition: 64 KiB, six times that when every
  // character is escaped.
  size_t body_bytes_max = 1024 * 1024;
  // Bodies above the first share the second, over all connections, while they are read and answered:
  // nobody has shown a signature before the body is whole.
  size_t small_body_bytes_max = 16 * 1024;
  size_t large_bodies_bytes_max = 256 * 1024 * 1024;
  absl::Duration handshake_max = absl::Seconds(10);        // of TLS, from the connection on
  absl::Duration certificate_interval = absl::Seconds(5);  // between two looks at its files
  absl::Duration renewal_interval = absl::Hours(1);        // and at what is left of its time
  absl::Duration idle_max = absl::Seconds(120);            // between requests
  absl::Duration header_max = absl::Seconds(10);           // first byte to end of header
  absl::Duration body_max = absl::Seconds(30);             // end of header to end of body
  absl::Duration write_max = absl::Seconds(30);            // one response
  // After an error that ends a connection: how long, and how many bytes, the rest of the request is
  // read for, so that the answer is not lost to a reset.
  absl::Duration linger_max = absl::Seconds(2);
  size_t linger_bytes_max = 4 * 1024 * 1024;
  absl::Duration accept_pause =
      absl::Milliseconds(100);  // after accept failed, e.g. for want of files
};

// The agents' channel.
struct ChannelLimits {
  size_t message_bytes_max = 2 * 1024 * 1024;  // from an agent
  // To an agent, queued and not yet written. Beyond it the channel is closed; on reconnecting the
  // agent is sent what then holds.
  size_t outbound_bytes_max = 32 * 1024 * 1024;
  absl::Duration heartbeat_interval = absl::Seconds(25);
  int heartbeats_missed_max = 2;
  absl::Duration write_max = absl::Seconds(30);
  absl::Duration close_max = absl::Seconds(2);  // the closing handshake
  absl::Duration retry_delay = absl::Milliseconds(500);
};

// Commands that the server gives itself: emulated agents, acknowledgements.
struct PumpLimits {
  // In the loop's queue at a time, so that clients always find room there.
  size_t in_flight_max = 1024;
  absl::Duration retry_delay = absl::Milliseconds(200);
};

struct ServerLimits {
  LoopLimits loop = {};
  HttpLimits http = {};
  ChannelLimits channel = {};
  PumpLimits pump = {};
  AuditLimits audit = {};
};

}  // namespace berth::api
