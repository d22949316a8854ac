#pragma once

// What instructions cost by themselves, by a scheduling model of a CPU (code/costs), and what they
// work on: all that a simulated core or a model of loops asks of an instruction.

#include <cstdint>

#include "code/operands.h"

namespace culprit {

struct InstructionCosts : RegisterUse {
  uint32_t uops = 1;  // as dispatch counts them, without those of the microcode sequencer
  uint32_t loads = 0;
  uint32_t stores = 0;
  double latency_cycles = 1;    // from its operands (loaded ones, too) to its results
  double divider_cycles = 0;    // it keeps the divider busy
  double microcode_cycles = 0;  // it is sent by the microcode sequencer
  double serialize_cycles = 0;  // it waits until all before it is done (cpuid, lfence, mfence)
  double exclusive_cycles = 0;  // no other such one may run meanwhile (locked ones); others may
  double port_cycles = 0;       // on the block's busiest port
  bool is_call = false;
  bool is_of_frame = false;   // a return, or it saves or restores registers: a call's, too
  bool is_microcode = false;  // no pipeline takes so long
};

/// What a block costs as a whole, each limit by itself, in cycles per execution.
struct BlockCosts {
  double port_cycles = 0;   // of the busiest port
  double fetch_cycles = 0;  // to fetch and decode it out of L1I
};

}  // namespace culprit
