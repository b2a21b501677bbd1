#include "cli/tls_flags.h"

#include <filesystem>

#include <fmt/format.h>

#include "agent/connect.h"
#include "transport/self_signed.h"

namespace berth::cli {
namespace {

bool IsUnspecified(const std::string& address) { return address == "0.0.0.0" || address == "::"; }

}  // namespace

void AddTlsFlags(CLI::App& command, SettingSources& sources, TlsFlags& flags) {
  sources.FromEnvironment(
      command
          .add_option(
              "--tls-certificate", flags.certificate,
              "Serve https with this certificate in PEM, followed by those that lead to its "
              "authority; read again when it changes")
          ->type_name("FILE"),
      {"BERTH_TLS_CERTIFICATE"});
  sources.FromEnvironment(
      command.add_option("--tls-key", flags.key, "Its key in PEM")->type_name("FILE"),
      {"BERTH_TLS_KEY"});
  sources.FromEnvironment(
      command.add_flag(
          "--tls-self-signed", flags.self_signed,
          "Serve https with a certificate that is made at first start, and renewed, by "
          "an authority of its own: DIR/ca.pem, for clients and agents to trust"),
      {"BERTH_TLS_SELF_SIGNED"});
  sources.FromEnvironment(
      command
          .add_option(
              "--tls-name", flags.names,
              "A further name or address that the self-signed certificate is for; repeatable")
          ->type_name("NAME"),
      {"BERTH_TLS_NAME"});
}

std::optional<api::TlsSettings> MakeTlsSettings(const TlsFlags& flags, const ServedAs& served) {
  if (!flags.on()) {
    if (!flags.names.empty()) {
      throw UsageError("--tls-name: only --tls-self-signed makes a certificate for it");
    }
    return std::nullopt;
  }
  if (flags.self_signed) {
    if (!flags.certificate.empty() || !flags.key.empty()) {
      throw UsageError(
          "--tls-self-signed makes a certificate and a key; leave out --tls-certificate and "
          "--tls-key, or --tls-self-signed");
    }
    std::vector<std::string> names = flags.names;
    if (!IsUnspecified(served.listen_host)) names.push_back(served.listen_host);
    if (!served.public_endpoint.empty()) {
      const auto address = agent::ParseHttpUrl(served.public_endpoint);
      if (!address.ok()) {
        throw UsageError("--public-endpoint: " + std::string(address.status().message()));
      }
      names.push_back(address->host);
    }
    const auto files = transport::SelfSignedFilesIn(served.data_dir);
    return api::TlsSettings{.certificate_file = files.certificate,
                            .key_file = files.key,
                            .self_signed_folder = served.data_dir,
                            .names = transport::SelfSignedNames(names)};
  }
  if (flags.certificate.empty() || flags.key.empty()) {
    throw UsageError("--tls-certificate and --tls-key belong together: give both");
  }
  if (!flags.names.empty()) {
    throw UsageError("--tls-name: the certificate of --tls-certificate has its own names");
  }
  return api::TlsSettings{.certificate_file = flags.certificate, .key_file = flags.key};
}

std::string TlsHint(const api::TlsSettings& settings) {
  if (settings.self_signed_folder.empty()) return "";
  std::error_code error;
  const std::string ca = transport::SelfSignedFilesIn(settings.self_signed_folder).ca;
  const std::filesystem::path path = std::filesystem::absolute(ca, error);
  return fmt::format(
      "its certificate is signed by {0}: AWS_CA_BUNDLE={0} for clients, NODE_EXTRA_CA_CERTS={0} "
      "for "
      "node, --ca-file {0} for agents",
      error ? ca : path.string());
}

}  // namespace berth::cli
