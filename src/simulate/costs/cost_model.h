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

#include "simulate/machine/cost_source.h"

namespace culprit::simulate {

class CostModel : public CostSource {
 public:
  /// `target`: "x86_64" or "aarch64". `cpu`: LLVM's name ("znver4", "neoverse-n1"); "": one that
  /// is common, as for a CPU of another architecture. nullptr: `problem` says why.
  static std::unique_ptr<CostModel> make(const std::string& target, const std::string& cpu,
                                         std::string& problem);
  ~CostModel() override;

  BlockCosts compute_costs(std::span<const std::span<const uint8_t>> code,
                           std::span<InstructionCosts> costs, std::span<bool> known) override;

 private:
  struct Machinery;
  explicit CostModel(std::unique_ptr<Machinery> machinery);
  std::unique_ptr<Machinery> machinery_;
};

}  // namespace culprit::simulate
