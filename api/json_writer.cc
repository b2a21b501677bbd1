#include "api/json_writer.h"

#include <charconv>
#include <cmath>

#include "absl/strings/str_format.h"
#include "model/check.h"

namespace berth::api {

namespace {

// The length of the UTF-8 sequence that `text` begins with; 0 when it is none.
size_t SequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  size_t length = 1;
  if (lead >= 0xF0) {
    length = 4;
  } else if (lead >= 0xE0) {
    length = 3;
  } else if (lead >= 0xC0) {
    length = 2;
  }
  const bool is_lead = lead < 0x80 || (lead >= 0xC2 && lead <= 0xF4);
  if (!is_lead || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Too long for their character, surrogates, and beyond the last character.
  if ((lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) > 0x9F) ||
      (lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) > 0x8F)) {
    return 0;
  }
  return length;
}

// The character at `at`, which has no short escape, and moves `at` to its last byte. What is not
// UTF-8, such as a reason that was cut in the middle of a character, must not spoil the answer.
void AppendOther(std::string_view text, size_t& at, std::string& out) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 0x20) {
    absl::StrAppendFormat(&out, "\\u%04x", static_cast<unsigned>(byte));
    return;
  }
  const size_t length = SequenceLength(text.substr(at));
  if (length == 0) {
    out += "\\ufffd";
    return;
  }
  out.append(text, at, length);
  at += length - 1;
}

}  // namespace

void JsonWriter::Separate() {
  if (!first_) out_ += ',';
  first_ = false;
}

void JsonWriter::BeginObject() {
  Separate();
  out_ += '{';
  first_ = true;
}

void JsonWriter::EndObject() {
  out_ += '}';
  first_ = false;
}

void JsonWriter::BeginArray() {
  Separate();
  out_ += '[';
  first_ = true;
}

void JsonWriter::EndArray() {
  out_ += ']';
  first_ = false;
}

void JsonWriter::Key(std::string_view name) {
  String(name);
  out_ += ':';
  first_ = true;
}

void JsonWriter::String(std::string_view value) {
  Separate();
  out_ += '"';
  for (size_t i = 0; i < value.size(); ++i) {
    switch (const char c = value[i]; c) {
      case '"':
        out_ += "\\\"";
        break;
      case '\\':
        out_ += "\\\\";
        break;
      case '\n':
        out_ += "\\n";
        break;
      case '\r':
        out_ += "\\r";
        break;
      case '\t':
        out_ += "\\t";
        break;
      default:
        AppendOther(value, i, out_);
    }
  }
  out_ += '"';
}

void JsonWriter::Int(int64_t value) {
  Separate();
  char text[24];
  const auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  out_.append(text, end);
}

void JsonWriter::Double(double value) {
  BERTH_CHECK(std::isfinite(value));
  Separate();
  char text[40];  // the shortest form that reads back the same
  const auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  out_.append(text, end);
}

void JsonWriter::Bool(bool value) {
  Separate();
  out_ += value ? "true" : "false";
}

void JsonWriter::Time(absl::Time value) {
  Separate();
  const int64_t ms = absl::ToUnixMillis(value);
  const char* sign = ms < 0 ? "-" : "";
  const uint64_t size = ms < 0 ? -static_cast<uint64_t>(ms) : static_cast<uint64_t>(ms);
  absl::StrAppendFormat(&out_, "%s%d.%03d", sign, size / 1000, size % 1000);
}

void JsonWriter::Raw(std::string_view json) {
  Separate();
  out_ += json;
}

void JsonWriter::RawMembers(std::string_view object) {
  BERTH_CHECK(object.size() >= 2 && object.front() == '{' && object.back() == '}');
  const std::string_view members = object.substr(1, object.size() - 2);
  if (!members.empty()) Raw(members);
}

void JsonWriter::OptionalString(std::string_view name, std::string_view value) {
  if (!value.empty()) String(name, value);
}

void JsonWriter::OptionalInt(std::string_view name, const std::optional<int64_t>& value) {
  if (value) Int(name, *value);
}

void JsonWriter::OptionalTime(std::string_view name, absl::Time value) {
  if (value != absl::InfinitePast()) Key(name), Time(value);
}

}  // namespace berth::api
