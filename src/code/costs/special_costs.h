#pragma once

// What scheduling models do not have, or have for a compiler's purposes and not for a clock's.

#include <string_view>

#include "code/decoder/llvm_machinery.h"
#include "code/instruction_class.h"
#include "code/instruction_costs.h"

namespace culprit {

/// Front ends deliver about half a line of code per cycle.
inline constexpr double kFetchedBytesPerCycle = 32;

/// The instruction whose costs, in LLVM's model of `cpu`, that of this name has: mostly itself.
std::string_view find_alike(std::string_view cpu, std::string_view name);

/// rep movs, rep stos: what they take is for who knows their rounds to say; the block has no time
/// of them.
bool is_timed_by_rounds(const Operands& operands);

/// A return, and what saves and restores registers around calls.
bool is_of_frame(const DecodedInstruction& instruction);

/// Whether it takes longer than any pipeline has stages, and does not divide, lock or serialize:
/// f2xm1, rdrand.
bool is_microcode(const DecodedInstruction& instruction, const InstructionCosts& costs);

/// Whether `name` is a conditional branch that is one uop with the instruction before it, which
/// sets its flags. Both are LLVM's names.
bool is_fused(std::string_view before, std::string_view name);

/// Corrects the costs of LLVM's model, whose loads for this instruction take `load_latency` cycles
/// (the machine's own time of an L1 hit is for its user to add): fused uops, eliminated moves,
/// zero idioms, microcode, serializing and string instructions.
void adjust_costs(const DecodedInstruction& instruction, const Operands& operands,
                  unsigned load_latency, InstructionCosts& costs);

/// Whether what a class costs is no matter of ports: locked instructions exclude each other, and a
/// fence waits until all before it is done. Measured on Zen 4: 16 loads or 32 additions beside a
/// locked addition hide its 7 cycles; beside a fence each of them is added to its 57.
bool is_apart_from_ports(InstructionClass kind);

/// What a machine file says of its class. How long it keeps ports busy is the caller's.
void apply_timing(const InstructionTiming& timing, InstructionClass kind,
                  const DecodedInstruction& instruction, InstructionCosts& costs);

}  // namespace culprit
