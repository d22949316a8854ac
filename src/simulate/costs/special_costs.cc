#include "simulate/costs/special_costs.h"

#include <algorithm>
#include <llvm/MC/MCInstrDesc.h>

namespace culprit::simulate {
namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_plain_load(const Decoded& instruction) {
  const std::string_view name = instruction.name;
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

/// LODSB, MOVSQ, STOSL, ...: bytes of one round; 0: no string instruction.
unsigned string_bytes(std::string_view name) {
  constexpr std::string_view kKinds[] = {"MOVS", "STOS", "LODS", "CMPS", "SCAS"};
  if (name.size() != 5) return 0;
  for (const std::string_view kind : kKinds) {
    if (!name.starts_with(kind)) continue;
    constexpr std::string_view kWidths = "BWLQ";
    const size_t width = kWidths.find(name.back());
    return width == std::string_view::npos ? 0 : 1U << width;
  }
  return 0;
}

bool is_serializing(std::string_view name) {
  return name == "CPUID" || name == "LFENCE" || name == "SERIALIZE" || name == "RDTSCP" ||
         name == "ISB" || name == "DSB";
}

}  // namespace

bool is_division(const Decoded& instruction) {
  const std::string_view name = instruction.name;
  return has(name, "DIV") || has(name, "SQRT");
}

Arithmetic find_arithmetic(const Decoded& instruction) {
  std::string_view name = instruction.name;
  if (name.starts_with('V')) name.remove_prefix(1);
  const auto is_of = [&](std::string_view operation) {
    if (!name.starts_with(operation)) return false;
    const std::string_view type = name.substr(operation.size(), 2);
    return type == "SD" || type == "SS" || type == "PD" || type == "PS";
  };
  if (is_of("ADD") || is_of("SUB")) return Arithmetic::fp_add;
  return is_of("MUL") ? Arithmetic::fp_multiply : Arithmetic::other;
}

// Intel, Optimization Reference Manual, 2.6.2 (macro-fusion); AMD's Zen 3 and later fuse as many.
bool is_fused(std::string_view before, const Decoded& instruction) {
  if (instruction.name != "JCC_1" && instruction.name != "JCC_4") return false;
  constexpr std::string_view kFirst[] = {"CMP", "TEST", "ADD", "SUB", "AND", "INC", "DEC"};
  return std::any_of(std::begin(kFirst), std::end(kFirst),
                     [&](std::string_view one) { return before.starts_with(one); });
}

void adjust_costs(const Decoded& instruction, unsigned load_latency, InstructionCosts& costs) {
  const std::string_view name = instruction.name;
  const bool loads = instruction.facts.mayLoad();
  const bool stores = instruction.facts.mayStore();
  // The uops of an access to memory and of its operation, or of a store's address and data,
  // are dispatched as one.
  if (loads && costs.uops > 1) --costs.uops;
  if (stores && costs.uops > 1) --costs.uops;
  costs.uops = std::max(1U, costs.uops);
  if (loads) costs.latency_cycles = std::max(0.0, costs.latency_cycles - load_latency);
  if (is_plain_load(instruction)) costs.latency_cycles = 0;
  if (is_move(name) || is_zero_idiom(instruction)) costs.latency_cycles = 0;
  if (const unsigned bytes = string_bytes(name); bytes != 0) {
    // With a repeat prefix each round is seen as an instruction. Long ones move 32 bytes a cycle.
    constexpr double kBytesPerCycle = 32;
    costs.uops = 0;
    costs.latency_cycles = 0;
    costs.microcode_cycles = bytes / kBytesPerCycle;
    return;
  }
  // More uops than decoders make come from the microcode sequencer, about four a cycle.
  constexpr uint32_t kDecoded = 4;
  if (costs.uops > kDecoded) {
    costs.microcode_cycles = costs.uops / 4.0;
    costs.uops = 0;
  }
  if (is_serializing(name)) costs.serialize_cycles = std::max(costs.latency_cycles, 4.0);
}

}  // namespace culprit::simulate
