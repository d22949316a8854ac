#include "attribute/disassembly.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "code/find_instruction.h"

namespace culprit {

std::span<const JumpFact> find_jumps(const ImageFacts& facts, FileOffset begin, FileOffset end) {
  const auto before = [](const JumpFact& jump, FileOffset at) { return jump.from < at; };
  const auto first = std::lower_bound(facts.jumps.begin(), facts.jumps.end(), begin, before);
  return {first, std::lower_bound(first, facts.jumps.end(), std::max(begin, end), before)};
}

Disassembler::Disassembler(const ImageFacts& facts, Syntax syntax)
    : facts_(facts), syntax_(syntax) {
  stretches_.reserve(facts.code.size());
  for (const CodeFact& stretch : facts.code) stretches_.push_back(&stretch);
  std::sort(stretches_.begin(), stretches_.end(), [](const CodeFact* a, const CodeFact* b) {
    return a->begin != b->begin ? a->begin < b->begin : std::less<>()(a, b);
  });
}

Result<Disassembly> Disassembler::disassemble(FileOffset begin, FileOffset end, Detail detail,
                                              std::span<const RecordedBranch> recorded) {
  Disassembly result;
  result.begin = begin;
  result.link_begin = to_link_address(facts_, begin);
  FileOffset next = begin;  // everything before it is decoded, or has no bytes
  auto at = std::upper_bound(
      stretches_.begin(), stretches_.end(), begin,
      [](FileOffset offset, const CodeFact* stretch) { return offset < stretch->begin; });
  if (at != stretches_.begin()) --at;
  for (; at != stretches_.end() && (*at)->begin < end; ++at) {
    const CodeFact& stretch = **at;
    const FileOffset from = std::max(next, stretch.begin);
    const uint64_t skipped = from - stretch.begin;
    if (from >= end || skipped >= stretch.bytes.size()) continue;
    if (!decoder_) decoder_.emplace(Decoder::make(facts_.architecture, syntax_));
    if (!decoder_->has_value()) return decoder_->error();
    const std::string_view bytes = std::string_view(stretch.bytes).substr(skipped, end - from);
    std::vector<Instruction> decoded = (*decoder_)->decode(bytes, result.to_link(from), detail);
    result.instructions.insert(result.instructions.end(), std::make_move_iterator(decoded.begin()),
                               std::make_move_iterator(decoded.end()));
    next = from + bytes.size();
  }
  if (result.instructions.empty()) {
    return Error{"the profile holds no machine code of it" +
                 (facts_.missing.empty() ? "" : " (" + facts_.missing + ")")};
  }
  std::vector<LinkAddress> leaders;
  for (const JumpFact& jump : find_jumps(facts_, begin, end)) {
    leaders.push_back(result.to_link(jump.to));
  }
  for (const RecordedBranch& one : recorded) {
    const Instruction* const from = find_instruction(result.instructions, result.to_link(one.from));
    if (from != nullptr && from->flow == Flow::indirect_jump) {
      leaders.push_back(result.to_link(one.to));
    }
  }
  result.blocks = find_blocks(result.instructions, leaders);
  return result;
}

std::string_view Disassembler::find_bytes(FileOffset begin, uint64_t size_bytes) const {
  const auto after = std::upper_bound(
      stretches_.begin(), stretches_.end(), begin,
      [](FileOffset offset, const CodeFact* stretch) { return offset < stretch->begin; });
  if (after == stretches_.begin()) return {};
  const CodeFact& stretch = **std::prev(after);
  const uint64_t skipped = begin - stretch.begin;
  if (skipped > stretch.bytes.size() || size_bytes > stretch.bytes.size() - skipped) return {};
  return std::string_view(stretch.bytes).substr(skipped, size_bytes);
}

}  // namespace culprit
