#include "code/costs/special_costs.h"

#include <algorithm>
#include <llvm/MC/MCInstrDesc.h>

#include "code/costs/classes.h"
#include "code/decoder/operand_reader.h"

namespace culprit {
namespace {

bool is_plain_load(const DecodedInstruction& instruction) {
  const std::string_view name = instruction.name;
  if (!instruction.facts->mayLoad()) return false;  // movzbl %al, %eax
  if (name.starts_with("POPCNT")) return false;     // is no pop
  return name.starts_with("MOV64rm") || name.starts_with("MOV32rm") || name.starts_with("MOVZX") ||
         name.starts_with("MOVSX") || name.starts_with("POP") || name.starts_with("LDR") ||
         name.starts_with("LDUR") || name.starts_with("LDP");
}

bool is_move(std::string_view name) {
  constexpr std::string_view kMoves[] = {"MOV64rr",   "MOV32rr",   "MOVAPSrr",   "MOVAPDrr",
                                         "MOVDQArr",  "VMOVAPSrr", "VMOVAPDrr",  "VMOVDQArr",
                                         "VMOVUPSrr", "MOVUPSrr",  "VMOVAPSYrr", "VMOVDQAYrr"};
  return std::find(std::begin(kMoves), std::end(kMoves), name) != std::end(kMoves);
}

/// ADD64mr, INC32m, SHL8mCL, ...: x86's arithmetic on an operand in memory, which it changes.
bool is_changed_in_memory(std::string_view name) {
  constexpr std::string_view kKinds[] = {"ADD", "SUB", "AND", "OR",  "XOR", "ADC", "SBB", "INC",
                                         "DEC", "NEG", "NOT", "SHL", "SHR", "SAR", "ROL", "ROR"};
  for (const std::string_view kind : kKinds) {
    if (!name.starts_with(kind)) continue;
    const std::string_view rest = name.substr(kind.size());
    const size_t digits = rest.find_first_not_of("0123456789");
    if (digits != 0 && digits != std::string_view::npos && rest[digits] == 'm') return true;
  }
  return false;
}

/// LLVM's names of instructions that cost what others do, whatever LLVM says.
struct Alike {
  std::string_view cpus;  // LLVM's names of those begin so
  std::string_view name;
  std::string_view other;
};
// endbr64 does nothing where shadow stacks are off; LLVM's models have it as a system instruction
// of 100 uops. Those of AMD have two cycles of an ALU for each constant, and one move of a byte or
// a word per cycle. Measured on Zen 4: three of those constants, three such loads, two sets on a
// condition in a cycle (bench/instruction_costs.py).
constexpr Alike kAlike[] = {
    {"", "ENDBR64", "NOOP"},
    {"", "ENDBR32", "NOOP"},
    {"znver", "MOV8ri", "MOVZX32rr8"},
    {"znver", "MOV16ri", "MOVZX32rr8"},
    {"znver", "MOV32ri", "MOVZX32rr8"},
    {"znver", "MOV64ri32", "MOVZX32rr8"},
    {"znver", "MOV64ri", "MOVZX32rr8"},
    {"znver", "MOV8rr", "MOVZX32rr8"},
    {"znver", "MOV8rm", "MOV32rm"},
    {"znver", "MOV16rm", "MOV32rm"},
    {"znver", "MOV8mr", "MOV32mr"},
    {"znver", "MOV16mr", "MOV32mr"},
    {"znver", "MOV8mi", "MOV32mi"},
    {"znver", "MOV16mi", "MOV32mi"},
    {"znver", "SETCCr", "SHL32rCL"},
};

}  // namespace

bool is_of_frame(const DecodedInstruction& instruction) {
  if (instruction.facts->isReturn()) return true;
  // Of aarch64 pairs are saved and restored by stores and loads that move the stack pointer.
  constexpr std::string_view kFrames[] = {"PUSH", "POP", "LEAVE", "ENDBR", "STPXpre", "LDPXpost"};
  const std::string_view name = instruction.name;
  return !name.starts_with("POPCNT") &&
         std::ranges::any_of(kFrames, [&](std::string_view one) { return name.starts_with(one); });
}

bool is_microcode(const DecodedInstruction& instruction, const InstructionCosts& costs) {
  constexpr double kLongestPipeline = 40;  // cycles
  return costs.latency_cycles > kLongestPipeline && costs.divider_cycles == 0 &&
         costs.exclusive_cycles == 0 && costs.serialize_cycles == 0 &&
         !instruction.facts->mayLoad() && !instruction.facts->mayStore();
}

bool is_timed_by_rounds(const Operands& operands) {
  return operands.repeats && operands.string_bytes != 0 && operands.stores;
}

// Intel, Optimization Reference Manual, 2.6.2 (macro-fusion); AMD's Zen 3 and later fuse as many.
bool is_fused(std::string_view before, std::string_view name) {
  if (name != "JCC_1" && name != "JCC_4") return false;
  constexpr std::string_view kFirst[] = {"CMP", "TEST", "ADD", "SUB", "AND", "INC", "DEC"};
  return std::any_of(std::begin(kFirst), std::end(kFirst),
                     [&](std::string_view one) { return before.starts_with(one); });
}

std::string_view find_alike(std::string_view cpu, std::string_view name) {
  for (const Alike& one : kAlike) {
    if (name == one.name && cpu.starts_with(one.cpus)) return one.other;
  }
  return name;
}

void adjust_costs(const DecodedInstruction& instruction, const Operands& operands,
                  unsigned load_latency, InstructionCosts& costs) {
  const std::string_view name = instruction.name;
  const bool loads = instruction.facts->mayLoad();
  const bool stores = instruction.facts->mayStore();
  // The uops of an access to memory and of its operation, or of a store's address and data,
  // are dispatched as one.
  if (loads && costs.uops > 1) --costs.uops;
  if (stores && costs.uops > 1) --costs.uops;
  costs.uops = std::max(1U, costs.uops);
  if (loads) costs.latency_cycles = std::max(0.0, costs.latency_cycles - load_latency);
  if (is_plain_load(instruction)) costs.latency_cycles = 0;
  // A store has no result. LLVM says when others may see it: of Sapphire Rapids 12 cycles, of
  // non-temporal ones 500.
  if (stores && !loads) costs.latency_cycles = std::min(costs.latency_cycles, 1.0);
  // Whoever loads the result next gets it as soon as it is there at all.
  if (is_changed_in_memory(name)) costs.latency_cycles = std::min(costs.latency_cycles, 1.0);
  if (is_move(name) || is_zero_idiom(instruction)) costs.latency_cycles = 0;
  if (operands.string_bytes != 0) {
    // Each round of a repeat prefix is seen as an instruction.
    constexpr double kBytesPerCycle = 32;
    costs.uops = 0;
    costs.latency_cycles = 0;
    costs.microcode_cycles = operands.string_bytes / kBytesPerCycle;
    if (!is_timed_by_rounds(operands)) return;
    costs.microcode_cycles = 0;
    costs.loads = operands.loads ? 1 : 0;  // LLVM says nothing
    costs.stores = 1;
    // Rounds do not wait for each other: microcode counts them and their addresses by itself.
    costs.writes.fill(kNoRegister);
    costs.updates = kNoRegister;
    return;
  }
  // More uops than decoders make come from the microcode sequencer, about four a cycle.
  constexpr uint32_t kDecoded = 4;
  if (costs.uops > kDecoded) {
    costs.microcode_cycles = costs.uops / 4.0;
    costs.uops = 0;
  }
  if (operands.is_serializing) costs.serialize_cycles = std::max(costs.latency_cycles, 4.0);
}

bool is_apart_from_ports(InstructionClass kind) {
  return kind == InstructionClass::locked || kind == InstructionClass::memory_fence;
}

void apply_timing(const InstructionTiming& timing, InstructionClass kind,
                  const DecodedInstruction& instruction, InstructionCosts& costs) {
  // What needs no unit, as a register's difference from itself, needs none of a class either.
  const bool has_result = costs.latency_cycles > 0 || costs.loads > 0;
  if (timing.latency_cycles > 0 && has_result) costs.latency_cycles = timing.latency_cycles;
  if (!(timing.cycles > 0)) return;
  if (kind == InstructionClass::locked) costs.exclusive_cycles = timing.cycles;
  if (kind == InstructionClass::memory_fence) costs.serialize_cycles = timing.cycles;
  if (costs.divider_cycles > 0 && !is_wide_vector(instruction)) {
    costs.divider_cycles = timing.cycles;
  }
  if (costs.microcode_cycles > 0) costs.uops = 1;
  costs.microcode_cycles = 0;
}

}  // namespace culprit
