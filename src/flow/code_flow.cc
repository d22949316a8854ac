#include "flow/code_flow.h"

#include <algorithm>
#include <set>

#include "branches/branch_events.h"
#include "branches/branch_scale.h"
#include "code/never_returns.h"

namespace culprit {

CodeIndex::Range FunctionGraph::range_of(const FlowLoop& loop) const {
  return {code.to_offset(code.blocks[loop.head].begin),
          code.to_offset(code.blocks[std::max(loop.head, loop.last)].end)};
}

CodeFlow::CodeFlow(CodeIndex& code)
    : code_(code),
      has_all_branches_(has_branch_records(code.profile()) &&
                        find_branch_scale(code.profile()).is_exact) {}

const FunctionGraph* CodeFlow::find(ImageId image, uint32_t function) {
  const auto [found, is_new] = known_.try_emplace({image, function});
  if (is_new) found->second = make(image, function);
  return found->second.get();
}

std::unique_ptr<FunctionGraph> CodeFlow::make(ImageId image, uint32_t function) {
  const ImageFacts* const facts = code_.facts(image);
  if (facts == nullptr || function >= facts->functions.size()) return nullptr;
  const FunctionFact& what = facts->functions[function];
  Result<Disassembly> code = code_.disassemble(image, what.begin, what.end, Detail::operands);
  if (!code) return nullptr;
  auto made = std::make_unique<FunctionGraph>();
  made->code = *std::move(code);

  std::vector<JumpTarget> targets;
  for (const RecordedBranch& one : code_.recorded_branches().within(image, what.begin, what.end)) {
    targets.push_back({made->code.to_link(one.from), made->code.to_link(one.to)});
  }
  std::set<LinkAddress> last_calls;
  for (const JumpFact& jump : find_jumps(*facts, what.begin, what.end)) {
    const LinkAddress from = made->code.to_link(jump.from);
    if (jump.kind == JumpKind::never_returns) {
      last_calls.insert(from);
    } else {
      targets.push_back({from, made->code.to_link(jump.to), jump.kind == JumpKind::complete});
    }
  }
  std::stable_sort(targets.begin(), targets.end(),
                   [](const JumpTarget& a, const JumpTarget& b) { return a.from < b.from; });
  FlowHints hints;
  hints.targets = targets;
  hints.has_all_targets = has_all_branches_;
  hints.never_returns = [&](const Instruction& call) {
    if (last_calls.contains(call.address)) return true;
    if (!call.target) return false;
    const CodePlace place = code_.find({image, made->code.to_offset(*call.target)});
    return place.function != CodePlace::kNone &&
           never_returns(facts->strings.text(facts->functions[place.function].name));
  };
  made->graph = make_flow_graph(made->code, hints);
  made->loops = find_loops(made->graph);
  return made;
}

std::optional<CodeIndex::Range> CodeFlow::find_loop(const Location& at) {
  const CodePlace place = code_.find(at);
  if (place.function == CodePlace::kNone) return std::nullopt;
  const FunctionGraph* const function = find(at.image, place.function);
  if (function == nullptr) return std::nullopt;
  const auto block = find_block(function->code.blocks, function->code.to_link(at.offset));
  if (!block) return std::nullopt;
  const std::optional<uint32_t> loop = function->loops.innermost[*block];
  if (!loop) return std::nullopt;
  return function->range_of(function->loops.loops[*loop]);
}

}  // namespace culprit
