#pragma once

// The code of one function as instructions and basic blocks, from the bytes that
// the facts hold. Addresses are link addresses, as objdump prints them.

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "attribute/recorded_branches.h"
#include "base/result.h"
#include "code/blocks.h"
#include "code/decoder/decoder.h"
#include "code/instruction.h"
#include "model/image_facts.h"

namespace culprit {

struct Disassembly {
  FileOffset begin;  // of the range asked for, and its link address:
  LinkAddress link_begin;
  std::vector<Instruction> instructions;  // ascending; gaps where the facts have no bytes
  std::vector<Block> blocks;

  [[nodiscard]] LinkAddress to_link(FileOffset offset) const {
    return link_begin + (offset - begin);
  }
  [[nodiscard]] FileOffset to_offset(LinkAddress address) const {
    return begin + (address - link_begin);
  }
};

/// The jumps from [begin, end) whose targets the instructions do not say.
std::span<const JumpFact> find_jumps(const ImageFacts& facts, FileOffset begin, FileOffset end);

/// Decodes code of one image; starts LLVM at the first call.
class Disassembler {
 public:
  /// `facts` must outlive the Disassembler.
  explicit Disassembler(const ImageFacts& facts, Syntax syntax = Syntax::att);

  /// The code of [begin, end); an error where the facts hold none of it, or for an
  /// architecture that cannot be decoded. `recorded`: taken branches from there; where its
  /// indirect jumps went, blocks begin.
  Result<Disassembly> disassemble(FileOffset begin, FileOffset end, Detail detail = Detail::text,
                                  std::span<const RecordedBranch> recorded = {});

  /// The machine code at [begin, begin + size_bytes); empty unless the facts hold all of it.
  [[nodiscard]] std::string_view find_bytes(FileOffset begin, uint64_t size_bytes) const;

 private:
  const ImageFacts& facts_;
  Syntax syntax_;
  std::vector<const CodeFact*> stretches_;  // in order of begin
  std::optional<Result<Decoder>> decoder_;
};

}  // namespace culprit
