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

#include "simulate/machine/cost_source.h"

namespace culprit::simulate {

/// How long an instruction keeps one resource busy: a port, or ports that share work, as if each of
/// them took an equal part.
struct ResourceUse {
  uint32_t resource = 0;  // of resource_names()
  double cycles = 0;
};

class CostModel : public CostSource {
 public:
  /// `target`: "x86_64" or "aarch64". `cpu`: LLVM's name ("znver4", "neoverse-n1"); "": one that
  /// is common, as for a CPU of another architecture. `timings`: of x86, what is known better than
  /// by LLVM. nullptr: `problem` says why.
  static std::unique_ptr<CostModel> make(const std::string& target, const std::string& cpu,
                                         std::string& problem,
                                         const InstructionTimings& timings = {});
  ~CostModel() override;
  /// Whether there can be a model of code for this architecture.
  static bool has_target(std::string_view target);

  BlockCosts compute_costs(std::span<const std::span<const uint8_t>> code,
                           std::span<InstructionCosts> costs, std::span<bool> known) override;

  /// The resources that instructions work in, each by itself: none of divisions and microcode,
  /// whose time is not the ports'. Valid for the code of the last compute_costs().
  [[nodiscard]] const std::vector<std::vector<ResourceUse>>& uses() const { return uses_; }
  /// The scheduling model's names, "SKXPort0", "SKXPort01": a unit, or several that share work.
  [[nodiscard]] std::vector<std::string> resource_names() const;
  /// How long it takes from an address to what is there, if that is in L1D. [cycles]
  [[nodiscard]] double load_cycles() const;

 private:
  struct Machinery;
  explicit CostModel(std::unique_ptr<Machinery> machinery);
  std::unique_ptr<Machinery> machinery_;
  std::vector<std::vector<ResourceUse>> uses_;
};

}  // namespace culprit::simulate
