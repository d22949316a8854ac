// The watcher of a TurnScheduler: sees which of the threads that should run sleep, and passes the
// turn on for them. Reading what they do takes descriptors, which the program must not see: the
// watcher has a table of descriptors of its own.

#include <algorithm>
#include <pthread.h>
#include <signal.h>

#include "base/time.h"
#include "simulate/turns/futex.h"
#include "simulate/turns/turn_scheduler.h"

namespace culprit::counting {
namespace {

constexpr uint64_t kNowAndThenNs = 250'000;
constexpr uint64_t kClosestNs = 2'000;
/// The engine's own waits for a lock are shorter than that.
constexpr uint64_t kSurelyParkedNs = 100'000;
/// Who starts a thread waits in the engine until it is there, however long the machine lets it wait
/// for a CPU.
constexpr uint64_t kSurelyParkedWhileStartingNs = 1'000'000'000;

constexpr unsigned kUnshare = 2;  // CLOSE_RANGE_UNSHARE, Linux 5.9

bool close_from(unsigned first, unsigned flags) {
#ifdef SYS_close_range
  return ::syscall(SYS_close_range, first, ~0U, flags) == 0;
#else
  return false;
#endif
}

}  // namespace

bool TurnScheduler::can_watch() {
  return can_see_threads() && close_from(~0U, 0);  // which closes nothing
}

bool TurnScheduler::is_in_call(const Thread& thread, const ThreadActivity& seen) {
  if (seen.state != ThreadActivity::State::sleeping || seen.call == -1) return false;
  if (seen.call == ThreadActivity::kUnknownCall) return true;
  const bool is_futex = seen.call == SYS_futex;
  return thread.call.is_futex ? is_futex && seen.first_argument == thread.call.address : !is_futex;
}

/// Whether the engine has parked the thread, on a lock of its own.
bool TurnScheduler::is_parked(const ThreadActivity& seen) {
  return seen.state == ThreadActivity::State::sleeping &&
         (seen.call == SYS_futex || seen.call == ThreadActivity::kUnknownCall);
}

bool TurnScheduler::start_watcher() {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);  // signals are the program's
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread{};
  const bool is_started = ::pthread_create(&thread, &attributes, watch, this) == 0;
  ::pthread_attr_destroy(&attributes);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return is_started;
}

void* TurnScheduler::watch(void* scheduler) {
  auto* const self = static_cast<TurnScheduler*>(scheduler);
  if (close_from(0, kUnshare)) self->watch_all();
  if (!self->is_stopped()) self->stop();
  return nullptr;
}

void TurnScheduler::watch_all() {
  uint64_t pause_ns = kClosestNs;
  while (!is_stopped()) {
    const uint32_t heard = watcher_calls_.load(std::memory_order_acquire);
    const Watch watch = look();
    if (watch == Watch::closely) {
      // The pauses of what the kernel takes to wake us are long enough by themselves.
      futex_wait(watcher_calls_, heard, pause_ns);
      pause_ns = std::min(pause_ns * 2, kNowAndThenNs);
    } else {
      futex_wait(watcher_calls_, heard, watch == Watch::nothing ? 0 : kNowAndThenNs);
      pause_ns = kClosestNs;
    }
    if (watcher_calls_.load(std::memory_order_relaxed) != heard) pause_ns = kClosestNs;
  }
}

TurnScheduler::Watch TurnScheduler::look() {
  lock_.lock();
  const unsigned holder = holder_;
  if (holder == kNobody) {
    bool are_all_parked = true;
    look_at_arriving(&are_all_parked);
    if (is_settled()) give_turn_to_next();
    const bool is_over = is_settled();
    lock_.unlock();
    return is_over ? Watch::now_and_then : Watch::closely;
  }
  const Thread& thread = threads_[holder];
  const uint64_t changes = changes_;
  const pid_t tid = thread.tid;
  const bool is_ending = thread.phase == Phase::ending;
  const bool is_settling = thread.phase == Phase::settling;
  const bool is_wanted = order_.any(TurnState::waiting) || order_.any(TurnState::released);
  lock_.unlock();
  if (is_settling) return Watch::now_and_then;
  if (!is_wanted && !is_ending) return Watch::nothing;
  const ThreadActivity seen = read_thread_activity(tid);
  lock_.lock();
  const Watch watch =
      changes == changes_ && !is_stopped() ? look_at_holder(holder, seen) : Watch::now_and_then;
  lock_.unlock();
  return watch;
}

TurnScheduler::Watch TurnScheduler::look_at_holder(unsigned holder, const ThreadActivity& seen) {
  const Thread& thread = threads_[holder];
  const bool has_ended = seen.state == ThreadActivity::State::gone;
  const bool sleeps = thread.phase == Phase::in_call && is_in_call(thread, seen);
  if (has_ended || sleeps) {
    order_.set(holder, sleeps ? TurnState::asleep : TurnState::absent);
    holder_ = kNobody;
    ++changes_;
    look_at_sleepers(last_clock_);
    if (is_settled()) give_turn_to_next();
    return is_settled() ? Watch::now_and_then : Watch::closely;
  }
  const bool is_seen_again = changes_seen_ == changes_ && seen == seen_;
  if (!is_seen_again) {
    changes_seen_ = changes_;
    seen_ = seen;
    seen_since_ns_ = monotonic_ns();
  }
  const bool waits_for_itself = seen.first_argument == reinterpret_cast<uint64_t>(&thread.go);
  if (is_parked(seen) && !waits_for_itself) {
    const bool is_starting = thread.phase == Phase::in_call && thread.call.starts_thread;
    const uint64_t surely_ns = is_starting ? kSurelyParkedWhileStartingNs : kSurelyParkedNs;
    return monotonic_ns() - seen_since_ns_ > surely_ns ? release_one(holder) : Watch::closely;
  }
  return thread.phase == Phase::in_code ? Watch::now_and_then : Watch::closely;
}

/// The holder waits until the engine has stopped all others: the next of those that the engine
/// still waits for runs up to where it is stopped.
TurnScheduler::Watch TurnScheduler::release_one(unsigned holder) {
  if (order_.any(TurnState::arriving)) return Watch::closely;
  for (unsigned number = 0; number < order_.end(); ++number) {
    if (order_.state(number) != TurnState::released) continue;
    if (!is_parked(read_thread_activity(threads_[number].tid))) return Watch::closely;
    order_.set(number, TurnState::parked);
  }
  const std::optional<unsigned> next = order_.next(true);
  if (!next) return Watch::now_and_then;
  order_.set(*next, TurnState::released);
  threads_[holder].may_run_alone = true;
  threads_[holder].end.store(0, std::memory_order_relaxed);
  threads_[*next].end.store(0, std::memory_order_relaxed);
  wake(*next);
  return Watch::closely;
}

}  // namespace culprit::counting
