#pragma once

// ElfFile: the outside of an ELF file, read from memory: what it is, who it is
// (build-id), how its bytes map to addresses, and its sections, decompressed.
//
// Built on libelf, which wants to write into section headers when it
// decompresses; files with compressed sections are therefore copied once.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "base/result.h"

struct Elf;

namespace culprit {

/// Bytes [begin, begin + size) of the file are loaded at `address`.
struct ElfSegment {
  FileOffset begin;
  uint64_t size_bytes = 0;
  LinkAddress address;
  bool executable = false;
};

/// Where the debug information of a stripped file is (.gnu_debuglink).
struct DebugLink {
  std::string name;  // without folder
  uint32_t crc = 0;  // of the whole debug file
};

/// What dwz moved into a file shared by several (.gnu_debugaltlink).
struct AltLink {
  std::string path;      // absolute, or relative to the debug file
  std::string build_id;  // lower-case hexadecimal
};

/// What sections of a file of so many bytes may claim to be without compression. What is honest
/// shrinks to a fifth or so; string sections of generated code to a twentieth.
inline constexpr uint64_t limit_inflated_bytes(uint64_t file_bytes) {
  return file_bytes * 64 + (uint64_t{256} << 20);
}

enum class ElfKind : uint8_t { program, library, relocatable, other };

class ElfFile {
 public:
  /// `bytes` must outlive the ElfFile. Errors: not ELF, or headers past the end.
  static Result<ElfFile> open(std::span<const std::byte> bytes);
  ElfFile(ElfFile&&) noexcept;
  ElfFile& operator=(ElfFile&&) noexcept;
  ~ElfFile();

  /// "x86_64", "aarch64", ... as `uname -m` prints; "machine N" where we know no name.
  [[nodiscard]] std::string architecture() const;
  [[nodiscard]] ElfKind kind() const;
  /// Lower-case hexadecimal; "" if the file has none.
  [[nodiscard]] const std::string& build_id() const { return build_id_; }
  /// PT_LOAD segments with bytes in the file, by address.
  [[nodiscard]] const std::vector<ElfSegment>& segments() const { return segments_; }
  [[nodiscard]] std::optional<DebugLink> debug_link() const;
  [[nodiscard]] std::optional<AltLink> alt_link() const;

  [[nodiscard]] std::optional<LinkAddress> to_link_address(FileOffset offset) const;
  [[nodiscard]] std::optional<FileOffset> to_file_offset(LinkAddress address) const;
  /// Bytes of [begin, end) as loaded; cut at the end of the segment.
  [[nodiscard]] std::span<const std::byte> loaded_bytes(LinkAddress begin, LinkAddress end) const;

  /// Content of the first section with this name, decompressed; nullopt if there is none,
  /// or none with bytes (SHT_NOBITS).
  [[nodiscard]] std::optional<std::span<const std::byte>> section(std::string_view name) const;
  /// Where that section is loaded; 0 if it is not, or does not exist.
  [[nodiscard]] LinkAddress section_address(std::string_view name) const;
  /// Size of .debug_info as stored (compressed or not); 0: no debug information here.
  [[nodiscard]] uint64_t debug_info_bytes() const;
  [[nodiscard]] bool has_symbol_table() const;
  /// False for debug files: they have the headers of the code sections, but not the code.
  [[nodiscard]] bool has_code() const;

  /// libelf's handle, for symbols.cc and debug_info.cc. Not for use by two threads.
  [[nodiscard]] ::Elf* handle() const { return elf_.get(); }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  struct ElfEnd {
    void operator()(::Elf* elf) const;
  };
  ElfFile() = default;
  Result<void> read_headers();
  [[nodiscard]] Result<bool> has_compressed_sections() const;

  std::span<const std::byte> bytes_;
  std::vector<std::byte> copy_;  // of files with compressed sections; a span of it is bytes_
  std::unique_ptr<::Elf, ElfEnd> elf_;
  std::vector<ElfSegment> segments_;
  std::string build_id_;
};

/// GNU build-id of a sequence of ELF notes (a PT_NOTE segment, /sys/kernel/notes).
std::string parse_build_id_notes(std::span<const std::byte> notes);

/// CRC-32 as .gnu_debuglink uses it.
uint32_t compute_debug_link_crc(std::span<const std::byte> file);

}  // namespace culprit
