// libculprit_costs.so: what the plugin loads into QEMU when cycles are wanted.

#include "code/costs/cost_model.h"
#include "simulate/machine/cost_source.h"

namespace culprit::simulate {
namespace {

class LlvmCosts final : public CostSource {
 public:
  explicit LlvmCosts(std::unique_ptr<CostModel> model) : model_(std::move(model)) {}

  BlockCosts compute_costs(std::span<const std::span<const uint8_t>> code,
                           std::span<InstructionCosts> costs, std::span<bool> known) override {
    return model_->compute_costs(code, costs, known);
  }

 private:
  std::unique_ptr<CostModel> model_;
};

}  // namespace
}  // namespace culprit::simulate

extern "C" __attribute__((visibility("default"))) culprit::simulate::CostSource*
culprit_make_cost_source(const char* target, const char* cpu,
                         const culprit::InstructionTimings& timings, std::string& problem) {
  auto model = culprit::CostModel::make(target, cpu, problem, timings);
  return model == nullptr ? nullptr : new culprit::simulate::LlvmCosts(std::move(model));
}
