#pragma once

// For tests: a tiny ELF file with unwind tables written by hand, as bytes of the DWARF and
// LSB specifications, so that expected frames can be calculated on paper.
//
//   offset  0x0000  ELF header, 2 program headers       loaded at 0x10000
//           0x0100  .eh_frame_hdr (without search table)
//           0x0110  .eh_frame: one CIE, then the FDEs
//           0x1000  code (nothing there)                loaded at 0x11000

#include <cstring>
#include <elf.h>
#include <optional>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include "base/file.h"

namespace culprit {

class MadeElf {
 public:
  static constexpr uint64_t kLoadedAt = 0x10000;
  static constexpr uint64_t kCode = 0x1000;  // file offset
  static constexpr uint64_t kSize = 0x2000;

  /// `initial`: the CIE's instructions; data alignment -8, code alignment 1.
  MadeElf(uint16_t machine, uint8_t return_address, const std::string& initial,
          const std::string& augmentation = "zR")
      : machine_(machine) {
    std::string cie = word(0) + '\1' + augmentation + '\0' + '\1' + '\x78';
    cie += static_cast<char>(return_address);
    cie += std::string("\1\0", 2) + initial;  // one byte of data: pointers are absolute
    add_entry(cie);
  }

  /// Code [begin, end), as offsets from the code's start, follows `instructions`.
  void add_function(uint64_t begin, uint64_t end, const std::string& instructions) {
    std::string fde = word(static_cast<uint32_t>(frames_.size() + 4));  // back to the CIE
    fde += number(kLoadedAt + kCode + begin) + number(end - begin) + '\0' + instructions;
    add_entry(fde);
  }

  [[nodiscard]] std::string bytes() const {
    std::string file(kSize, '\0');
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_DYN;
    header.e_machine = machine_;
    header.e_version = EV_CURRENT;
    header.e_phoff = sizeof header;
    header.e_ehsize = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 2;
    const Elf64_Phdr segments[] = {
        {PT_LOAD, PF_R | PF_X, 0, kLoadedAt, kLoadedAt, kSize, kSize, 0x1000},
        {PT_GNU_EH_FRAME, PF_R, 0x100, kLoadedAt + 0x100, kLoadedAt + 0x100, 8, 8, 4}};
    std::memcpy(file.data(), &header, sizeof header);
    std::memcpy(file.data() + sizeof header, segments, sizeof segments);
    // Version, pc-relative 4-byte pointer to .eh_frame, no count, no table; the pointer is at
    // 0x104.
    const std::string table_header = std::string("\1\x1b\xff\xff", 4) + word(0x110 - 0x104);
    file.replace(0x100, table_header.size(), table_header);
    file.replace(0x110, frames_.size(), frames_);
    return file;
  }

  static std::optional<Fd> open(const std::string& bytes) {
    Fd file(::memfd_create("made", MFD_CLOEXEC));
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    return written == static_cast<ssize_t>(bytes.size()) ? std::optional(std::move(file))
                                                         : std::nullopt;
  }

 private:
  static std::string word(uint32_t value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
  }
  static std::string number(uint64_t value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
  }
  void add_entry(std::string entry) {
    entry.resize((entry.size() + 3) / 4 * 4, '\0');  // DW_CFA_nop
    frames_ += word(static_cast<uint32_t>(entry.size())) + entry;
  }

  uint16_t machine_;
  std::string frames_;
};

}  // namespace culprit
