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

CodeFlow::CodeFlow(CodeIndex& code) : code_(code), branches_(code.profile().images.size()) {
  const Profile& profile = code.profile();
  if (!has_branch_records(profile)) return;
  has_all_branches_ = find_branch_scale(profile).is_exact;
  for (const BranchCount& branch : profile.branch_counts) {
    if (branch.from.image != branch.to.image || branch.from.image.value >= branches_.size()) {
      continue;
    }
    branches_[branch.from.image.value].push_back(
        {branch.from.offset, branch.to.offset, static_cast<double>(branch.count)});
  }
  for (std::vector<RecordedBranch>& of_image : branches_) {
    std::sort(of_image.begin(), of_image.end());
    std::vector<RecordedBranch> sums;
    for (const RecordedBranch& one : of_image) {
      if (!sums.empty() && sums.back().from == one.from && sums.back().to == one.to) {
        sums.back().count += one.count;
      } else {
        sums.push_back(one);
      }
    }
    of_image = std::move(sums);
  }
}

std::vector<RecordedBranch> CodeFlow::branches_within(ImageId image, FileOffset begin,
                                                      FileOffset end) const {
  if (image.value >= branches_.size()) return {};
  const std::vector<RecordedBranch>& all = branches_[image.value];
  const auto before = [](const RecordedBranch& one, FileOffset at) { return one.from < at; };
  return {std::lower_bound(all.begin(), all.end(), begin, before),
          std::lower_bound(all.begin(), all.end(), end, before)};
}

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
  for (const RecordedBranch& one : branches_within(image, what.begin, what.end)) {
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
