#include "pipeline/recurrence.h"

#include <algorithm>
#include <array>
#include <optional>

namespace culprit {
namespace {

/// Enough for the slowest chain to be the last to finish, whatever hangs on the others' ends.
constexpr size_t kIterations = 128;

/// One execution of an instruction, or of the addition that moves its address register on.
struct Execution {
  size_t instruction = 0;
  bool is_update = false;
  size_t iteration = 0;
  double done = 0;                   // [cycles] since the first iteration
  double took = 0;                   // of that, since what it waited for was done
  std::optional<size_t> waited_for;  // the execution; none: it began at once

  [[nodiscard]] bool is_again(const Execution& other) const {
    return instruction == other.instruction && is_update == other.is_update;
  }
};

class Dependences {
 public:
  Dependences(std::span<const InstructionCosts> loop, double load_cycles)
      : loop_(loop), load_cycles_(load_cycles) {}

  void run() {
    executions_.reserve(loop_.size() * kIterations);
    for (size_t iteration = 0; iteration < kIterations; ++iteration) {
      for (size_t i = 0; i < loop_.size(); ++i) run(iteration, i);
    }
  }

  /// Back from the last to finish: what it waited for, latest first.
  [[nodiscard]] std::vector<Execution> longest_path() const {
    const auto last =
        std::max_element(executions_.begin(), executions_.end(),
                         [](const Execution& a, const Execution& b) { return a.done < b.done; });
    std::vector<Execution> path{*last};
    while (path.back().waited_for) path.push_back(executions_[*path.back().waited_for]);
    return path;
  }

 private:
  /// Who of them makes its value last, `after` cycles later than it does.
  struct Start {
    double at = 0;
    std::optional<size_t> maker;
  };
  void wait_for(Start& start, std::span<const Register> registers, double after) const {
    for (const Register reg : registers) {
      if (reg == kNoRegister || !makers_[reg]) continue;
      const double ready = executions_[*makers_[reg]].done + after;
      if (!start.maker || ready > start.at) start = {ready, makers_[reg]};
    }
  }

  void run(size_t iteration, size_t instruction) {
    const InstructionCosts& one = loop_[instruction];
    const double load = one.loads != 0 ? load_cycles_ : 0;
    Start start{load, std::nullopt};
    wait_for(start, one.addresses, load);
    wait_for(start, one.reads, 0);
    Start address;
    wait_for(address, one.addresses, 0);
    const size_t made =
        note({instruction, false, iteration, start.at + one.latency_cycles, 0, start.maker});
    for (const Register reg : one.writes) {
      if (reg != kNoRegister) makers_[reg] = made;
    }
    if (one.updates == kNoRegister) return;
    if (makers_[one.updates]) wait_for(address, {&one.updates, 1}, 0);
    makers_[one.updates] = note({instruction, true, iteration, address.at + 1, 0, address.maker});
  }

  size_t note(Execution execution) {
    execution.took =
        execution.done - (execution.waited_for ? executions_[*execution.waited_for].done : 0);
    executions_.push_back(execution);
    return executions_.size() - 1;
  }

  std::span<const InstructionCosts> loop_;
  double load_cycles_;
  /// Of the registers' values: executions.
  std::array<std::optional<size_t>, kMostRegisters> makers_;
  std::vector<Execution> executions_;
};

}  // namespace

Recurrence find_recurrence(std::span<const InstructionCosts> loop, double load_cycles) {
  Recurrence recurrence;
  recurrence.shares.resize(loop.size());
  if (loop.empty()) return recurrence;
  Dependences dependences(loop, load_cycles);
  dependences.run();
  const std::vector<Execution> path = dependences.longest_path();

  // One round of the chain, from an execution of some instruction to an earlier one of it,
  // away from both ends.
  const auto end = std::find_if(path.begin(), path.end(), [](const Execution& one) {
    return one.iteration < kIterations * 3 / 4;
  });
  if (end == path.end()) return recurrence;
  const auto begin =
      std::find_if(end + 1, path.end(), [&](const Execution& one) { return one.is_again(*end); });
  if (begin == path.end()) return recurrence;
  const auto iterations = static_cast<double>(end->iteration - begin->iteration);
  for (auto at = end; at != begin; ++at) {
    recurrence.shares[at->instruction] += at->took / iterations;
    recurrence.cycles += at->took / iterations;
  }
  return recurrence;
}

}  // namespace culprit
