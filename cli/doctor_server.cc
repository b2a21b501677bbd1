#include "cli/doctor_server.h"

#include <exception>
#include <string>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>

#include "absl/time/clock.h"
#include "agent/connect.h"
#include "agent/ecs_client.h"
#include "agent/server_access.h"

namespace berth::cli {
namespace {

namespace net = boost::asio;
using Verdict = Finding::Verdict;

constexpr absl::Duration kConnectMax = absl::Seconds(10);
constexpr absl::Duration kRenewBefore = absl::Hours(24 * 14);

// Not until the loop has nothing left to do: deadlines that were met are still waiting there.
template <class T>
T Await(net::io_context& loop, net::awaitable<T> work) {
  T result;
  std::exception_ptr thrown;
  net::co_spawn(loop, std::move(work), [&](std::exception_ptr error, T value) {
    thrown = error;
    result = std::move(value);
    loop.stop();
  });
  loop.run();
  if (thrown) std::rethrow_exception(thrown);
  return result;
}

// In words; the advice depends on what is wrong.
Finding CheckConnection(const agent::ServerAccess& access, const std::string& url) {
  Finding finding{.name = "server"};
  net::io_context loop;
  const absl::StatusOr<transport::Stream> stream =
      Await(loop, agent::ConnectTo(access.address, access.tls, absl::Now() + kConnectMax));
  if (!stream.ok()) {
    finding.verdict = Verdict::kProblem;
    finding.found = std::string(stream.status().message());
    finding.advice = absl::IsFailedPrecondition(stream.status())
                         ? "give the server's CA with --ca-file (DIR/ca.pem of a server with "
                           "--tls-self-signed), and call it by a name in its certificate"
                         : "see whether the server runs and --server names it";
    return finding;
  }
  finding.found = url + " can be reached";
  const std::optional<absl::Time> until = stream->PeerCertificateUntil();
  if (until) {
    finding.found += fmt::format("; its certificate is good until {}",
                                 absl::FormatTime("%Y-%m-%d", *until, absl::UTCTimeZone()));
    if (*until - absl::Now() < kRenewBefore) finding.advice = "the certificate ends soon: renew it";
  }
  return finding;
}

Finding CheckCall(const agent::ServerAccess& access) {
  Finding finding{.name = "credentials", .verdict = Verdict::kProblem};
  net::io_context loop;
  agent::EcsClient server(access);
  const absl::StatusOr<agent::ApiAnswer> answer =
      Await(loop, server.Call("DiscoverPollEndpoint", "{}"));
  if (!answer.ok()) {
    finding.found = std::string(answer.status().message());
    return finding;
  }
  if (!answer->ok()) {
    finding.found = "the server refuses a call: " + agent::Describe(*answer);
    finding.advice = server.Advice(agent::Describe(*answer));
    return finding;
  }
  finding.verdict = Verdict::kOk;
  if (access.credentials == nullptr) {
    finding.found = "the server takes requests without a signature";
  } else {
    finding.found =
        fmt::format("the server takes the key {} of {}",
                    access.credentials->Current().access_key_id, access.credentials->Describe());
  }
  return finding;
}

}  // namespace

std::vector<Finding> CheckServer(const agent::AgentSettings& settings) {
  const absl::StatusOr<agent::ServerAccess> access = agent::MakeServerAccess(settings);
  if (!access.ok()) {
    return {{.name = "server",
             .verdict = Verdict::kProblem,
             .found = std::string(access.status().message())}};
  }
  Finding connection = CheckConnection(*access, settings.server);
  if (connection.verdict == Verdict::kProblem) return {std::move(connection)};
  return {std::move(connection), CheckCall(*access)};
}

}  // namespace berth::cli
