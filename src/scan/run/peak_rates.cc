#include "scan/run/peak_rates.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "code/costs/cost_model.h"

namespace culprit::scan {
namespace {

/// A port that is busy for half a cycle each time shows in several rounds only.
constexpr size_t kRounds = 8;

struct Sequence {
  const char* architecture;
  const char* feature;  // that the CPU must have
  std::vector<std::vector<uint8_t>> code;
  double operations;
};

const std::vector<Sequence>& sequences() {
  // llvm-mc -show-encoding
  static const std::vector<Sequence> kAll = {
      {"x86_64", "avx512f", {{0x62, 0xf2, 0xed, 0x48, 0xb8, 0xd9}}, 16},  // vfmadd231pd of 512 bits
      {"x86_64", "fma", {{0xc4, 0xe2, 0xed, 0xb8, 0xd9}}, 8},             // of 256 bits
      {"x86_64", "fma", {{0xc4, 0xe2, 0xe9, 0xb8, 0xd9}}, 4},             // of 128 bits
      // vmulpd and vaddpd of 256 bits; mulpd and addpd
      {"x86_64", "avx", {{0xc5, 0xed, 0x59, 0xd9}, {0xc5, 0xd5, 0x58, 0xf4}}, 8},
      {"x86_64", "sse2", {{0x66, 0x0f, 0x59, 0xd1}, {0x66, 0x0f, 0x58, 0xec}}, 4},
      {"aarch64", "neon", {{0x20, 0xcc, 0x62, 0x4e}}, 4},  // fmla v0.2d, v1.2d, v2.2d
  };
  return kAll;
}

/// Operations per cycle of one sequence; 0 if the CPU does not have its instructions.
double find_rate(const Sequence& sequence, CostModel& model, double dispatch_width) {
  if (!model.has_feature(sequence.feature)) return 0;
  std::vector<std::span<const uint8_t>> code;
  for (size_t round = 0; round < kRounds; ++round) {
    code.insert(code.end(), sequence.code.begin(), sequence.code.end());
  }
  std::vector<InstructionCosts> costs(code.size());
  const auto known = std::make_unique<bool[]>(code.size());
  const BlockCosts block = model.compute_costs(code, costs, {known.get(), code.size()});
  if (!std::all_of(known.get(), known.get() + code.size(), [](bool one) { return one; })) return 0;
  double uops = 0;
  for (const InstructionCosts& one : costs) uops += one.uops;
  const double cycles = std::max(block.port_cycles, uops / dispatch_width);
  return cycles > 0 ? static_cast<double>(kRounds) * sequence.operations / cycles : 0;
}

}  // namespace

std::optional<double> find_peak_flops(const simulate::MachineModel& machine) {
  if (machine.llvm_cpu.empty()) return std::nullopt;
  double most = 0;
  for (const char* architecture : {"x86_64", "aarch64"}) {
    std::string problem;
    const auto model = CostModel::make(architecture, machine.llvm_cpu, problem);
    if (model == nullptr || model->cpu() != machine.llvm_cpu) continue;
    for (const Sequence& one : sequences()) {
      if (one.architecture != std::string(architecture)) continue;
      most = std::max(most, find_rate(one, *model, machine.core.dispatch_width));
    }
  }
  return most > 0 ? std::optional(most) : std::nullopt;
}

}  // namespace culprit::scan
