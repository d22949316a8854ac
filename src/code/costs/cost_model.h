#pragma once

// CostModel: the static costs of code by LLVM's scheduling model of a CPU.
//
//     std::string problem;
//     auto model = CostModel::make("x86_64", "znver4", problem);
//     const BlockCosts block = model->compute_costs(code, costs, known);

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "code/instruction_class.h"
#include "code/instruction_costs.h"

namespace culprit {

/// How long an instruction keeps one resource busy: a port, or ports that share work, as if each of
/// them took an equal part.
struct PortUse {
  uint32_t resource = 0;  // of resource_names()
  double cycles = 0;
};

class CostModel {
 public:
  /// `target`: "x86_64" or "aarch64". `cpu`: LLVM's name ("znver4", "neoverse-n1"); "": one that
  /// is common, as for a CPU of another architecture. `timings`: of x86, what is known better than
  /// by LLVM. nullptr: `problem` says why.
  static std::unique_ptr<CostModel> make(const std::string& target, const std::string& cpu,
                                         std::string& problem,
                                         const InstructionTimings& timings = {});
  ~CostModel();
  /// Whether there can be a model of code for this architecture.
  static bool has_target(std::string_view target);

  /// LLVM's name of the CPU whose costs these are: of one that is common, where the one that was
  /// asked for is of another architecture.
  [[nodiscard]] std::string cpu() const;
  /// Whether the CPU has instructions of a kind, as LLVM names it: "fma", "avx512f".
  [[nodiscard]] bool has_feature(const std::string& name) const;

  /// Costs of the instructions of a block, each given by its bytes, in their order. They are
  /// decoded here: what a scheduling model costs depends on more of LLVM's instruction than its
  /// operands. Shape:  `known[i]`: false if the model does not know the instruction; it has the
  /// default
  ///         costs then. Both spans as long as `code`.
  BlockCosts compute_costs(std::span<const std::span<const uint8_t>> code,
                           std::span<InstructionCosts> costs, std::span<bool> known);

  /// The resources that instructions work in, each by itself: none of divisions and microcode,
  /// whose time is not the ports'. Valid for the code of the last compute_costs().
  [[nodiscard]] const std::vector<std::vector<PortUse>>& uses() const { return uses_; }
  /// The scheduling model's names, "SKXPort0", "SKXPort01": a unit, or several that share work.
  [[nodiscard]] std::vector<std::string> resource_names() const;
  /// How long it takes from an address to what is there, if that is in L1D. [cycles]
  [[nodiscard]] double load_cycles() const;

 private:
  struct Parts;
  explicit CostModel(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
  std::vector<std::vector<PortUse>> uses_;
};

}  // namespace culprit
