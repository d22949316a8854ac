#pragma once

// Where control goes that instructions do not say: jumps by tables, calls that never come back.
// Both stand outside of the function (tables, the callee's code), so they are found while the
// binary is at hand.

#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "binary/relative_relocations.h"
#include "binary/symbols.h"
#include "code/decoder/decoder.h"
#include "model/image_facts.h"

namespace culprit {

class JumpFinder {
 public:
  /// All must outlive it.
  JumpFinder(const ElfFile& elf, const Symbols& symbols, const Decoder& decoder)
      : elf_(elf), symbols_(symbols), decoder_(decoder) {}

  struct Jump {
    LinkAddress from;
    LinkAddress to;
    JumpKind kind = JumpKind::complete;
  };
  /// Jumps of a function whose machine code is `bytes`, in order of `from`, then `to`.
  std::vector<Jump> find(std::string_view bytes, const std::vector<Instruction>& instructions);

 private:
  std::optional<uint64_t> read(LinkAddress at, uint8_t bytes);
  void find_tables(std::string_view bytes, const std::vector<Instruction>& instructions,
                   std::vector<Jump>& jumps);
  bool never_returns(LinkAddress callee);
  bool has_no_way_back(const Symbol& function);
  bool never_returns_by_name(LinkAddress callee);

  const ElfFile& elf_;
  const Symbols& symbols_;
  const Decoder& decoder_;
  std::optional<RelativeRelocations> relocations_;
  std::map<LinkAddress, bool> judged_by_name_;
  std::map<LinkAddress, bool> judged_;  // callees, by their code
};

}  // namespace culprit
