#include "stalls/call_landings.h"

#include <algorithm>

namespace culprit {
namespace {

using Callees = std::map<FunctionKey, double>;

/// By caller: its calls that went to several functions. The target of others is predicted.
std::map<FunctionKey, std::map<FileOffset, Callees>> find_calls(CodeIndex& code) {
  std::map<Location, Callees> sites;
  for (const BranchCount& branch : code.profile().branch_counts) {
    const CodePlace to = code.find(branch.to);
    if (to.function == CodePlace::kNone) continue;
    const bool is_beginning =
        code.facts(branch.to.image)->functions[to.function].begin == branch.to.offset;
    if (is_beginning) {
      sites[branch.from][{branch.to.image, to.function}] += static_cast<double>(branch.count);
    }
  }
  std::map<FunctionKey, std::map<FileOffset, Callees>> calls;
  for (auto& [site, callees] : sites) {
    const CodePlace from = code.find(site);
    if (callees.size() < 2 || from.function == CodePlace::kNone) continue;
    const FunctionKey caller{site.image, from.function};
    callees.erase(caller);
    calls[caller][site.offset] = std::move(callees);
  }
  return calls;
}

}  // namespace

std::map<FunctionKey, PartBounds> find_call_landings(CodeIndex& code, FlowFinder& flows,
                                                     const StallEvidence& evidence) {
  std::map<FunctionKey, PartBounds> landings;
  for (const auto& [caller, calls] : find_calls(code)) {
    const std::optional<FunctionFlow> flow = flows.find(caller.first, caller.second);
    if (!flow) continue;
    const Disassembly& listing = flow->function->code;
    CallSites sites;
    for (const auto& [offset, callees] : calls) {
      const auto at = std::ranges::lower_bound(listing.instructions, listing.to_link(offset), {},
                                               &Instruction::address);
      if (at == listing.instructions.end() || at->address != listing.to_link(offset)) continue;
      sites[static_cast<size_t>(at - listing.instructions.begin())] = callees;
    }
    const FunctionEvidence known = evidence.find(caller.first, *flow, flows.events());
    for (const auto& [callee, landed] : find_callee_landings(*flow, known, sites)) {
      landings[callee].add(kMisprediction, landed);
    }
  }
  return landings;
}

}  // namespace culprit
