#include "why/loop_rounds.h"

#include <algorithm>
#include <numeric>

#include "attribute/variant_family.h"
#include "why/own_code.h"

namespace culprit {
namespace {

double count_instructions(const FunctionFlow& flow) {
  return std::accumulate(flow.instructions.begin(), flow.instructions.end(), 0.0);
}

}  // namespace

LoopFinder::LoopFinder(const Profile& profile, const FactsLookup& facts)
    : code_(profile, facts),
      code_flow_(code_),
      flows_(code_flow_, find_executions(profile, facts)) {}

std::optional<LoopRounds> LoopFinder::find(const std::string& function) {
  if (flows_.source() != ExecutionSource::counted) return std::nullopt;
  const std::string family = find_variant_family(function);
  std::optional<LoopRounds> found;
  double most = 0;
  for (uint32_t image = 0; image < code_.profile().images.size(); ++image) {
    const ImageFacts* const facts = code_.facts(ImageId(image));
    if (facts == nullptr) continue;
    for (uint32_t row = 0; row < facts->functions.size(); ++row) {
      const std::string& name = facts->strings.text(facts->functions[row].name);
      const bool is_variant = !family.empty() && find_variant_family(name) == family;
      if (name != function && !is_variant) continue;
      const std::optional<FunctionFlow> flow = flows_.find(ImageId(image), row);
      if (!flow || count_instructions(*flow) <= most) continue;
      most = count_instructions(*flow);
      found = find(ImageId(image), *flow);
    }
  }
  return found;
}

std::optional<LoopRounds> LoopFinder::find(ImageId image, const FunctionFlow& flow) {
  constexpr double kMost = 0.5;  // of the function's instructions
  const FunctionGraph& function = *flow.function;
  std::vector<double> instructions(function.loops.loops.size());
  for (uint32_t block = 0; block < function.graph.blocks; ++block) {
    const std::optional<uint32_t> loop = function.loops.innermost[block];
    if (!loop || !function.loops.loops[*loop].is_innermost) continue;
    const Block& where = function.code.blocks[block];
    for (size_t i = where.first; i < where.last; ++i) instructions[*loop] += flow.instructions[i];
  }
  const auto largest = std::ranges::max_element(instructions);
  if (largest == instructions.end() || !(*largest > kMost * count_instructions(flow))) {
    return std::nullopt;
  }
  const auto loop = static_cast<uint32_t>(largest - instructions.begin());
  const FlowLoop& shape = function.loops.loops[loop];
  const LoopBounds bounds = find_loop_bounds(flow)[loop];
  if (!(bounds.entries.value > 0)) return std::nullopt;
  LoopRounds found;
  found.entries = bounds.entries.value;
  found.is_search = bounds.ways_out > 1;
  found.rounds = flow.runs(shape.head) / found.entries;
  const Location head{image, function.code.to_offset(function.code.blocks[shape.head].begin)};
  const std::vector<Frame> frames = code_.frames(head);
  if (!frames.empty()) {
    const Frame& frame = frames.front();
    found.line = name_line(code_.facts(image)->strings.text(frame.file), frame.line);
  }
  return found;
}

}  // namespace culprit
