#include "snapshot/block_facts.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "code/blocks.h"
#include "code/decoder/decoder.h"
#include "snapshot/jump_facts.h"

namespace culprit {
namespace {

/// The code of a function in one piece; empty where the facts have none from its begin on.
std::string_view find_code(const std::vector<CodeFact>& code, const FunctionFact& function) {
  const auto after = std::upper_bound(
      code.begin(), code.end(), function.begin,
      [](FileOffset offset, const CodeFact& stretch) { return offset < stretch.begin; });
  if (after == code.begin()) return {};
  const CodeFact& stretch = *std::prev(after);
  const uint64_t skipped = function.begin - stretch.begin;
  if (skipped >= stretch.bytes.size()) return {};
  return std::string_view(stretch.bytes).substr(skipped, function.end - function.begin);
}

}  // namespace

void add_block_facts(const ElfFile& elf, const Symbols& symbols, ImageFacts& facts) {
  facts.blocks.clear();
  facts.jumps.clear();
  if (facts.functions.empty() || facts.code.empty()) return;
  const Result<Decoder> decoder = Decoder::make(facts.architecture);
  if (!decoder) return;
  JumpFinder finder(elf, symbols, *decoder);
  for (const FunctionFact& function : facts.functions) {
    const std::string_view bytes = find_code(facts.code, function);
    const LinkAddress start = to_link_address(facts, function.begin);
    const std::vector<Instruction> code = decoder->decode(bytes, start, Detail::flow);
    std::vector<LinkAddress> leaders;
    for (const JumpFinder::Jump& jump : finder.find(bytes, code)) {
      facts.jumps.push_back({function.begin + (jump.from - start),
                             FileOffset(function.begin.value + (jump.to.value - start.value)),
                             jump.kind});
      leaders.push_back(jump.to);
    }
    for (const Block& block : find_blocks(code, leaders)) {
      facts.blocks.push_back(
          {function.begin + (block.begin - start), static_cast<uint32_t>(block.end - block.begin)});
    }
  }
}

}  // namespace culprit
