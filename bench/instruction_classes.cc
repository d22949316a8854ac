// Prints the loops by which a machine file's [instructions] are measured, for
// bench/instruction_costs.py --classes: a line each, with tabs between name, chain, independent
// ones, how many these are, what the chain takes beside, whether it hits L1D, and the class that it
// has, too.

#include <fmt/format.h>

#include "code/instruction_class.h"

int main() {
  using culprit::instruction_loops;
  const auto loops = instruction_loops();
  const auto name_of = [&](culprit::InstructionClass kind) {
    return kind == culprit::InstructionClass::other ? ""
                                                    : loops[static_cast<size_t>(kind) - 1].name;
  };
  for (const culprit::InstructionLoop& loop : loops) {
    const char* const chain = loop.chain == nullptr ? "" : loop.chain;
    const char* const independent = loop.independent == nullptr ? chain : loop.independent;
    fmt::print("{}\t{}\t{}\t{}\t{}\t{}\t{}\n", loop.name, chain, independent, loop.count,
               loop.beside_cycles, loop.hits_l1d ? 1 : 0, name_of(loop.also));
  }
  return 0;
}
