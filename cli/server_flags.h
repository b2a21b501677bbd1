// The flags of a server, shared by `berth server` and `berth dev`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "api/settings.h"
#include "cli/setting_sources.h"
#include "cli/tls_flags.h"
#include "storage/store.h"

namespace berth::cli {

struct ServerFlags {
  std::string listen = "127.0.0.1:8080";
  std::string data = "berth-data";
  std::string auth = "sigv4";
  bool insecure_http = false;
  std::string agent_access = {};
  std::string throttle = {};  // empty: the defaults
  bool audit_reads = false;
  TlsFlags tls = {};
  std::string region = "us-east-1";
  std::string account = "000000000000";
  std::string availability_zone = "local-1a";
  std::string public_endpoint = {};
  bool emulate_agents = false;
  std::string stopped_task_retention = "24h";
  int64_t stopped_tasks_max = 1'000'000;
  std::string gpu_policy = "worth";
};

// Those that both commands have.
void AddServerFlags(CLI::App& command, SettingSources& sources, ServerFlags& flags);

// Throws UsageError where flags contradict each other, --auth and --listen above all.
api::ServerSettings MakeServerSettings(const ServerFlags& flags);

inline constexpr char kDatabaseFile[] = "berth.db";

// Opens DIR/berth.db, and makes both where they are not there. Throws std::runtime_error, also
// where the database is gone and the keys to it are still there: to go on without it would look
// like a first start, and every agent would be told that its instance is unknown.
std::unique_ptr<storage::Store> OpenStore(const std::string& data_dir);

}  // namespace berth::cli
