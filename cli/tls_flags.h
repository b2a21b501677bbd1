// The flags of a server that say what https is served with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/settings.h"
#include "cli/setting_sources.h"

namespace berth::cli {

struct TlsFlags {
  std::string certificate = {};
  std::string key = {};
  bool self_signed = false;
  std::vector<std::string> names = {};

  bool on() const { return self_signed || !certificate.empty() || !key.empty(); }
};

void AddTlsFlags(CLI::App& command, SettingSources& sources, TlsFlags& flags);

// What else a certificate made at start has to be for.
struct ServedAs {
  std::string data_dir = {};
  std::string listen_host = {};      // a numeric address
  std::string public_endpoint = {};  // empty, or an URL
};

// Nothing when no flag asks for TLS. Throws UsageError where flags contradict each other.
std::optional<api::TlsSettings> MakeTlsSettings(const TlsFlags& flags, const ServedAs& served);

// What clients and agents have to be told, for a certificate of our own; else nothing.
std::string TlsHint(const api::TlsSettings& settings);

}  // namespace berth::cli
