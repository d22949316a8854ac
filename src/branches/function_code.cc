#include "branches/function_code.h"

#include <algorithm>
#include <numeric>

namespace culprit {

namespace {

/// Conditional branches may go on; system calls come back.
bool goes_on(Flow flow) {
  return flow == Flow::next || flow == Flow::branch;
}

}  // namespace

FunctionCode::FunctionCode(const Disassembly& code) {
  uint32_t leaving = 0;
  for (size_t i = 0; i < code.instructions.size(); ++i) {
    const Instruction& one = code.instructions[i];
    offsets_.push_back(code.to_offset(one.address));
    flows_.push_back(one.flow);
    has_target_.push_back(one.target.has_value());
    leaving_.push_back(leaving);
    const bool gap =
        i + 1 < code.instructions.size() && code.instructions[i + 1].address != one.end();
    if (gap || !goes_on(one.flow)) ++leaving;
  }
  blocks_before_.resize(offsets_.size() + 1);
  for (const Block& block : code.blocks) blocks_before_[block.first + 1] = 1;
  std::partial_sum(blocks_before_.begin(), blocks_before_.end(), blocks_before_.begin());
}

std::optional<size_t> FunctionCode::find(FileOffset offset) const {
  const auto at = std::lower_bound(offsets_.begin(), offsets_.end(), offset);
  if (at == offsets_.end() || *at != offset) return std::nullopt;
  return static_cast<size_t>(at - offsets_.begin());
}

std::optional<FunctionCode::Run> FunctionCode::find_run(FileOffset from, FileOffset to) const {
  const auto first = find(from);
  const auto last = find(to);
  if (!first || !last || *first > *last || leaving_[*first] != leaving_[*last]) return std::nullopt;
  return Run{*first, *last};
}

const FunctionCode* FunctionCodes::find(ImageId image, uint32_t function) {
  const auto [at, is_new] = functions_.try_emplace({image, function});
  if (is_new) {
    const ImageFacts* facts = code_.facts(image);
    if (facts != nullptr && function < facts->functions.size()) {
      const FunctionFact& fact = facts->functions[function];
      const auto code = code_.disassemble(image, fact.begin, fact.end, Detail::flow);
      if (code) at->second.emplace(*code);
    }
  }
  return at->second ? &*at->second : nullptr;
}

}  // namespace culprit
