#include "auth/canonical_request.h"

#include <algorithm>
#include <optional>

#include "auth/hmac.h"

namespace berth::auth {
namespace {

bool IsUnreserved(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

void AppendEncoded(std::string& out, std::string_view text, bool keep_slashes) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  for (const char c : text) {
    if (IsUnreserved(c) || (keep_slashes && c == '/')) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    }
  }
}

std::optional<int> HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

// A percent sign that no two hex digits follow stands for itself.
std::string DecodedForm(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      out += ' ';
      continue;
    }
    if (text[i] == '%' && i + 2 < text.size()) {
      const std::optional<int> high = HexValue(text[i + 1]);
      const std::optional<int> low = HexValue(text[i + 2]);
      if (high && low) {
        out += static_cast<char>(*high * 16 + *low);
        i += 2;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

std::string Reencoded(std::string_view text) {
  std::string out;
  AppendEncoded(out, DecodedForm(text), false);
  return out;
}

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

char ToLower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::string Scope::ToString() const {
  return date + "/" + region + "/" + service + "/" + kTerminator;
}

std::string CanonicalPath(std::string_view path) {
  std::vector<std::string_view> kept;
  size_t begin = 0;
  while (begin <= path.size()) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (part == "..") {
      if (!kept.empty()) kept.pop_back();
    } else if (!part.empty() && part != ".") {
      kept.push_back(part);
    }
    begin = end + 1;
  }
  std::string out;
  for (const std::string_view part : kept) {
    out += '/';
    AppendEncoded(out, part, false);
  }
  if (out.empty() || path.back() == '/') out += '/';
  return out;
}

std::string CanonicalQuery(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> members;
  while (!query.empty()) {
    const size_t end = std::min(query.find('&'), query.size());
    const std::string_view member = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (member.empty()) continue;
    const size_t equals = std::min(member.find('='), member.size());
    const std::string_view value =
        equals < member.size() ? member.substr(equals + 1) : std::string_view();
    members.emplace_back(Reencoded(member.substr(0, equals)), Reencoded(value));
  }
  std::sort(members.begin(), members.end());
  std::string out;
  for (const auto& [name, value] : members) {
    if (!out.empty()) out += '&';
    out += name + "=" + value;
  }
  return out;
}

std::string CanonicalValue(std::string_view value) {
  std::string out;
  out.reserve(value.size());
  for (const char c : value) {
    if (!IsBlank(c)) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  if (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::vector<Header> CanonicalHeaders(std::span<const Header> headers) {
  std::vector<Header> sorted;
  sorted.reserve(headers.size());
  for (const auto& [name, value] : headers) {
    std::string lower(name);
    std::transform(lower.begin(), lower.end(), lower.begin(), ToLower);
    sorted.emplace_back(std::move(lower), CanonicalValue(value));
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Header& a, const Header& b) { return a.first < b.first; });
  std::vector<Header> out;
  out.reserve(sorted.size());
  for (Header& header : sorted) {
    if (!out.empty() && out.back().first == header.first) {
      out.back().second += "," + header.second;
    } else {
      out.push_back(std::move(header));
    }
  }
  return out;
}

std::string SignedHeaderNames(std::span<const Header> headers) {
  std::string out;
  for (const auto& [name, value] : headers) {
    if (!out.empty()) out += ';';
    out += name;
  }
  return out;
}

std::string CanonicalRequest(const CanonicalParts& parts) {
  const size_t question = std::min(parts.target.find('?'), parts.target.size());
  std::string out(parts.method);
  out += '\n';
  out += CanonicalPath(parts.target.substr(0, question));
  out += '\n';
  if (question < parts.target.size()) out += CanonicalQuery(parts.target.substr(question + 1));
  out += '\n';
  for (const auto& [name, value] : parts.headers) {
    out += name;
    out += ':';
    out += value;
    out += '\n';
  }
  out += '\n';
  out += SignedHeaderNames(parts.headers);
  out += '\n';
  out += parts.payload_hash;
  return out;
}

std::string StringToSign(std::string_view amz_date, const Scope& scope,
                         std::string_view canonical_request) {
  std::string out = kAlgorithm;
  out += '\n';
  out += amz_date;
  out += '\n';
  out += scope.ToString();
  out += '\n';
  out += Sha256Hex(canonical_request);
  return out;
}

std::string DeriveSigningKey(std::string_view secret, const Scope& scope) {
  const std::string date_key = HmacSha256("AWS4" + std::string(secret), scope.date);
  const std::string region_key = HmacSha256(date_key, scope.region);
  const std::string service_key = HmacSha256(region_key, scope.service);
  return HmacSha256(service_key, kTerminator);
}

std::string Signature(std::string_view signing_key, std::string_view string_to_sign) {
  return ToHex(HmacSha256(signing_key, string_to_sign));
}

}  // namespace berth::auth
