#include "agent/docker/pause_image.h"

#include <array>
#include <cstdint>
#include <cstring>

#include "absl/strings/str_format.h"

namespace berth::agent {

namespace {

constexpr uint64_t kLoadAddress = 0x400000;
constexpr size_t kElfHeaderBytes = 64;
constexpr size_t kProgramHeaderBytes = 56;
constexpr size_t kTarBlockBytes = 512;

constexpr uint16_t kMachineX86_64 = 62;
constexpr uint16_t kMachineAarch64 = 183;

constexpr std::array<uint8_t, 9> kCodeX86_64 = {
    0xb8, 0x22, 0x00, 0x00, 0x00,  // again: mov eax, 34 (pause)
    0x0f, 0x05,                    //        syscall
    0xeb, 0xf7,                    //        jmp again
};

// aarch64 has no pause; ppoll with nothing to wait for and no timeout is the same.
constexpr std::array<uint8_t, 32> kCodeAarch64 = {
    0x00, 0x00, 0x80, 0xd2,  // again: mov x0, #0
    0x01, 0x00, 0x80, 0xd2,  //        mov x1, #0
    0x02, 0x00, 0x80, 0xd2,  //        mov x2, #0
    0x03, 0x00, 0x80, 0xd2,  //        mov x3, #0
    0x04, 0x00, 0x80, 0xd2,  //        mov x4, #0
    0x28, 0x09, 0x80, 0xd2,  //        mov x8, #73 (ppoll)
    0x01, 0x00, 0x00, 0xd4,  //        svc #0
    0xf9, 0xff, 0xff, 0x17,  //        b again
};

// Little-endian, as both machines are.
template <class Integer>
void Append(std::string& out, Integer value) {
  for (size_t i = 0; i < sizeof(value); ++i) {
    out.push_back(static_cast<char>((static_cast<uint64_t>(value) >> (8 * i)) & 0xff));
  }
}

// The least that Linux loads: one header, one segment that holds the whole file.
template <size_t N>
std::string Program(uint16_t machine, const std::array<uint8_t, N>& code) {
  const uint64_t size = kElfHeaderBytes + kProgramHeaderBytes + N;
  std::string out(
      "\x7f"
      "ELF\x02\x01\x01",
      7);  // 64 bits, little-endian, version 1
  out.append(9, '\0');
  Append<uint16_t>(out, 2);  // an executable
  Append<uint16_t>(out, machine);
  Append<uint32_t>(out, 1);
  Append<uint64_t>(out, kLoadAddress + kElfHeaderBytes + kProgramHeaderBytes);  // entry
  Append<uint64_t>(out, kElfHeaderBytes);  // where the program header is
  Append<uint64_t>(out, 0);                // no sections
  Append<uint32_t>(out, 0);
  Append<uint16_t>(out, kElfHeaderBytes);
  Append<uint16_t>(out, kProgramHeaderBytes);
  Append<uint16_t>(out, 1);
  Append<uint16_t>(out, 0);
  Append<uint16_t>(out, 0);
  Append<uint16_t>(out, 0);
  Append<uint32_t>(out, 1);  // to be loaded
  Append<uint32_t>(out, 5);  // readable and executable
  Append<uint64_t>(out, 0);
  Append<uint64_t>(out, kLoadAddress);
  Append<uint64_t>(out, kLoadAddress);
  Append<uint64_t>(out, size);
  Append<uint64_t>(out, size);
  Append<uint64_t>(out, 0x1000);
  out.append(reinterpret_cast<const char*>(code.data()), code.size());
  return out;
}

std::string Tar(const std::string& name, const std::string& content) {
  std::string header(kTarBlockBytes, '\0');
  const auto put = [&header](size_t offset, const std::string& text) {
    std::memcpy(header.data() + offset, text.data(), text.size());
  };
  put(0, name);
  put(100, "0000755");
  put(108, "0000000");
  put(116, "0000000");
  put(124, absl::StrFormat("%011o", content.size()));
  put(136, "00000000000");  // the epoch: the same image wherever it is made
  put(148, "        ");
  header[156] = '0';
  put(257, "ustar");
  put(263, "00");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put(148, absl::StrFormat("%06o", sum));
  header[154] = '\0';

  std::string tar = header + content;
  tar.append((kTarBlockBytes - tar.size() % kTarBlockBytes) % kTarBlockBytes, '\0');
  tar.append(2 * kTarBlockBytes, '\0');
  return tar;
}

}  // namespace

std::optional<std::string> PauseImageTar(std::string_view architecture) {
  if (architecture == "x86_64") return Tar("pause", Program(kMachineX86_64, kCodeX86_64));
  if (architecture == "aarch64") return Tar("pause", Program(kMachineAarch64, kCodeAarch64));
  return std::nullopt;
}

}  // namespace berth::agent
