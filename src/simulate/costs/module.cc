// libculprit_costs.so: what the plugin loads into QEMU when cycles are wanted.

#include "simulate/costs/cost_model.h"

extern "C" __attribute__((visibility("default"))) culprit::simulate::CostSource*
culprit_make_cost_source(const char* target, const char* cpu,
                         const culprit::simulate::InstructionTimings& timings,
                         std::string& problem) {
  return culprit::simulate::CostModel::make(target, cpu, problem, timings).release();
}
