// The watchman of a Turnstile: sees who of those that should run sleeps, and passes the turn on
// for them. Reading what they do takes descriptors, which the program must not see: the watchman
// has a table of its own.

#include <algorithm>
#include <pthread.h>
#include <signal.h>

#include "base/time.h"
#include "simulate/plugin/futex.h"
#include "simulate/plugin/turnstile.h"

namespace culprit {
namespace {

constexpr uint64_t kNowAndThenNs = 250'000;
constexpr uint64_t kClosestNs = 2'000;
/// A thread of QEMU's that waits for another lets it have the lock sooner than that.
constexpr uint64_t kSurelyParkedNs = 100'000;

constexpr unsigned kUnshare = 2;  // CLOSE_RANGE_UNSHARE, Linux 5.9

bool close_from(unsigned first, unsigned flags) {
#ifdef SYS_close_range
  return ::syscall(SYS_close_range, first, ~0U, flags) == 0;
#else
  return false;
#endif
}

}  // namespace

bool Turnstile::can_watch() {
  return can_see_threads() && close_from(~0U, 0);  // which closes nothing
}

bool Turnstile::is_in_call(const Gate& gate, const ThreadActivity& seen) {
  if (seen.state != ThreadActivity::State::sleeping || seen.call == -1) return false;
  if (seen.call == ThreadActivity::kUnknownCall) return true;
  const bool is_futex = seen.call == SYS_futex;
  return gate.call.is_futex ? is_futex && seen.first_argument == gate.call.address : !is_futex;
}

/// By QEMU, on a lock of its own.
bool Turnstile::is_parked(const ThreadActivity& seen) {
  return seen.state == ThreadActivity::State::sleeping &&
         (seen.call == SYS_futex || seen.call == ThreadActivity::kUnknownCall);
}

bool Turnstile::start_watchman() {
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

void* Turnstile::watch(void* turnstile) {
  auto* const self = static_cast<Turnstile*>(turnstile);
  if (close_from(0, kUnshare)) self->watch_all();
  if (!self->is_open()) self->open();
  return nullptr;
}

void Turnstile::watch_all() {
  uint64_t pause_ns = kClosestNs;
  while (!is_open()) {
    const uint32_t heard = bell_.load(std::memory_order_acquire);
    const Watch watch = look();
    if (watch == Watch::closely) {
      // The pauses of what the kernel takes to wake us are long enough by themselves.
      futex_wait(bell_, heard, pause_ns);
      pause_ns = std::min(pause_ns * 2, kNowAndThenNs);
    } else {
      futex_wait(bell_, heard, watch == Watch::nothing ? 0 : kNowAndThenNs);
      pause_ns = kClosestNs;
    }
    if (bell_.load(std::memory_order_relaxed) != heard) pause_ns = kClosestNs;
  }
}

Turnstile::Watch Turnstile::look() {
  lock_.lock();
  const unsigned holder = holder_;
  if (holder == kNobody) {
    bool are_all_parked = true;
    look_at_coming(&are_all_parked);
    if (is_settled()) give_turn_to_next();
    const bool is_over = is_settled();
    lock_.unlock();
    return is_over ? Watch::now_and_then : Watch::closely;
  }
  const Gate& gate = gates_[holder];
  const uint64_t changes = changes_;
  const pid_t thread = gate.thread;
  const bool is_ending = gate.phase == Phase::ending;
  const bool is_settling = gate.phase == Phase::settling;
  const bool is_wanted = order_.any(Place::waiting) || order_.any(Place::loose);
  lock_.unlock();
  if (is_settling) return Watch::now_and_then;
  if (!is_wanted && !is_ending) return Watch::nothing;
  const ThreadActivity seen = read_thread_activity(thread);
  lock_.lock();
  const Watch watch =
      changes == changes_ && !is_open() ? look_at_holder(holder, seen) : Watch::now_and_then;
  lock_.unlock();
  return watch;
}

Turnstile::Watch Turnstile::look_at_holder(unsigned holder, const ThreadActivity& seen) {
  const Gate& gate = gates_[holder];
  const bool has_ended = seen.state == ThreadActivity::State::gone;
  const bool sleeps = gate.phase == Phase::in_call && is_in_call(gate, seen);
  if (has_ended || sleeps) {
    order_.set(holder, sleeps ? Place::asleep : Place::absent);
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
  const bool waits_for_itself = seen.first_argument == reinterpret_cast<uint64_t>(&gate.go);
  if (is_parked(seen) && !waits_for_itself) {
    return monotonic_ns() - seen_since_ns_ > kSurelyParkedNs ? let_one_loose(holder)
                                                             : Watch::closely;
  }
  return gate.phase == Phase::in_code ? Watch::now_and_then : Watch::closely;
}

/// The holder waits until QEMU has stopped all others: the next of those that QEMU still waits
/// for runs up to where it is stopped.
Turnstile::Watch Turnstile::let_one_loose(unsigned holder) {
  if (order_.any(Place::coming)) return Watch::closely;
  for (unsigned number = 0; number < order_.end(); ++number) {
    if (order_.place(number) != Place::loose) continue;
    if (!is_parked(read_thread_activity(gates_[number].thread))) return Watch::closely;
    order_.set(number, Place::parked);
  }
  const std::optional<unsigned> next = order_.next(true);
  if (!next) return Watch::now_and_then;
  order_.set(*next, Place::loose);
  gates_[holder].may_be_exclusive = true;
  gates_[holder].end.store(0, std::memory_order_relaxed);
  gates_[*next].end.store(0, std::memory_order_relaxed);
  wake(*next);
  return Watch::closely;
}

}  // namespace culprit
