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

/// Ways out of a region by branches that can have been mispredicted.
struct WaysOut {
  struct Way {
    std::optional<uint32_t> to;
    double runs = 0;
  };
  double most = 0;    // that the branches can have cost
  double likely = 0;  // that they cost by the model
  BoundSources sources;
  std::vector<Way> ways;
};

std::map<std::optional<uint32_t>, WaysOut> find_ways_out(const FunctionFlow& flow,
                                                         const FunctionEvidence& evidence) {
  const FunctionGraph& function = *flow.function;
  std::map<std::optional<uint32_t>, WaysOut> all;
  uint32_t last_from = function.graph.blocks;
  for (size_t i = 0; i < function.graph.edges.size(); ++i) {
    const FlowEdge& edge = function.graph.edges[i];
    if (edge.from >= function.graph.blocks || edge.to >= function.graph.blocks) continue;
    const std::optional<uint32_t> from = find_region(function, edge.from);
    const std::optional<uint32_t> to = find_region(function, edge.to);
    const InstructionEvidence& branch =
        evidence.instructions[function.code.blocks[edge.from].last - 1];
    const double most = branch.most[kMisprediction];
    if (from == to || !(most > 0) || !std::isfinite(most)) continue;
    WaysOut& out = all[from];
    if (edge.from != std::exchange(last_from, edge.from)) {
      out.most += most;
      out.likely += branch.likely[kMisprediction];
    }
    out.sources |= branch.sources[kMisprediction];
    out.ways.push_back({to, flow.edges[i] ? flow.edges[i]->runs.value : 0});
  }
  return all;
}

/// What mispredicted branches of other regions can have cost in each: of those at a region's ways
/// out as much as its own stalls leave, shared out by how often each way was taken.
std::map<std::optional<uint32_t>, PartBounds> find_landings(const FunctionFlow& flow,
                                                            const FunctionEvidence& evidence,
                                                            const Regions& regions) {
  std::map<std::optional<uint32_t>, PartBounds> landings;
  for (const auto& [from, out] : find_ways_out(flow, evidence)) {
    double possible = 0;
    double stall = 0;
    for (const size_t i : regions.at(from)) {
      const InstructionEvidence& one = evidence.instructions[i];
      possible += one.most[kMisprediction];
      stall += one.cycles - one.best.total();
    }
    const double left = std::min(out.most, possible - std::max(0.0, stall));
    double runs = 0;
    for (const WaysOut::Way& way : out.ways) runs += way.runs;
    if (!(left > 0) || !(runs > 0)) continue;
    for (const WaysOut::Way& way : out.ways) {
      PartBounds& landed = landings[way.to];
      const double part = left / out.most * way.runs / runs;
      landed.most[kMisprediction] += out.most * part;
      landed.likely[kMisprediction] += out.likely * part;
      landed.sources[kMisprediction] |= out.sources;
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
    possible.most[cause] += landed.most[cause];
    possible.likely[cause] += landed.likely[cause];
    possible.sources[cause] |= landed.sources[cause];
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

FunctionStalls find_function_stalls(const FunctionFlow& flow, const FunctionEvidence& evidence) {
  const FunctionGraph& function = *flow.function;
  Regions regions;
  for (uint32_t block = 0; block < function.graph.blocks; ++block) {
    const std::optional<uint32_t> loop = find_region(function, block);
    for (size_t i = function.code.blocks[block].first; i < function.code.blocks[block].last; ++i) {
      regions[loop].push_back(i);
    }
  }
  std::map<std::optional<uint32_t>, PartBounds> landings = find_landings(flow, evidence, regions);
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

}  // namespace culprit
