#include "branches/run_counter.h"

namespace culprit {

void RunCounter::Counts::add(const Counts& other, double sign) {
  executions += sign * other.executions;
  cycles += sign * other.cycles;
  weighted += sign * other.weighted;
  blocks += sign * other.blocks;
}

void RunCounter::add(const FunctionCode::Run& run, double count, double cycles) {
  const auto length = static_cast<double>(run.last - run.first + 1);
  const auto blocks = static_cast<double>(code_.count_blocks(run));
  const Counts step{count, cycles / length, count * length, count * blocks};
  steps_[run.first].add(step, 1);
  steps_[run.last + 1].add(step, -1);
}

}  // namespace culprit
