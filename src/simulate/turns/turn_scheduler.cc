#include "simulate/turns/turn_scheduler.h"

#include <algorithm>
#include <unistd.h>

#include "simulate/turns/futex.h"

namespace culprit::counting {
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

bool TurnScheduler::expect(unsigned number, uint64_t now) {
  if (is_stopped()) return true;
  lock_.lock();
  const bool is_first = order_.end() == 0;
  Thread& thread = threads_[number];
  thread.tid = is_first ? ::gettid() : 0;
  thread.phase = Phase::in_code;
  thread.end.store(0, std::memory_order_relaxed);
  order_.set(number, is_first ? TurnState::running : TurnState::arriving);
  order_.set_clock(number, last_clock_);
  thread.offset = last_clock_ - now;
  if (is_first) holder_ = number;
  if (starting_ > 0) {
    --starting_;
    arrivals_.fetch_add(1, std::memory_order_release);
    futex_wake(arrivals_);
  }
  const bool is_watched = is_first || is_watched_ || start_watcher();
  is_watched_ = is_watched && !is_first;
  lock_.unlock();
  if (!is_watched) stop();
  return is_watched;
}

void TurnScheduler::set_end(unsigned number) {
  const uint64_t end = order_.turn_end(number);
  threads_[number].end.store(end == TurnOrder::kNever ? end : end - threads_[number].offset,
                             std::memory_order_relaxed);
}

void TurnScheduler::wake(unsigned number) {
  std::atomic<uint32_t>& go = threads_[number].go;
  if (go.exchange(kYes, std::memory_order_release) == kSleeps) futex_wake(go);
}

void TurnScheduler::wake_watcher() {
  watcher_calls_.fetch_add(1, std::memory_order_release);
  futex_wake(watcher_calls_);
}

void TurnScheduler::give_turn(unsigned number) {
  order_.set(number, TurnState::running);
  holder_ = number;
  last_clock_ = order_.clock(number);
  ++changes_;
  set_end(number);
  wake(number);
}

void TurnScheduler::give_turn_to_next() {
  if (const std::optional<unsigned> next = order_.next()) give_turn(*next);
}

bool TurnScheduler::is_settled() {
  return starting_ == 0 && !order_.any(TurnState::arriving) && !order_.any(TurnState::parked) &&
         !order_.any(TurnState::released);
}

/// It waits from now on; what it waits for may be nothing.
void TurnScheduler::arrive(unsigned number, uint64_t now, bool in_block) {
  Thread& thread = threads_[number];
  const TurnState state = order_.state(number);
  if (state == TurnState::asleep) order_.join_at(number, last_clock_);
  uint64_t clock = now + thread.offset;
  if (state == TurnState::asleep || state == TurnState::arriving) {
    clock = std::max(clock, order_.clock(number));
  }
  thread.tid = ::gettid();
  thread.offset = clock - now;
  thread.phase = Phase::in_code;
  thread.end.store(0, std::memory_order_relaxed);
  order_.wait(number, clock, in_block);
  if (holder_ == kNobody) {
    if (is_settled()) give_turn_to_next();
  } else if (threads_[holder_].phase == Phase::settling) {
    arrivals_.fetch_add(1, std::memory_order_release);
    futex_wake(arrivals_);
  } else if (threads_[holder_].end.load(std::memory_order_relaxed) != 0) {
    set_end(holder_);
  }
  wake_watcher();
}

/// Unlocks, and comes back with the turn.
void TurnScheduler::wait_for_turn(unsigned number) {
  std::atomic<uint32_t>& go = threads_[number].go;
  const bool is_next = order_.next() == number;
  lock_.unlock();
  uint32_t before = kNo;
  const bool is_soon = is_next && spin_while(go, kNo);
  if (!is_soon && go.compare_exchange_strong(before, kSleeps, std::memory_order_acq_rel)) {
    while (go.load(std::memory_order_acquire) == kSleeps) futex_wait(go, kSleeps, 0);
  }
  go.store(kNo, std::memory_order_relaxed);
}

void TurnScheduler::pass(unsigned number, uint64_t now, bool took_lines) {
  lock_.lock();
  const TurnState state = order_.state(number);
  if (is_stopped() || state == TurnState::absent) return lock_.unlock();
  if (state != TurnState::running) {
    arrive(number, now, true);
    return wait_for_turn(number);
  }
  Thread& thread = threads_[number];
  last_clock_ = now + thread.offset;
  order_.set_clock(number, last_clock_);
  if (thread.may_run_alone) {  // nobody can come
    thread.may_run_alone = false;
    return lock_.unlock();
  }
  settle(number, true);
  if (is_stopped() || !is_settled()) return lock_.unlock();
  order_.adapt(number, took_lines);
  if (order_.is_first(number)) {
    set_end(number);
    return lock_.unlock();
  }
  order_.wait(number, last_clock_, true);
  give_turn_to_next();
  wait_for_turn(number);
}

void TurnScheduler::begin_call(unsigned number, uint64_t now, const AnnouncedCall& call) {
  lock_.lock();
  const TurnState state = order_.state(number);
  if (is_stopped() || state == TurnState::absent) return lock_.unlock();
  if (state != TurnState::running) {
    arrive(number, now, false);
    wait_for_turn(number);
    lock_.lock();
    if (is_stopped()) return lock_.unlock();
  }
  Thread& thread = threads_[number];
  last_clock_ = now + thread.offset;
  order_.set_clock(number, last_clock_);
  thread.call = call;
  thread.phase = call.ends_thread ? Phase::ending : Phase::in_call;
  if (call.starts_thread) ++starting_;
  ++changes_;
  if (call.ends_thread || order_.any(TurnState::waiting)) wake_watcher();
  lock_.unlock();
}

void TurnScheduler::end_call(unsigned number, uint64_t now, bool has_failed) {
  lock_.lock();
  const TurnState state = order_.state(number);
  if (is_stopped() || state == TurnState::absent) return lock_.unlock();
  if (state != TurnState::running) {
    arrive(number, now, false);
    return wait_for_turn(number);
  }
  Thread& thread = threads_[number];
  thread.may_run_alone = false;
  ++changes_;
  if (has_failed && thread.call.starts_thread) cancel_start();
  look_at_sleepers(last_clock_);
  settle(number, false);
  if (!is_stopped()) set_end(number);
  lock_.unlock();
}

/// The call that was to start a thread has failed, whether the thread was expected by then or not.
void TurnScheduler::cancel_start() {
  for (unsigned number = 0; number < order_.end(); ++number) {
    const bool is_expected =
        order_.state(number) == TurnState::arriving && threads_[number].tid == 0;
    if (is_expected) return order_.set(number, TurnState::absent);
  }
  if (starting_ > 0) --starting_;
}

/// Waits until those who are to come have come. In a block it may be in vain: the engine may
/// let nobody through while the block runs.
void TurnScheduler::settle(unsigned number, bool in_block) {
  constexpr unsigned kLooksInVain = 4;
  threads_[number].phase = Phase::settling;
  for (unsigned in_vain = 0; !is_stopped() && !is_settled() && in_vain < kLooksInVain;) {
    const uint32_t heard = arrivals_.load(std::memory_order_acquire);
    lock_.unlock();
    const bool has_come = spin_while(arrivals_, heard);
    if (!has_come) futex_wait(arrivals_, heard, kLookEveryNs);
    lock_.lock();
    bool are_all_parked = true;
    if (arrivals_.load(std::memory_order_relaxed) == heard) {
      look_at_arriving(&are_all_parked);
      in_vain = in_block && are_all_parked ? in_vain + 1 : 0;
    }
  }
  threads_[number].phase = Phase::in_code;
}

/// Who does not sleep any more has been woken by a thread at `clock`.
void TurnScheduler::look_at_sleepers(uint64_t clock) {
  for (unsigned number = 0; number < order_.end(); ++number) {
    if (order_.state(number) != TurnState::asleep) continue;
    const ThreadActivity seen = read_thread_activity(threads_[number].tid);
    if (is_in_call(threads_[number], seen)) continue;
    order_.set(number, TurnState::arriving);
    order_.join_at(number, clock);
  }
}

void TurnScheduler::look_at_arriving(bool* all_parked) {
  for (unsigned number = 0; number < order_.end(); ++number) {
    const TurnState state = order_.state(number);
    const Thread& thread = threads_[number];
    if (state != TurnState::arriving && state != TurnState::parked && state != TurnState::released)
      continue;
    const ThreadActivity seen =
        thread.tid == 0 ? ThreadActivity{} : read_thread_activity(thread.tid);
    if (seen.state == ThreadActivity::State::gone) {
      order_.set(number, TurnState::absent);
    } else if (state == TurnState::arriving && is_in_call(thread, seen)) {
      order_.set(number, TurnState::asleep);
    } else if (!is_parked(seen)) {
      *all_parked = false;
    }
  }
}

void TurnScheduler::stop() {
  lock_.lock();
  is_stopped_.store(true, std::memory_order_relaxed);
  for (unsigned number = 0; number < order_.end(); ++number) {
    threads_[number].end.store(TurnOrder::kNever, std::memory_order_relaxed);
    if (order_.state(number) == TurnState::waiting) wake(number);
  }
  lock_.unlock();
  wake_watcher();
}

void TurnScheduler::renew(unsigned forking, uint64_t now) {
  if (!is_stopped()) {
    for (unsigned number = 0; number < order_.end(); ++number) {
      order_.set(number, TurnState::absent);
      threads_[number].end.store(0, std::memory_order_relaxed);
      threads_[number].go.store(kNo, std::memory_order_relaxed);
    }
    order_.set(forking, TurnState::running);
    holder_ = forking;
    last_clock_ = 0;
    is_watched_ = false;
    starting_ = 0;
    threads_[forking].offset = -now;
    threads_[forking].tid = ::gettid();
    threads_[forking].phase = Phase::in_call;
  }
  lock_.unlock();
}

}  // namespace culprit::counting
