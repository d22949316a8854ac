#include "simulate/plugin/interleaving.h"

#include <pthread.h>

#include "simulate/machine/core_state.h"
#include "simulate/machine/cycles.h"

namespace culprit {
namespace {

constexpr uint64_t kLongestCycles = 2000;  // in which other cores' accesses are not missed much
/// A core that got a contended line keeps it for the time that the next one's request takes.
constexpr uint64_t kLineStaysCycles = 60;

/// A turn of one of two threads is two quanta, and half of a transfer, as the wait for a line is
/// one step of the clock: together a transfer and the line's stay.
Quanta quanta_for(uint32_t line_transfer_cycles) {
  const uint64_t shortest = line_transfer_cycles / 4 + kLineStaysCycles / 2;
  return {.shortest = shortest * simulate::kTicksPerCycle,
          .longest = kLongestCycles * simulate::kTicksPerCycle};
}

Turnstile* turnstile = nullptr;
CountsWriter* counts = nullptr;
qemu_plugin_vcpu_udata_cb_t counted_block_runs = nullptr;
thread_local unsigned calling = 0;              // the thread's number, in a system call
uint64_t lines_taken[Turnstile::kMostThreads];  // by each core, up to its last turn

/// In ticks; without cycles, or outside the region, an instruction is a cycle.
uint64_t clock_of(const Core& core) {
  const counts_file::CoreHeader& header = *core.shared.header;
  const uint64_t outside = header.outside_instructions * simulate::kTicksPerCycle;
  if (core.clock) return core.clock->now() + outside;
  const uint64_t inside = header.instructions.load(std::memory_order_relaxed);
  return inside * simulate::kTicksPerCycle + outside;
}

bool has_taken_lines(unsigned vcpu, const Core& core) {
  if (core.memory == nullptr) return false;
  const uint64_t before = lines_taken[vcpu];
  lines_taken[vcpu] = core.memory->traffic.taken_from_others;
  return lines_taken[vcpu] != before;
}

void block_runs_in_turn(unsigned vcpu, void* block) {
  if (const Core* const core = cores[vcpu]) {
    const uint64_t now = clock_of(*core);
    if (turnstile->is_over(vcpu, now)) [[unlikely]] {
      turnstile->pass(vcpu, now, has_taken_lines(vcpu, *core));
    }
  }
  counted_block_runs(vcpu, block);
}

bool is_in_turn(unsigned vcpu) {
  return turnstile != nullptr && vcpu < Turnstile::kMostThreads && cores[vcpu] != nullptr;
}

}  // namespace

bool interleave_threads(CountsWriter& writer, uint32_t line_transfer_cycles) {
  if (!Turnstile::can_watch()) return false;
  counts = &writer;
  writer.header().is_interleaved = 1;
  turnstile = new Turnstile(quanta_for(line_transfer_cycles));
  ::pthread_atfork([] { turnstile->before_fork(); }, [] { turnstile->after_fork(); }, nullptr);
  return true;
}

Callbacks callbacks_in_turn(const Callbacks& callbacks) {
  counted_block_runs = callbacks.block_runs;
  Callbacks in_turn = callbacks;
  in_turn.block_runs = block_runs_in_turn;
  return in_turn;
}

void expect_thread(unsigned vcpu) {
  if (!is_in_turn(vcpu)) return;
  if (!turnstile->expect(vcpu, clock_of(*cores[vcpu]))) counts->header().is_interleaved = 0;
}

void begin_call_in_turn(unsigned vcpu, const AnnouncedCall& call) {
  calling = vcpu;
  if (is_in_turn(vcpu)) turnstile->begin_call(vcpu, clock_of(*cores[vcpu]), call);
}

void end_call_in_turn(unsigned vcpu, int64_t result) {
  if (is_in_turn(vcpu)) turnstile->end_call(vcpu, clock_of(*cores[vcpu]), result < 0);
}

void end_turns(unsigned vcpu) {
  if (turnstile == nullptr) return;
  for (unsigned other = 0; other < counts_file::kMaxCores; ++other) {
    if (other != vcpu) forget_core(other);
  }
  turnstile->open();
}

void renew_turns() {
  if (turnstile == nullptr) return;
  const Core* const core = cores[calling];
  turnstile->renew(calling, core != nullptr ? clock_of(*core) : 0);
  if (core == nullptr) turnstile->open();
  counts->header().is_interleaved = turnstile->is_open() ? 0 : 1;
}

void stop_interleaving() {
  if (turnstile != nullptr) turnstile->open();
}

}  // namespace culprit
