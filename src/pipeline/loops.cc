#include "pipeline/loops.h"

#include <algorithm>

namespace culprit {
namespace {

struct BackEdge {
  size_t head = 0;  // block
  size_t tail = 0;  // block whose last instruction goes back to it
};

std::vector<BackEdge> find_back_edges(const Disassembly& code) {
  std::vector<BackEdge> edges;
  for (size_t tail = 0; tail < code.blocks.size(); ++tail) {
    const Instruction& last = code.instructions[code.blocks[tail].last - 1];
    if ((last.flow != Flow::jump && last.flow != Flow::branch) || !last.target) continue;
    const auto head = find_block(code.blocks, *last.target);
    if (!head || *head > tail || code.blocks[*head].begin != *last.target) continue;
    edges.push_back({*head, tail});
  }
  return edges;
}

Loop make_loop(const Disassembly& code, std::span<const double> runs, const BackEdge& edge) {
  constexpr double kUsual = 0.5;
  Loop loop;
  for (size_t block = edge.head; block <= edge.tail; ++block) {
    const bool is_end = block == edge.head || block == edge.tail;
    if (!is_end && runs[block] < kUsual * runs[edge.tail]) continue;
    loop.blocks.push_back(block);
    for (size_t i = code.blocks[block].first; i < code.blocks[block].last; ++i) {
      const Flow flow = code.instructions[i].flow;
      loop.instructions.push_back(i);
      loop.has_call = loop.has_call || flow == Flow::call || flow == Flow::returns ||
                      flow == Flow::indirect_jump || flow == Flow::trap;
    }
  }
  return loop;
}

}  // namespace

std::vector<Loop> find_innermost_loops(const Disassembly& code, std::span<const double> runs) {
  std::vector<BackEdge> edges = find_back_edges(code);
  std::stable_sort(edges.begin(), edges.end(), [&](const BackEdge& a, const BackEdge& b) {
    return runs[a.tail] != runs[b.tail] ? runs[a.tail] > runs[b.tail]
                                        : a.tail - a.head < b.tail - b.head;
  });
  std::vector<Loop> loops;
  std::vector<bool> is_taken(code.blocks.size());
  for (const BackEdge& edge : edges) {
    if (!(runs[edge.tail] > 0)) continue;
    const auto begin = is_taken.begin() + static_cast<ptrdiff_t>(edge.head);
    const auto end = is_taken.begin() + static_cast<ptrdiff_t>(edge.tail) + 1;
    if (std::find(begin, end, true) != end) continue;
    std::fill(begin, end, true);
    loops.push_back(make_loop(code, runs, edge));
  }
  return loops;
}

}  // namespace culprit
