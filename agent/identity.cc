#include "agent/identity.h"

#include <array>

#include <openssl/rand.h>

#include "absl/strings/str_format.h"
#include "agent/json_parts.h"
#include "model/check.h"

namespace berth::agent {

namespace {

constexpr int64_t kFormat = 1;

}  // namespace

std::string EncodeIdentity(const Identity& identity) {
  json::Builder out;
  out.Object();
  out.Member("format", kFormat);
  out.Member("agentId", identity.agent_id);
  out.Member("cluster", identity.cluster);
  out.Member("containerInstanceArn", identity.instance_arn);
  out.Member("ec2InstanceId", identity.ec2_instance_id);
  out.Member("manifestNumber", identity.manifest_number);
  out.EndObject();
  return out.Text();
}

absl::StatusOr<Identity> DecodeIdentity(std::string_view text) {
  json::Document document;
  const absl::Status parsed = ParseStateDocument(text, kFormat, document);
  if (!parsed.ok()) return parsed;
  Identity identity;
  identity.agent_id = json::StringOr(document, "agentId");
  identity.cluster = json::StringOr(document, "cluster");
  identity.instance_arn = json::StringOr(document, "containerInstanceArn");
  identity.ec2_instance_id = json::StringOr(document, "ec2InstanceId");
  identity.manifest_number = json::FindInt(document, "manifestNumber").value_or(-1);
  if (identity.agent_id.empty() || identity.cluster.empty()) {
    return absl::DataLossError("agentId or cluster is missing");
  }
  return identity;
}

std::string NewUuid() {
  std::array<unsigned char, 16> bytes = {};
  BERTH_CHECK(::RAND_bytes(bytes.data(), bytes.size()) == 1);
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  std::string uuid;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) uuid.push_back('-');
    absl::StrAppendFormat(&uuid, "%02x", bytes[i]);
  }
  return uuid;
}

}  // namespace berth::agent
