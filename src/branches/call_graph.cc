#include "branches/call_graph.h"

#include <map>
#include <utility>

#include "branches/call_kind.h"
#include "model/counts.h"

namespace culprit {

namespace {

using Key = std::pair<ImageId, uint32_t>;

struct Weight {
  uint64_t calls = 0;
  uint64_t calls_made = 0;
  double value = 0;
};

Key key_of(CodeIndex& code, const Location& at) {
  return {at.image, code.find(at).function};
}

}  // namespace

CallGraph make_call_graph(CodeIndex& code, EventId event) {
  const Profile& profile = code.profile();
  std::map<Key, Weight> functions;
  std::map<std::pair<Key, Key>, uint64_t> calls;
  double total = 0;
  for (const Histogram& histogram : profile.histograms) {
    for_each_count(profile, histogram, [&](const Location& at, size_t counted, const Sum& sum) {
      if (counted != event.value) return;
      functions[key_of(code, at)].value += static_cast<double>(sum.value);
      total += static_cast<double>(sum.value);
    });
  }
  FunctionCodes codes(code);
  for (const BranchCount& branch : profile.branch_counts) {
    if (find_call_kind(codes, branch.from, branch.to) == CallKind::other) continue;
    const Key caller = key_of(code, branch.from);
    const Key callee = key_of(code, branch.to);
    functions[caller].calls_made += branch.count;
    functions[callee].calls += branch.count;
    calls[{caller, callee}] += branch.count;
  }

  CallGraph graph;
  std::map<Key, size_t> index;
  for (const auto& [key, weight] : functions) {
    index[key] = graph.nodes.size();
    graph.nodes.push_back({key.first, key.second, weight.calls, weight.calls_made,
                           total > 0 ? weight.value / total : 0});
  }
  for (const auto& [ends, count] : calls) {
    graph.edges.push_back({index[ends.first], index[ends.second], count});
  }
  return graph;
}

}  // namespace culprit
