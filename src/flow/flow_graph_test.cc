#include "flow/flow_graph.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>

#include "flow/equivalence.h"
#include "flow/loop_forest.h"
#include "flow/test_graph.h"
#include "model/image_facts.h"

namespace culprit {
namespace {

using namespace std::string_literals;

Disassembly decode(const std::string& bytes) {
  ImageFacts facts;
  facts.architecture = "x86_64";
  facts.segments = {{FileOffset(0), bytes.size(), LinkAddress(0x1000)}};
  facts.code = {{FileOffset(0), bytes}};
  Result<Disassembly> code =
      Disassembler(facts).disassemble(FileOffset(0), FileOffset(bytes.size()));
  EXPECT_TRUE(code);
  return *std::move(code);
}

std::vector<std::pair<uint32_t, uint32_t>> ends(const FlowGraph& graph) {
  std::vector<std::pair<uint32_t, uint32_t>> all;
  for (const FlowEdge& edge : graph.edges) all.emplace_back(edge.from, edge.to);
  return all;
}
using Ends = std::vector<std::pair<uint32_t, uint32_t>>;

// 0 inc; 2: test; 4 je 8; 6 inc; 8: dec; a jne 2; c dec; e jne 0; 10 ret
const std::string kNested = "\xff\xc0\x85\xc0\x74\x02\xff\xc0\xff\xc9\x75\xf6\xff\xca\x75\xf0\xc3"s;

TEST(FlowGraph, HasTheEdgesThatTheCodeHas) {
  const FlowGraph graph = make_flow_graph(decode(kNested));
  ASSERT_EQ(graph.blocks, 6u);
  EXPECT_EQ(ends(graph), (Ends{{0, 1},
                               {1, 2},
                               {1, 3},
                               {2, 3},
                               {3, 1},
                               {3, 4},
                               {4, 0},
                               {4, 5},
                               {5, graph.exit()},
                               {graph.entry(), 0}}));
  EXPECT_TRUE(graph.unresolved.empty());
}

TEST(FlowGraph, NestsLoops) {
  const LoopForest forest = find_loops(make_flow_graph(decode(kNested)));
  ASSERT_EQ(forest.loops.size(), 2u);
  EXPECT_EQ(forest.loops[0].head, 0u);
  EXPECT_EQ(forest.loops[0].last, 4u);
  EXPECT_EQ(forest.loops[0].depth, 1u);
  EXPECT_FALSE(forest.loops[0].is_innermost);
  EXPECT_EQ(forest.loops[1].head, 1u);
  EXPECT_EQ(forest.loops[1].last, 3u);
  EXPECT_EQ(forest.loops[1].parent, 0u);
  EXPECT_EQ(forest.loops[1].depth, 2u);
  EXPECT_TRUE(forest.loops[1].is_innermost);
  using Rows = std::vector<std::optional<uint32_t>>;
  EXPECT_EQ(forest.innermost, (Rows{0, 1, 1, 1, 0, std::nullopt}));
}

TEST(FlowGraph, ClassesAreThoseOfTheCode) {
  const FlowGraph graph = make_flow_graph(decode(kNested));
  const FrequencyClasses classes = find_frequency_classes(graph);
  EXPECT_EQ(classes.blocks[1], classes.blocks[3]);  // head and end of the inner loop
  EXPECT_EQ(classes.blocks[0], classes.blocks[4]);  // of the outer one
  EXPECT_NE(classes.blocks[0], classes.blocks[1]);
  EXPECT_NE(classes.blocks[2], classes.blocks[1]);
  EXPECT_NE(classes.blocks[5], classes.blocks[0]);
}

TEST(FlowGraph, AnUnknownJumpMakesNothingEqual) {
  // je 4; jmp *%rax; ret; ret
  const FlowGraph graph = make_flow_graph(decode("\x74\x02\xff\xe0\xc3"s));
  EXPECT_EQ(graph.unresolved, (std::vector<uint32_t>{1}));
  const FrequencyClasses classes = find_frequency_classes(graph);
  EXPECT_EQ(classes.count, graph.blocks + graph.edges.size());
}

TEST(FlowGraph, KnownTargetsAreTheEdgesOfAJump) {
  const Disassembly code = decode("\xff\xe0\xc3\x90\xc3"s);  // jmp *%rax; ret; nop; ret
  const std::vector<JumpTarget> targets{{LinkAddress(0x1000), LinkAddress(0x1002)},
                                        {LinkAddress(0x1000), LinkAddress(0x1003)}};
  FlowHints hints;
  hints.targets = targets;
  hints.has_all_targets = true;
  const FlowGraph graph = make_flow_graph(code, hints);
  EXPECT_TRUE(graph.unresolved.empty());
  EXPECT_EQ(ends(graph),
            (Ends{{0, 1}, {0, 2}, {1, graph.exit()}, {2, graph.exit()}, {graph.entry(), 0}}));
}

TEST(FlowGraph, CallsThatNeverReturnLeave) {
  // je 7; call 0x1000; ret
  const Disassembly code = decode("\x74\x05\xe8\xf9\xff\xff\xff\xc3"s);
  FlowHints hints;
  hints.never_returns = [](const Instruction& call) { return call.target == LinkAddress(0x1000); };
  EXPECT_EQ(ends(make_flow_graph(code, hints)), (Ends{{0, 1}, {0, 2}, {1, 4}, {2, 4}, {3, 0}}));
  EXPECT_EQ(ends(make_flow_graph(code)), (Ends{{0, 1}, {0, 2}, {1, 2}, {2, 4}, {3, 0}}));
}

TEST(FlowGraph, EndlessLoopsAreLeft) {
  const FlowGraph graph = make_flow_graph(make_blocks({{-2, true}, {0, false}}));
  EXPECT_EQ(ends(graph), (Ends{{0, 1}, {1, 0}, {1, 3}, {2, 0}}));
  EXPECT_EQ(graph.edges[2].kind, FlowEdgeKind::assumed);
  EXPECT_EQ(find_loops(graph).loops.size(), 1u);
}

TEST(FlowGraph, LoopsWithTwoEntriesAreIrreducible) {
  // 0 branches to 2 or 1; 1 falls to 2; 2 goes back to 1, or on to the return.
  const LoopForest forest =
      find_loops(make_flow_graph(make_blocks({{2, true}, {-2, true}, {1, true}, {-1, false}})));
  ASSERT_EQ(forest.loops.size(), 1u);
  EXPECT_TRUE(forest.loops[0].is_irreducible);
}

// Two blocks are equivalent where no closed way goes through one only: the rank of the matrix of
// incidence decides. A vector of the null space gives both the same flow, for every vector of a
// basis; found here by Gauss' elimination over the rationals modulo a prime.
class NullSpace {
 public:
  explicit NullSpace(const FlowGraph& graph) : graph_(graph) {
    const size_t outside = 2 * graph.blocks;
    for (uint32_t block = 0; block < graph.blocks; ++block) add(block, graph.blocks + block);
    for (const FlowEdge& edge : graph.edges) {
      add(edge.from < graph.blocks ? graph.blocks + edge.from : outside,
          edge.to < graph.blocks ? edge.to : outside);
    }
    solve();
  }
  [[nodiscard]] bool are_equal(size_t a, size_t b) const {
    return std::all_of(basis_.begin(), basis_.end(),
                       [&](const auto& vector) { return vector[a] == vector[b]; });
  }

 private:
  static constexpr int64_t kPrime = 1'000'003;
  static int64_t inverse(int64_t value) {
    int64_t result = 1;
    for (int64_t power = kPrime - 2, base = value; power > 0; power /= 2) {
      if (power % 2 == 1) result = result * base % kPrime;
      base = base * base % kPrime;
    }
    return result;
  }
  void add(size_t from, size_t to) { links_.emplace_back(from, to); }
  void solve() {
    const size_t nodes = 2 * graph_.blocks + 1;
    std::vector<std::vector<int64_t>> rows(nodes, std::vector<int64_t>(links_.size()));
    for (size_t i = 0; i < links_.size(); ++i) {
      rows[links_[i].first][i] += kPrime - 1;
      rows[links_[i].second][i] += 1;
    }
    for (auto& row : rows) {
      for (int64_t& value : row) value %= kPrime;
    }
    std::vector<size_t> pivots;
    for (size_t column = 0, row = 0; column < links_.size() && row < nodes; ++column) {
      size_t at = row;
      while (at < nodes && rows[at][column] == 0) ++at;
      if (at == nodes) continue;
      std::swap(rows[at], rows[row]);
      const int64_t factor = inverse(rows[row][column]);
      for (int64_t& value : rows[row]) value = value * factor % kPrime;
      for (size_t other = 0; other < nodes; ++other) {
        if (other == row || rows[other][column] == 0) continue;
        const int64_t times = rows[other][column];
        for (size_t i = 0; i < links_.size(); ++i) {
          rows[other][i] = (rows[other][i] + (kPrime - times) * rows[row][i]) % kPrime;
        }
      }
      pivots.push_back(column);
      ++row;
    }
    for (size_t column = 0; column < links_.size(); ++column) {
      if (std::find(pivots.begin(), pivots.end(), column) != pivots.end()) continue;
      std::vector<int64_t> vector(links_.size());
      vector[column] = 1;
      for (size_t row = 0; row < pivots.size(); ++row) {
        vector[pivots[row]] = (kPrime - rows[row][column]) % kPrime;
      }
      basis_.push_back(std::move(vector));
    }
  }

  const FlowGraph& graph_;
  std::vector<std::pair<size_t, size_t>> links_;
  std::vector<std::vector<int64_t>> basis_;
};

TEST(FlowGraph, ClassesOfRandomGraphsAreThoseOfTheNullSpace) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const FlowGraph graph = make_flow_graph(make_random_blocks(random, 2 + random() % 8));
    const FrequencyClasses classes = find_frequency_classes(graph);
    std::vector<uint32_t> all = classes.blocks;
    all.insert(all.end(), classes.edges.begin(), classes.edges.end());
    const NullSpace truth(graph);
    for (size_t a = 0; a < all.size(); ++a) {
      for (size_t b = a + 1; b < all.size(); ++b) {
        ASSERT_EQ(all[a] == all[b], truth.are_equal(a, b)) << "round " << round;
      }
    }
  }
}

// The natural loop of a back edge to a dominating head, by definition: what reaches the edge
// without going through the head.
TEST(FlowGraph, LoopsOfRandomGraphsAreNatural) {
  std::mt19937 random(11);
  int compared = 0;
  for (int round = 0; round < 500; ++round) {
    const FlowGraph graph = make_flow_graph(make_random_blocks(random, 2 + random() % 8));
    const LoopForest forest = find_loops(graph);
    const bool is_reducible =
        std::none_of(forest.loops.begin(), forest.loops.end(),
                     [](const FlowLoop& loop) { return loop.is_irreducible; });
    const EdgeIndex in = index_targets(graph);
    const EdgeIndex out = index_sources(graph);
    const auto reaches_without = [&](uint32_t avoided) {
      std::vector<bool> is_met(graph.nodes());
      std::vector<uint32_t> open{graph.entry()};
      is_met[graph.entry()] = true;
      while (!open.empty()) {
        const uint32_t node = open.back();
        open.pop_back();
        for (const uint32_t edge : out.of(node)) {
          const uint32_t to = graph.edges[edge].to;
          if (to == avoided || is_met[to]) continue;
          is_met[to] = true;
          open.push_back(to);
        }
      }
      return is_met;
    };
    std::vector<std::vector<bool>> bodies(graph.blocks);  // by head
    for (uint32_t head = 0; head < graph.blocks; ++head) {
      const std::vector<bool> around = reaches_without(head);
      std::vector<bool> body(graph.blocks);
      std::vector<uint32_t> open;
      for (const uint32_t edge : in.of(head)) {
        const uint32_t tail = graph.edges[edge].from;
        if (tail < graph.blocks && !around[tail] && !body[tail]) {
          body[tail] = true;
          if (tail != head) open.push_back(tail);
        }
      }
      const bool is_head = std::find(body.begin(), body.end(), true) != body.end();
      while (!open.empty()) {
        const uint32_t block = open.back();
        open.pop_back();
        for (const uint32_t edge : in.of(block)) {
          const uint32_t from = graph.edges[edge].from;
          if (from >= graph.blocks || from == head || body[from]) continue;
          body[from] = true;
          open.push_back(from);
        }
      }
      if (is_head) body[head] = true;
      bodies[head] = body;
    }
    if (!is_reducible) continue;
    ++compared;
    size_t heads = 0;
    for (uint32_t head = 0; head < graph.blocks; ++head) {
      if (bodies[head][head]) ++heads;
    }
    ASSERT_EQ(forest.loops.size(), heads) << "round " << round;
    for (uint32_t loop = 0; loop < forest.loops.size(); ++loop) {
      for (uint32_t block = 0; block < graph.blocks; ++block) {
        ASSERT_EQ(forest.is_inside(block, loop), bodies[forest.loops[loop].head][block])
            << "round " << round << " loop " << loop << " block " << block;
      }
    }
  }
  EXPECT_GT(compared, 100);
}

}  // namespace
}  // namespace culprit
