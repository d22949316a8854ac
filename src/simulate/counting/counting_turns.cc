// Threads of a Counting take turns by simulated time (--deterministic, turn_scheduler.h).

#include "simulate/counting/counting.h"
#include "simulate/machine/cycles.h"

namespace culprit::counting {
namespace {

constexpr uint64_t kLongestCycles = 2000;  // in which other cores' accesses are not missed much
/// A core that got a contended line keeps it for the time that the next one's request takes.
constexpr uint64_t kLineStaysCycles = 60;

/// A turn of one of two threads is two quanta, and half of a transfer, as the wait for a line is
/// one step of the clock: together a transfer and the line's stay.
TurnQuanta quanta_for(uint32_t line_transfer_cycles) {
  const uint64_t shortest = line_transfer_cycles / 4 + kLineStaysCycles / 2;
  return {.shortest = shortest * simulate::kTicksPerCycle,
          .longest = kLongestCycles * simulate::kTicksPerCycle};
}

}  // namespace

/// `line_transfer_cycles`: what it takes to get a line out of another core, if that is in the
/// threads' clocks.
void Counting::start_turns(uint32_t line_transfer_cycles) {
  writer_.header().is_interleaved = 1;
  turns_ = std::make_unique<TurnScheduler>(quanta_for(line_transfer_cycles));
}

void Counting::expect_thread(unsigned number) {
  if (!is_in_turn(number)) return;
  if (!turns_->expect(number, threads_[number]->now())) writer_.header().is_interleaved = 0;
}

/// The process ends, by this thread: others run on, uncounted.
void Counting::end_turns(unsigned number) {
  if (!turns_) return;
  for (unsigned other = 0; other < kMostThreads; ++other) {
    if (other != number) threads_[other] = counting_[other] = nullptr;
  }
  turns_->stop();
}

/// Begins the turns anew in a forked child of the thread.
void Counting::renew_turns(unsigned number) {
  if (!turns_) return;
  const CountedThread* const thread = threads_[number];
  turns_->renew(number, thread != nullptr ? thread->now() : 0);
  if (thread == nullptr) turns_->stop();
  writer_.header().is_interleaved = turns_->is_stopped() ? 0 : 1;
}

}  // namespace culprit::counting
