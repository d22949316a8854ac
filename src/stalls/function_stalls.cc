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

}  // namespace

Stalls& Stalls::operator+=(const Stalls& more) {
  cycles += more.cycles;
  samples += more.samples;
  executions += more.executions;
  best += more.best;
  gain += more.gain;
  explained += more.explained;
  unexplained += more.unexplained;
  untold += more.untold;
  for (size_t cause = 0; cause < kStallCauses; ++cause) {
    low[cause] += more.low[cause];
    high[cause] += more.high[cause];
  }
  return *this;
}

Stalls make_stalls(const std::vector<const InstructionEvidence*>& parts, bool has_model,
                   bool can_miss_code) {
  Stalls stalls;
  CauseCycles most{};
  for (const InstructionEvidence* part : parts) {
    stalls.cycles += part->cycles;
    stalls.samples += part->samples;
    stalls.executions += part->executions;
    stalls.best += part->best;
    for (size_t cause = 0; cause < kStallCauses; ++cause) most[cause] += part->most[cause];
  }
  if (!can_miss_code) most[static_cast<size_t>(StallCause::code_fetch)] = 0;
  if (!has_model) {
    stalls.best = {};
    stalls.untold = stalls.cycles;
    stalls.high = bound_causes(stalls.cycles, most).high;
    return stalls;
  }
  const double stall = stalls.cycles - stalls.best.total();
  stalls.gain = std::max(0.0, -stall);
  const CauseBounds bounds = bound_causes(stall, most);
  stalls.low = bounds.low;
  stalls.high = bounds.high;
  stalls.unexplained = bounds.unexplained;
  stalls.explained = std::max(0.0, stall) - bounds.unexplained;
  return stalls;
}

FunctionStalls find_function_stalls(const FunctionFlow& flow,
                                    std::vector<InstructionEvidence> evidence, bool has_model) {
  const FunctionGraph& function = *flow.function;
  FunctionStalls result;
  result.instructions = std::move(evidence);
  std::map<std::optional<uint32_t>, std::vector<const InstructionEvidence*>> parts;
  for (uint32_t block = 0; block < function.graph.blocks; ++block) {
    std::optional<uint32_t> loop = function.loops.innermost[block];
    if (loop && !function.loops.loops[*loop].is_innermost) loop.reset();
    for (size_t i = function.code.blocks[block].first; i < function.code.blocks[block].last; ++i) {
      parts[loop].push_back(&result.instructions[i]);
    }
  }
  for (const auto& [loop, instructions] : parts) {
    const bool can_miss_code = !loop || !stays_fetched(function, *loop);
    StallRegion region{loop, make_stalls(instructions, has_model, can_miss_code)};
    result.all += region.stalls;
    result.regions.push_back(std::move(region));
  }
  std::stable_sort(
      result.regions.begin(), result.regions.end(),
      [](const StallRegion& a, const StallRegion& b) { return a.stalls.cycles > b.stalls.cycles; });
  return result;
}

}  // namespace culprit
