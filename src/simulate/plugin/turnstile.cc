#include "simulate/plugin/turnstile.h"

#include <algorithm>
#include <sched.h>
#include <unistd.h>

#include "simulate/plugin/futex.h"

namespace culprit {
namespace {

constexpr unsigned kSpins = 50;  // about two microseconds, in which a short turn ends
constexpr uint64_t kLookEveryNs = 50'000;

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Whether `word` has another value soon.
bool spin_while(const std::atomic<uint32_t>& word, uint32_t value) {
  for (unsigned i = 0; i < kSpins; ++i) {
    if (word.load(std::memory_order_acquire) != value) return true;
    relax();
  }
  return false;
}

}  // namespace

void SpinLock::lock() {
  for (unsigned i = 1; taken_.test_and_set(std::memory_order_acquire); ++i) {
    relax();
    if (i % 64 == 0) ::sched_yield();  // who has it may have no CPU
  }
}

bool Turnstile::expect(unsigned number, uint64_t now) {
  if (is_open()) return true;
  lock_.lock();
  const bool is_first = order_.end() == 0;
  Gate& gate = gates_[number];
  gate.thread = is_first ? ::gettid() : 0;
  gate.phase = Phase::in_code;
  gate.end.store(0, std::memory_order_relaxed);
  order_.set(number, is_first ? Place::running : Place::coming);
  order_.set_clock(number, last_clock_);
  gate.offset = last_clock_ - now;
  if (is_first) holder_ = number;
  if (unborn_ > 0) {
    --unborn_;
    arrivals_.fetch_add(1, std::memory_order_release);
    futex_wake(arrivals_);
  }
  const bool is_watched = is_first || is_watched_ || start_watchman();
  is_watched_ = is_watched && !is_first;
  lock_.unlock();
  if (!is_watched) open();
  return is_watched;
}

void Turnstile::set_end(unsigned number) {
  const uint64_t end = order_.turn_end(number);
  gates_[number].end.store(end == TurnOrder::kNever ? end : end - gates_[number].offset,
                           std::memory_order_relaxed);
}

void Turnstile::wake(unsigned number) {
  std::atomic<uint32_t>& go = gates_[number].go;
  if (go.exchange(kYes, std::memory_order_release) == kSleeps) futex_wake(go);
}

void Turnstile::ring() {
  bell_.fetch_add(1, std::memory_order_release);
  futex_wake(bell_);
}

void Turnstile::give_turn(unsigned number) {
  order_.set(number, Place::running);
  holder_ = number;
  last_clock_ = order_.clock(number);
  ++changes_;
  set_end(number);
  wake(number);
}

void Turnstile::give_turn_to_next() {
  if (const std::optional<unsigned> next = order_.next()) give_turn(*next);
}

bool Turnstile::is_settled() {
  return unborn_ == 0 && !order_.any(Place::coming) && !order_.any(Place::parked) &&
         !order_.any(Place::loose);
}

/// It waits from now on; what it waits for may be nothing.
void Turnstile::arrive(unsigned number, uint64_t now, bool in_block) {
  Gate& gate = gates_[number];
  const Place place = order_.place(number);
  if (place == Place::asleep) order_.join_at(number, last_clock_);
  uint64_t clock = now + gate.offset;
  if (place == Place::asleep || place == Place::coming) {
    clock = std::max(clock, order_.clock(number));
  }
  gate.thread = ::gettid();
  gate.offset = clock - now;
  gate.phase = Phase::in_code;
  gate.end.store(0, std::memory_order_relaxed);
  order_.wait(number, clock, in_block);
  if (holder_ == kNobody) {
    if (is_settled()) give_turn_to_next();
  } else if (gates_[holder_].phase == Phase::settling) {
    arrivals_.fetch_add(1, std::memory_order_release);
    futex_wake(arrivals_);
  } else if (gates_[holder_].end.load(std::memory_order_relaxed) != 0) {
    set_end(holder_);
  }
  ring();
}

/// Unlocks, and comes back with the turn.
void Turnstile::wait_for_turn(unsigned number) {
  std::atomic<uint32_t>& go = gates_[number].go;
  const bool is_next = order_.next() == number;
  lock_.unlock();
  uint32_t before = kNo;
  const bool is_soon = is_next && spin_while(go, kNo);
  if (!is_soon && go.compare_exchange_strong(before, kSleeps, std::memory_order_acq_rel)) {
    while (go.load(std::memory_order_acquire) == kSleeps) futex_wait(go, kSleeps, 0);
  }
  go.store(kNo, std::memory_order_relaxed);
}

void Turnstile::pass(unsigned number, uint64_t now, bool took_lines) {
  lock_.lock();
  const Place place = order_.place(number);
  if (is_open() || place == Place::absent) return lock_.unlock();
  if (place != Place::running) {
    arrive(number, now, true);
    return wait_for_turn(number);
  }
  Gate& gate = gates_[number];
  last_clock_ = now + gate.offset;
  order_.set_clock(number, last_clock_);
  if (gate.may_be_exclusive) {  // nobody can come
    gate.may_be_exclusive = false;
    return lock_.unlock();
  }
  settle(number, true);
  if (is_open() || !is_settled()) return lock_.unlock();
  order_.adapt(number, took_lines);
  if (order_.is_first(number)) {
    set_end(number);
    return lock_.unlock();
  }
  order_.wait(number, last_clock_, true);
  give_turn_to_next();
  wait_for_turn(number);
}

void Turnstile::begin_call(unsigned number, uint64_t now, const AnnouncedCall& call) {
  lock_.lock();
  const Place place = order_.place(number);
  if (is_open() || place == Place::absent) return lock_.unlock();
  if (place != Place::running) {
    arrive(number, now, false);
    wait_for_turn(number);
    lock_.lock();
    if (is_open()) return lock_.unlock();
  }
  Gate& gate = gates_[number];
  last_clock_ = now + gate.offset;
  order_.set_clock(number, last_clock_);
  gate.call = call;
  gate.phase = call.ends_thread ? Phase::ending : Phase::in_call;
  if (call.starts_thread) ++unborn_;
  ++changes_;
  if (call.ends_thread || order_.any(Place::waiting)) ring();
  lock_.unlock();
}

void Turnstile::end_call(unsigned number, uint64_t now, bool has_failed) {
  lock_.lock();
  const Place place = order_.place(number);
  if (is_open() || place == Place::absent) return lock_.unlock();
  if (place != Place::running) {
    arrive(number, now, false);
    return wait_for_turn(number);
  }
  Gate& gate = gates_[number];
  gate.may_be_exclusive = false;
  ++changes_;
  if (has_failed && gate.call.starts_thread) forget_birth();
  look_at_sleepers(last_clock_);
  settle(number, false);
  if (!is_open()) set_end(number);
  lock_.unlock();
}

/// The call that was to start a thread has failed, whether the thread was expected by then or not.
void Turnstile::forget_birth() {
  for (unsigned number = 0; number < order_.end(); ++number) {
    const bool is_expected = order_.place(number) == Place::coming && gates_[number].thread == 0;
    if (is_expected) return order_.set(number, Place::absent);
  }
  if (unborn_ > 0) --unborn_;
}

/// Waits until those who are to come have come. In a block it may be in vain: QEMU lets nobody
/// through while the block runs.
void Turnstile::settle(unsigned number, bool in_block) {
  constexpr unsigned kLooksInVain = 4;
  gates_[number].phase = Phase::settling;
  for (unsigned in_vain = 0; !is_open() && !is_settled() && in_vain < kLooksInVain;) {
    const uint32_t heard = arrivals_.load(std::memory_order_acquire);
    lock_.unlock();
    const bool has_come = spin_while(arrivals_, heard);
    if (!has_come) futex_wait(arrivals_, heard, kLookEveryNs);
    lock_.lock();
    bool are_all_parked = true;
    if (arrivals_.load(std::memory_order_relaxed) == heard) {
      look_at_coming(&are_all_parked);
      in_vain = in_block && are_all_parked ? in_vain + 1 : 0;
    }
  }
  gates_[number].phase = Phase::in_code;
}

/// Who does not sleep any more has been woken by a thread at `clock`.
void Turnstile::look_at_sleepers(uint64_t clock) {
  for (unsigned number = 0; number < order_.end(); ++number) {
    if (order_.place(number) != Place::asleep) continue;
    const ThreadActivity seen = read_thread_activity(gates_[number].thread);
    if (is_in_call(gates_[number], seen)) continue;
    order_.set(number, Place::coming);
    order_.join_at(number, clock);
  }
}

void Turnstile::look_at_coming(bool* all_parked) {
  for (unsigned number = 0; number < order_.end(); ++number) {
    const Place place = order_.place(number);
    const Gate& gate = gates_[number];
    if (place != Place::coming && place != Place::parked && place != Place::loose) continue;
    const ThreadActivity seen =
        gate.thread == 0 ? ThreadActivity{} : read_thread_activity(gate.thread);
    if (seen.state == ThreadActivity::State::gone) {
      order_.set(number, Place::absent);
    } else if (place == Place::coming && is_in_call(gate, seen)) {
      order_.set(number, Place::asleep);
    } else if (!is_parked(seen)) {
      *all_parked = false;
    }
  }
}

void Turnstile::open() {
  lock_.lock();
  is_open_.store(true, std::memory_order_relaxed);
  for (unsigned number = 0; number < order_.end(); ++number) {
    gates_[number].end.store(TurnOrder::kNever, std::memory_order_relaxed);
    if (order_.place(number) == Place::waiting) wake(number);
  }
  lock_.unlock();
  ring();
}

void Turnstile::renew(unsigned forking, uint64_t now) {
  if (!is_open()) {
    for (unsigned number = 0; number < order_.end(); ++number) {
      order_.set(number, Place::absent);
      gates_[number].end.store(0, std::memory_order_relaxed);
      gates_[number].go.store(kNo, std::memory_order_relaxed);
    }
    order_.set(forking, Place::running);
    holder_ = forking;
    last_clock_ = 0;
    is_watched_ = false;
    unborn_ = 0;
    gates_[forking].offset = -now;
    gates_[forking].thread = ::gettid();
    gates_[forking].phase = Phase::in_call;
  }
  lock_.unlock();
}

}  // namespace culprit
