#pragma once

// A simulated core made by hand: blocks, their accesses, and the cycles that pass.

#include <vector>

#include "simulate/machine/core.h"
#include "simulate/machine/machine.h"

namespace culprit::simulate {

/// Four wide, reorder buffer of 192, 10 miss buffers; memory without limit unless set.
inline MachineModel simple_machine() {
  MachineModel machine;
  machine.memory.latency_cycles = 200;
  machine.memory.bytes_per_cycle = 1e9;
  machine.memory.l2_bytes_per_cycle = 1e9;
  machine.core.load_queue = 4096;
  return machine;
}

/// Instructions of one uop and one cycle each, that wait for nothing; the first is site 1.
inline std::vector<InstructionCosts> plain(size_t count) {
  return std::vector<InstructionCosts>(count);
}

inline BlockCycles make_block(const std::vector<InstructionCosts>& instructions,
                              Site first_site = 1) {
  BlockCycles block = compute_block_cycles(instructions, {}, CoreSettings());
  for (size_t i = 0; i < block.steps.size(); ++i) {
    block.steps[i].site = first_site + static_cast<Site>(i);
  }
  return block;
}
inline BlockCycles make_block(size_t uops) {
  return make_block(plain(uops), 50);
}

/// mov (address), %to
inline InstructionCosts make_load(Register to = kNoRegister, Register address = kNoRegister) {
  InstructionCosts load;
  load.loads = 1;
  load.latency_cycles = 0;
  load.writes[0] = to;
  load.addresses[0] = address;
  return load;
}

/// `reg` = f(`reg`)
inline InstructionCosts make_step(Register reg, double latency) {
  InstructionCosts step;
  step.latency_cycles = latency;
  step.reads[0] = step.writes[0] = reg;
  return step;
}

/// `loads` loads that do not depend on each other.
inline BlockCycles make_loads(size_t loads) {
  return make_block(std::vector<InstructionCosts>(loads, make_load()));
}

/// One load, three other instructions.
inline BlockCycles load_block() {
  std::vector<InstructionCosts> instructions = plain(4);
  instructions[0] = make_load();
  return make_block(instructions);
}

/// A core and the stalls of its sites.
struct Clock {
  explicit Clock(const MachineModel& machine) : core(machine, sites.data()) {}

  std::vector<SiteTicks> sites = std::vector<SiteTicks>(128);
  IntervalCore core;

  void run(const BlockCycles& block, int times = 1) {
    for (int i = 0; i < times; ++i) {
      core.end_block();
      core.begin_block(block);
    }
  }
  double now() {
    core.end_block();
    return to_cycles(core.now());
  }
  [[nodiscard]] double stalled(CycleClass kind) const {
    Ticks sum = 0;
    for (const SiteTicks& site : sites) sum += site.stalls[kind];
    return to_cycles(sum);
  }
  [[nodiscard]] double stalled(Site site, CycleClass kind) const {
    return to_cycles(sites[site].stalls[kind]);
  }
};

inline Outcome from(DataSource source, uint16_t latency) {
  Outcome outcome;
  outcome.source = source;
  outcome.missed_lines = 1;
  outcome.latency_cycles = latency;
  return outcome;
}
inline Outcome from_memory() {
  Outcome outcome = from(DataSource::memory, 200);
  outcome.memory_lines = 1;
  return outcome;
}

}  // namespace culprit::simulate
