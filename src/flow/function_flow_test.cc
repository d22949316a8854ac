#include "flow/function_flow.h"

#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <random>

#include "flow/test_graph.h"

namespace culprit {
namespace {

FunctionGraph make_function(Disassembly code) {
  FunctionGraph function;
  function.code = std::move(code);
  function.graph = make_flow_graph(function.code);
  function.loops = find_loops(function.graph);
  return function;
}

/// The largest difference between what comes into a block and what goes out.
double find_leak(const FunctionFlow& flow) {
  const FlowGraph& graph = flow.function->graph;
  std::vector<double> in(graph.blocks);
  std::vector<double> out(graph.blocks);
  for (size_t i = 0; i < graph.edges.size(); ++i) {
    const FlowEdge& edge = graph.edges[i];
    if (edge.to < graph.blocks) in[edge.to] += flow.edges[i]->runs.value;
    if (edge.from < graph.blocks) out[edge.from] += flow.edges[i]->runs.value;
  }
  double most = 0;
  double leak = 0;
  for (uint32_t block = 0; block < graph.blocks; ++block) {
    const double runs = flow.runs(block);
    most = std::max(most, runs);
    leak = std::max({leak, std::abs(in[block] - runs), std::abs(out[block] - runs)});
  }
  return most > 0 ? leak / most : 0;
}

// A loop of three blocks, the middle one of them optional: head (0) 100, (1) 30, (2) 100, out
// (3) 1.
const std::vector<std::pair<int, bool>> kLoop{{2, true}, {-2, true}, {0, true}, {-1, false}};

// Entered 10 times: 4 times it is left from its first block, 6 times from its last.
TEST(FunctionFlow, SaysHowLoopsAreEnteredAndLeft) {
  // In front of it (0), head (1) may go to the end, (2) goes back or on, the end (3).
  const FunctionGraph function =
      make_function(make_blocks({{-2, true}, {3, true}, {1, true}, {-1, false}}));
  ASSERT_EQ(function.loops.loops.size(), 1u);
  const std::vector<SeenInstruction> seen{{10, 0, 0}, {100, 0, 0}, {96, 0, 0}, {10, 0, 0}};
  const std::vector<RecordedBranch> taken{{FileOffset(4), FileOffset(12), 4},
                                          {FileOffset(8), FileOffset(4), 90}};
  const FunctionFlow flow =
      make_function_flow(function, ExecutionSource::counted, seen, taken, true);
  const LoopBounds bounds = find_loop_bounds(flow).front();
  EXPECT_EQ(bounds.entries.value, 10);
  EXPECT_EQ(bounds.ways_out, 2u);
}

TEST(FunctionFlow, CountedIsNotSmoothed) {
  const FunctionGraph function = make_function(make_blocks(kLoop));
  // A signal came once: the counts do not add up, and stay as they are.
  const std::vector<SeenInstruction> seen{{100, 0, 0}, {30, 0, 0}, {99, 0, 0}, {1, 0, 0}};
  const std::vector<RecordedBranch> taken{{FileOffset(0), FileOffset(8), 70},
                                          {FileOffset(8), FileOffset(0), 98}};
  const FunctionFlow flow =
      make_function_flow(function, ExecutionSource::counted, seen, taken, true);
  EXPECT_EQ(flow.runs(0), 100);
  EXPECT_EQ(flow.runs(1), 30);
  EXPECT_EQ(flow.runs(2), 99);
  std::map<std::pair<uint32_t, uint32_t>, double> edges;
  for (size_t i = 0; i < flow.edges.size(); ++i) {
    const FlowEdge& edge = function.graph.edges[i];
    edges[{edge.from, edge.to}] = flow.edges[i]->runs.value;
  }
  EXPECT_EQ((edges[{0, 1}]), 30);
  EXPECT_EQ((edges[{0, 2}]), 70);
  EXPECT_EQ((edges[{1, 2}]), 30);
  EXPECT_EQ((edges[{2, 0}]), 98);
  EXPECT_EQ((edges[{2, 3}]), 1);
  EXPECT_EQ((edges[{function.graph.entry(), 0}]), 2);
  EXPECT_EQ(flow.blocks[0]->confidence, Confidence::high);
}

TEST(FunctionFlow, SampledFitsTheGraph) {
  const FunctionGraph function = make_function(make_blocks(kLoop));
  // 100 : 30 : 100 : 1 with noise, 1000 executions a sample.
  const auto sampled = [](uint64_t samples) {
    return SeenInstruction{1e3 * static_cast<double>(samples), 1e6 * static_cast<double>(samples),
                           samples};
  };
  const std::vector<SeenInstruction> seen{sampled(10'100), sampled(3'000), sampled(9'900),
                                          sampled(90)};
  const FunctionFlow flow = make_function_flow(function, ExecutionSource::sampled, seen, {}, false);
  EXPECT_LT(find_leak(flow), 1e-9);
  EXPECT_EQ(flow.runs(0), flow.runs(2));  // must be the same, whatever was sampled
  // What both say together: 20,000 samples of two instructions.
  EXPECT_NEAR(flow.runs(0), 1e7, 1e3);
  EXPECT_NEAR(flow.runs(1), 3e6, 1e5);
  EXPECT_EQ(flow.blocks[0]->confidence, Confidence::high);
  EXPECT_NEAR(flow.blocks[0]->runs.standard_error, 1e3 * std::sqrt(20'000) / 2, 1);
}

// Two ways from (0) to (3): 500 samples before and behind them, 300 and 100 at them. Likeliest are
// rounds x and a part p of them by (1) for which (1000 + 400) ln x - 3 x and 300 ln p + 100 ln (1 -
// p) are largest: x = 1400 / 3, p = 0.75.
TEST(FunctionFlow, SampledFlowIsTheLikeliest) {
  const FunctionGraph function =
      make_function(make_blocks({{2, true}, {3, false}, {-2, true}, {-1, false}}));
  const auto sampled = [](uint64_t samples) {
    return SeenInstruction{static_cast<double>(samples), static_cast<double>(samples), samples};
  };
  const std::vector<SeenInstruction> seen{sampled(500), sampled(300), sampled(100), sampled(500)};
  for (const auto source : {ExecutionSource::sampled, ExecutionSource::time}) {
    const FunctionFlow flow = make_function_flow(function, source, seen, {}, false);
    const double unit = source == ExecutionSource::time ? 1400.0 / 3 : 1;
    // Prices have pieces of up to 1.3 standard errors: sqrt(1000) / 2 and sqrt(300).
    EXPECT_NEAR(flow.runs(0) * unit, 1400.0 / 3, 16);
    EXPECT_NEAR(flow.runs(1) / flow.runs(0), 0.75, 0.04);
    EXPECT_EQ(flow.runs(0), flow.runs(3));
  }
}

TEST(FunctionFlow, TimeGivesRatiosOfLowConfidence) {
  const FunctionGraph function = make_function(make_blocks(kLoop));
  const std::vector<SeenInstruction> seen{
      {5e9, 1e12, 5000}, {1e9, 1e12, 1000}, {5e9, 1e12, 5000}, {1e6, 1e12, 1}};
  const FunctionFlow flow = make_function_flow(function, ExecutionSource::time, seen, {}, false);
  EXPECT_DOUBLE_EQ(flow.runs(0), 1);
  EXPECT_NEAR(flow.runs(1), 0.2, 1e-6);
  EXPECT_TRUE(flow.instructions.empty());
  for (const auto& block : flow.blocks) EXPECT_EQ(block->confidence, Confidence::low);
}

TEST(FunctionFlow, NothingSeenIsNothingKnown) {
  const FunctionGraph function = make_function(make_blocks(kLoop));
  const std::vector<SeenInstruction> seen(4);
  const FunctionFlow flow = make_function_flow(function, ExecutionSource::sampled, seen, {}, false);
  for (const auto& block : flow.blocks) EXPECT_FALSE(block);
}

TEST(FunctionFlow, RandomGraphsConserveFlow) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    const FunctionGraph function = make_function(make_random_blocks(random, 2 + random() % 40));
    std::vector<SeenInstruction> seen(function.code.instructions.size());
    for (SeenInstruction& one : seen) {
      one.samples = random() % 1000;
      one.value = static_cast<double>(one.samples);
      one.variance = one.value;
    }
    for (const auto source : {ExecutionSource::sampled, ExecutionSource::time}) {
      const FunctionFlow flow = make_function_flow(function, source, seen, {}, false);
      EXPECT_LT(find_leak(flow), 1e-9) << "round " << round;
      for (const auto& edge : flow.edges) EXPECT_GE(edge->runs.value, 0);
    }
  }
}

// The best flow by trying all: of the loop above a flow is its rounds x and the ways through (1) y,
// with the run through the function z: blocks x, y, x, z.
TEST(FunctionFlow, CirculationCostsTheLeast) {
  const FunctionGraph function = make_function(make_blocks(kLoop));
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::pair<double, double>> targets;  // runs, weight
    std::vector<FlowCost> costs;
    double all = 0;
    for (int i = 0; i < 4; ++i) {
      targets.emplace_back(random() % 10, 1.0 + static_cast<double>(random() % 4));
      costs.push_back(cost_of_difference(targets.back().first, targets.back().second));
      all += targets.back().first;
    }
    if (all == 0) continue;
    const auto cost = [&](const std::vector<double>& blocks) {
      double sum = 0;
      for (size_t i = 0; i < 4; ++i) {
        sum += targets[i].second * std::abs(blocks[i] - targets[i].first);
      }
      return sum;
    };
    double least = 1e9;
    for (int x = 0; x < 12; ++x) {
      for (int y = 0; y <= x; ++y) {
        for (int z = 0; z <= x; ++z) {
          least = std::min(least, cost({double(x), double(y), double(x), double(z)}));
        }
      }
    }
    const auto flow = fit_circulation(function.graph, costs);
    ASSERT_TRUE(flow);
    EXPECT_NEAR(cost(flow->blocks), least, 1e-3) << "round " << round;
  }
}

TEST(FunctionFlow, VeryLargeFunctionsHaveMeansOfTheirClasses) {
  std::mt19937 random(13);
  const FunctionGraph function = make_function(make_random_blocks(random, 100'000));
  std::vector<SeenInstruction> seen(function.code.instructions.size(), {10, 10, 10});
  const FunctionFlow flow = make_function_flow(function, ExecutionSource::sampled, seen, {}, false);
  EXPECT_EQ(flow.runs(77), 10);
  EXPECT_FALSE(flow.edges[0]);
}

}  // namespace
}  // namespace culprit
