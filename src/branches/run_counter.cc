#include "branches/run_counter.h"

namespace culprit {

RunCounter::RunCounter(const FunctionCode& code) : code_(code), steps_(code.size() + 1) {
  blocks_before_.reserve(code.size() + 1);
  uint32_t blocks = 0;
  for (size_t i = 0; i < code.size(); ++i) {
    blocks_before_.push_back(blocks);
    if (code.begins_block(i)) ++blocks;
  }
  blocks_before_.push_back(blocks);
}

void RunCounter::add(const FunctionCode::Run& run, double count, double cycles) {
  const auto length = static_cast<double>(run.last - run.first + 1);
  const double blocks = blocks_before_[run.last + 1] - blocks_before_[run.first];
  const Counts step{count, cycles / length, count * length, count * blocks};
  Counts& first = steps_[run.first];
  first.executions += step.executions;
  first.cycles += step.cycles;
  first.weighted += step.weighted;
  first.blocks += step.blocks;
  Counts& behind = steps_[run.last + 1];
  behind.executions -= step.executions;
  behind.cycles -= step.cycles;
  behind.weighted -= step.weighted;
  behind.blocks -= step.blocks;
}

}  // namespace culprit
