#include "pipeline/function_costs.h"

#include <algorithm>
#include <map>
#include <memory>
#include <span>

namespace culprit {
namespace {

std::span<const uint8_t> as_bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

}  // namespace

std::optional<FunctionCosts> find_function_costs(CodeIndex& index, ImageId image,
                                                 const FunctionFact& function, CostModel& model) {
  Result<Disassembly> code = index.disassemble(image, function.begin, function.end, Detail::flow);
  if (!code) return std::nullopt;
  FunctionCosts all;
  all.code = *std::move(code);
  const size_t count = all.code.instructions.size();
  all.costs.resize(count);
  all.uses.resize(count);
  all.is_known.resize(count);
  std::vector<std::span<const uint8_t>> bytes;
  for (const Instruction& one : all.code.instructions) {
    bytes.push_back(as_bytes(index.find_bytes(image, all.code.to_offset(one.address), one.size)));
  }
  // Instructions are fused with the one before them only within a block.
  for (const Block& block : all.code.blocks) {
    const size_t size = block.last - block.first;
    const auto is_known = std::make_unique<bool[]>(size);
    model.compute_costs(std::span(bytes).subspan(block.first, size),
                        std::span(all.costs).subspan(block.first, size), {is_known.get(), size});
    for (size_t i = 0; i < size; ++i) {
      all.is_known[block.first + i] = is_known[i];
      all.uses[block.first + i] = model.uses()[i];
    }
  }
  return all;
}

double throughput_cycles(const FunctionCosts& function, const std::vector<size_t>& instructions,
                         double dispatch_width) {
  double uops = 0;
  double divider = 0;
  double microcode = 0;
  std::map<uint32_t, double> busy;
  for (const size_t i : instructions) {
    uops += function.costs[i].uops;
    divider += function.costs[i].divider_cycles;
    microcode += function.costs[i].microcode_cycles + function.costs[i].serialize_cycles;
    for (const PortUse& use : function.uses[i]) busy[use.resource] += use.cycles;
  }
  double longest = std::max(uops / dispatch_width, divider);
  for (const auto& [resource, cycles] : busy) longest = std::max(longest, cycles);
  return longest + microcode;
}

}  // namespace culprit
