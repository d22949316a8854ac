#include "stalls/function_stalls.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace culprit {
namespace {

/// A loop of so many bytes that calls nothing stays where instructions are fetched from fastest:
/// no CPU of the last ten years has a smaller cache of decoded instructions, or loop of fetch.
constexpr uint64_t kFetchedOnceBytes = 1024;

bool stays_fetched(const FunctionGraph& function, uint32_t loop) {
  const CodeIndex::Range range = function.range_of(function.loops.loops[loop]);
  if (range.end - range.begin > kFetchedOnceBytes) return false;
  for (uint32_t block = 0; block < function.graph.blocks; ++block) {
    if (function.loops.innermost[block] != loop) continue;
    const Block& where = function.code.blocks[block];
    for (size_t i = where.first; i < where.last; ++i) {
      if (function.code.instructions[i].flow == Flow::call) return false;
    }
  }
  return true;
}

using Regions = std::map<std::optional<uint32_t>, std::vector<size_t>>;  // instructions by loop

Regions find_regions(const FunctionGraph& function) {
  Regions regions;
  for (uint32_t block = 0; block < function.graph.blocks; ++block) {
    const std::optional<uint32_t> loop = find_region(function, block);
    for (size_t i = function.code.blocks[block].first; i < function.code.blocks[block].last; ++i) {
      regions[loop].push_back(i);
    }
  }
  return regions;
}

/// An instruction that can have been mispredicted, and how often control went where then.
template <class Place>
struct WayOut {
  size_t instruction = 0;
  std::map<Place, double> runs;
};
template <class Place>
using WaysOut = std::map<std::optional<uint32_t>, std::vector<WayOut<Place>>>;  // by region

bool may_be_mispredicted(const InstructionEvidence& branch) {
  const double most = branch.most[kMisprediction];
  return most > 0 && std::isfinite(most);
}

WaysOut<std::optional<uint32_t>> find_ways_out(const FunctionFlow& flow,
                                               const FunctionEvidence& evidence) {
  const FunctionGraph& function = *flow.function;
  WaysOut<std::optional<uint32_t>> all;
  for (size_t i = 0; i < function.graph.edges.size(); ++i) {
    const FlowEdge& edge = function.graph.edges[i];
    if (edge.from >= function.graph.blocks || edge.to >= function.graph.blocks) continue;
    const std::optional<uint32_t> from = find_region(function, edge.from);
    const std::optional<uint32_t> to = find_region(function, edge.to);
    const size_t branch = function.code.blocks[edge.from].last - 1;
    if (from == to || !may_be_mispredicted(evidence.instructions[branch])) continue;
    auto& ways = all[from];
    if (ways.empty() || ways.back().instruction != branch) ways.push_back({branch, {}});
    ways.back().runs[to] += flow.edges[i] ? flow.edges[i]->runs.value : 0;
  }
  return all;
}

/// What mispredictions of other places can have cost in each: of those at a region's ways out as
/// much as its own stalls leave, shared out by how often each way was taken.
template <class Place>
std::map<Place, PartBounds> find_landings(const WaysOut<Place>& all,
                                          const FunctionEvidence& evidence,
                                          const Regions& regions) {
  std::map<Place, PartBounds> landings;
  for (const auto& [from, ways] : all) {
    double possible = 0;
    double stall = 0;
    for (const size_t i : regions.at(from)) {
      const InstructionEvidence& one = evidence.instructions[i];
      possible += one.most[kMisprediction];
      stall += one.cycles - one.best.total();
    }
    double most = 0;
    for (const WayOut<Place>& way : ways) {
      most += evidence.instructions[way.instruction].most[kMisprediction];
    }
    const double left = std::min(most, possible - std::max(0.0, stall));
    if (!(left > 0)) continue;
    for (const WayOut<Place>& way : ways) {
      const InstructionEvidence& branch = evidence.instructions[way.instruction];
      double runs = 0;
      for (const auto& [to, taken] : way.runs) runs += taken;
      if (!(runs > 0)) continue;
      for (const auto& [to, taken] : way.runs) {
        PartBounds& landed = landings[to];
        const double part = left / most * taken / runs;
        landed.most[kMisprediction] += branch.most[kMisprediction] * part;
        landed.likely[kMisprediction] += branch.likely[kMisprediction] * part;
        landed.sources[kMisprediction] |= branch.sources[kMisprediction];
      }
    }
  }
  return landings;
}

}  // namespace

Stalls& Stalls::operator+=(const Stalls& more) {
  cycles += more.cycles;
  samples += more.samples;
  executions += more.executions;
  execution_samples += more.execution_samples;
  best += more.best;
  gain += more.gain;
  explained += more.explained;
  unexplained += more.unexplained;
  untold += more.untold;
  for (size_t cause = 0; cause < kStallCauses; ++cause) {
    low[cause] += more.low[cause];
    high[cause] += more.high[cause];
    if (more.high[cause] > 0) likely[cause] += more.likely[cause];
    sources[cause] |= more.sources[cause];
  }
  return *this;
}

Stalls make_stalls(const std::vector<const InstructionEvidence*>& parts,
                   const EventBoundsByCause& events, bool has_best, bool can_miss_code,
                   const PartBounds& landed) {
  Stalls stalls;
  for (const InstructionEvidence* part : parts) {
    stalls.cycles += part->cycles;
    stalls.samples += part->samples;
    stalls.executions += part->executions;
    stalls.execution_samples += part->execution_samples;
    stalls.best += part->best;
  }
  PartBounds possible = add_up_bounds(parts, events);
  for (size_t cause = 0; cause < kStallCauses; ++cause) {
    if (events[cause]) continue;  // their samples are of the part itself
    possible.add(cause, landed);
  }
  if (!can_miss_code) {
    possible.most[static_cast<size_t>(StallCause::code_fetch)] = 0;
    possible.sources[static_cast<size_t>(StallCause::code_fetch)] = BoundSources::of_code();
  }
  stalls.sources = possible.sources;
  stalls.likely = possible.likely;
  if (!has_best) {
    stalls.best = {};
    stalls.untold = stalls.cycles;
    stalls.high = bound_causes(stalls.cycles, possible.most).high;
    return stalls;
  }
  const double stall = stalls.cycles - stalls.best.total();
  stalls.gain = std::max(0.0, -stall);
  const CauseBounds bounds =
      bound_causes(stall, possible.most, find_chance(stalls.cycles, stalls.samples));
  stalls.low = bounds.low;
  stalls.high = bounds.high;
  stalls.unexplained = bounds.unexplained;
  stalls.explained = std::max(0.0, stall) - bounds.unexplained;
  return stalls;
}

FunctionStalls find_function_stalls(const FunctionFlow& flow, const FunctionEvidence& evidence,
                                    const PartBounds& landed) {
  const FunctionGraph& function = *flow.function;
  Regions regions = find_regions(function);
  std::map<std::optional<uint32_t>, PartBounds> landings =
      find_landings(find_ways_out(flow, evidence), evidence, regions);
  if (function.graph.blocks > 0) landings[find_region(function, 0)].add(kMisprediction, landed);
  FunctionStalls result;
  for (auto& [loop, instructions] : regions) {
    const bool can_miss_code = !loop || !stays_fetched(function, *loop);
    std::vector<const InstructionEvidence*> parts;
    for (const size_t i : instructions) parts.push_back(&evidence.instructions[i]);
    StallRegion region{
        loop,
        make_stalls(parts, evidence.events.find_bounds(instructions, evidence.bounded),
                    evidence.has_best, can_miss_code, landings[loop]),
        std::move(instructions)};
    result.all += region.stalls;
    result.regions.push_back(std::move(region));
  }
  std::stable_sort(
      result.regions.begin(), result.regions.end(),
      [](const StallRegion& a, const StallRegion& b) { return a.stalls.cycles > b.stalls.cycles; });
  return result;
}

std::map<FunctionKey, PartBounds> find_callee_landings(const FunctionFlow& flow,
                                                       const FunctionEvidence& evidence,
                                                       const CallSites& calls) {
  const FunctionGraph& function = *flow.function;
  WaysOut<FunctionKey> ways;
  for (const auto& [instruction, callees] : calls) {
    if (!may_be_mispredicted(evidence.instructions[instruction])) continue;
    const auto block = std::ranges::find_if(function.code.blocks, [&](const Block& one) {
      return one.first <= instruction && instruction < one.last;
    });
    const auto index = static_cast<uint32_t>(block - function.code.blocks.begin());
    if (index < function.graph.blocks) {
      ways[find_region(function, index)].push_back({instruction, callees});
    }
  }
  return find_landings(ways, evidence, find_regions(function));
}

}  // namespace culprit
