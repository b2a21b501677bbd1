#include "cli/tls_flags.h"

#include <charconv>
#include <filesystem>
#include <string_view>

#include <arpa/inet.h>
#include <fmt/format.h>

#include "absl/strings/ascii.h"
#include "agent/connect.h"
#include "transport/self_signed.h"

namespace berth::cli {
namespace {

constexpr size_t kNameMax = 253;
constexpr size_t kLabelMax = 63;
constexpr int kPortMax = 65535;

bool IsAddress(const std::string& text) {
  in_addr v4{};
  in6_addr v6{};
  return inet_pton(AF_INET, text.c_str(), &v4) == 1 || inet_pton(AF_INET6, text.c_str(), &v6) == 1;
}

// A host's name in DNS, or one for all hosts of a domain ("*.berth.example").
bool IsHostName(std::string_view name) {
  if (name.empty() || name.size() > kNameMax) return false;
  if (name.find_first_not_of("0123456789.") == std::string_view::npos) return false;
  if (name.substr(0, 2) == "*.") name.remove_prefix(2);
  while (true) {
    const std::string_view label = name.substr(0, name.find('.'));
    if (label.empty() || label.size() > kLabelMax || label.front() == '-' || label.back() == '-') {
      return false;
    }
    for (const char c : label) {
      if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_') return false;
    }
    if (label.size() == name.size()) return true;
    name.remove_prefix(label.size() + 1);
  }
}

// The official agent wants a name with its port (docs/tls.md).
bool IsCertificateName(const std::string& name) {
  if (IsAddress(name)) return true;
  const size_t colon = name.find(':');
  if (colon == std::string::npos) return IsHostName(name);
  int port = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + colon + 1, end, port);
  const bool is_port = error == std::errc() && stop == end && port > 0 && port <= kPortMax;
  const std::string host = name.substr(0, colon);
  return is_port && (IsAddress(host) || IsHostName(host));
}

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
    for (const std::string& name : flags.names) {
      if (IsCertificateName(name)) continue;
      throw UsageError(
          fmt::format("--tls-name: '{}' is neither a host's name, such as berth.example or "
                      "*.berth.example, nor an address, such as 10.0.0.7",
                      name));
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
