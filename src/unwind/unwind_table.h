#pragma once

// UnwindTable: the call frame information of one file, and the rules found so far.
// All processes that run the file share it.

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/address.h"
#include "base/file.h"
#include "unwind/architecture.h"
#include "unwind/frame_rules.h"

struct Elf;
struct Dwarf;
struct Dwarf_CFI_s;

namespace culprit {

class UnwindTable {
 public:
  /// Reads `file`, which is held open: not mapped, so that a file that shrinks does no harm.
  /// Errors: not ELF, another architecture, no unwind tables, tables of absurd size.
  static Result<UnwindTable> open(Fd file, const Architecture& architecture);
  UnwindTable(UnwindTable&&) noexcept;
  UnwindTable& operator=(UnwindTable&&) noexcept;
  ~UnwindTable();

  /// nullopt: no part of the file that is loaded holds the offset.
  [[nodiscard]] std::optional<LinkAddress> to_link_address(FileOffset offset) const;

  /// The rules at the instruction that holds `address`; nullptr: there are none. Valid until
  /// the next call.
  const FrameRules* find(LinkAddress address);

  /// A word of the file's bytes; nullopt: past its end.
  [[nodiscard]] std::optional<uint64_t> read_word(FileOffset offset) const;

 private:
  struct ElfEnd {
    void operator()(Elf* elf) const;
  };
  struct DwarfEnd {
    void operator()(Dwarf* dwarf) const;
  };
  struct CfiEnd {
    void operator()(Dwarf_CFI_s* cfi) const;
  };
  struct Segment {
    FileOffset begin;
    uint64_t size_bytes = 0;
    LinkAddress address;
  };

  UnwindTable() = default;
  Result<void> read_segments();
  Result<void> open_tables();
  std::optional<FrameRules> read_rules(LinkAddress address) const;

  Fd file_;
  const Architecture* architecture_ = nullptr;
  std::unique_ptr<Elf, ElfEnd> elf_;
  std::unique_ptr<Dwarf, DwarfEnd> dwarf_;
  std::unique_ptr<Dwarf_CFI_s, CfiEnd> eh_frame_;
  Dwarf_CFI_s* debug_frame_ = nullptr;  // belongs to dwarf_
  std::vector<Segment> segments_;
  std::unordered_map<LinkAddress, std::optional<FrameRules>> rules_;
};

}  // namespace culprit
