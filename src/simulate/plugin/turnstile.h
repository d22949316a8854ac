#pragma once

// Turnstile: lets one thread of the simulated program run at a time, in the order of TurnOrder, so
// that a program's threads meet each other's accesses in the same order in each run.
//
// A thread comes to the turnstile before each block (is_over() is all it costs while its turn
// lasts) and around its system calls. A call that returns soon keeps the turn. Only when the kernel
// says that the thread sleeps in its call the next one gets it: who waits on a futex does so before
// another thread can wake it. After each call those that slept are looked at: who was woken must
// have come to the turnstile before the others go on.
//
// QEMU stops all threads now and then (fork, atomic operations that the host has not): it waits
// until each has left its generated code, which a thread that waits here never does. A holder of
// the turn that sleeps in no call of the program wants that: the waiting ones run one block each,
// one by one, after which QEMU parks them.
//
// A watchman, a thread with descriptors of its own, sees who sleeps.

#include <array>
#include <atomic>
#include <cstdint>
#include <sys/types.h>

#include "simulate/plugin/thread_activity.h"
#include "simulate/plugin/turn_order.h"

namespace culprit {

/// A lock that the kernel does not show as sleeping.
class SpinLock {
 public:
  void lock();
  void unlock() { taken_.clear(std::memory_order_release); }

 private:
  std::atomic_flag taken_ = ATOMIC_FLAG_INIT;
};

/// A system call of the program, as far as its sleep is to be told from that of QEMU's own locks.
struct AnnouncedCall {
  bool is_futex = false;
  uint64_t address = 0;  // of the futex, in this process
  bool ends_thread = false;
  bool starts_thread = false;  // unless it fails
};

class Turnstile {
 public:
  static constexpr unsigned kMostThreads = 4096;

  /// Whether this kernel shows what threads do (and is Linux 5.9).
  static bool can_watch();

  explicit Turnstile(Quanta quanta) : order_(quanta) {}
  Turnstile(const Turnstile&) = delete;

  // `now` is the thread's own clock, which may have begun anywhere.

  /// A thread will come: the first one, which has the turn, or one that a call starts; then said
  /// by the thread of that call before it ends, or by the new thread itself before its first block.
  /// False: it cannot be watched; all run as they come from now on.
  bool expect(unsigned number, uint64_t now);
  /// Before a block: whether pass() is due.
  [[nodiscard]] bool is_over(unsigned number, uint64_t now) const {
    return now >= gates_[number].end.load(std::memory_order_relaxed);
  }
  /// Returns when it is the thread's turn. `took_lines` from other cores since the last time.
  void pass(unsigned number, uint64_t now, bool took_lines);
  void begin_call(unsigned number, uint64_t now, const AnnouncedCall& call);
  void end_call(unsigned number, uint64_t now, bool has_failed);

  /// From now on all run as they come.
  void open();
  [[nodiscard]] bool is_open() const { return is_open_.load(std::memory_order_relaxed); }

  // Around a fork, by the thread that does:
  void before_fork() { lock_.lock(); }
  void after_fork() { lock_.unlock(); }
  /// In the child, where there is no other thread.
  void renew(unsigned number, uint64_t now);

 private:
  enum class Phase : uint8_t { in_code, in_call, ending, settling };
  enum Go : uint32_t { kNo, kYes, kSleeps };
  struct alignas(64) Gate {
    std::atomic<uint64_t> end{0};  // of the turn, by the thread's own clock; 0: pass() is due
    std::atomic<uint32_t> go{kNo};
    uint64_t offset = 0;  // from its own clock to that of the order
    pid_t thread = 0;     // 0: has not come yet
    Phase phase = Phase::in_code;
    AnnouncedCall call;
    bool may_be_exclusive = false;  // its next block may run while QEMU stops all others
  };
  enum class Watch : uint8_t { nothing, now_and_then, closely };

  void arrive(unsigned number, uint64_t now, bool in_block);
  void wait_for_turn(unsigned number);
  void settle(unsigned number, bool in_block);
  bool is_settled();
  void look_at_sleepers(uint64_t clock);
  void look_at_coming(bool* all_parked);
  void set_end(unsigned number);
  void give_turn(unsigned number);
  void give_turn_to_next();
  void wake(unsigned number);
  void ring();

  static void* watch(void* turnstile);
  void watch_all();
  Watch look();
  Watch look_at_holder(unsigned holder, const ThreadActivity& seen);
  Watch let_one_loose(unsigned holder);
  bool start_watchman();
  void forget_birth();
  static bool is_in_call(const Gate& gate, const ThreadActivity& seen);
  static bool is_parked(const ThreadActivity& seen);

  static constexpr unsigned kNobody = ~0U;
  SpinLock lock_;  // of all that follows, but atomics
  TurnOrder order_;
  unsigned holder_ = kNobody;
  uint64_t last_clock_ = 0;  // of who had the turn last
  unsigned unborn_ = 0;      // threads that calls start, and of which expect() does not know yet
  uint64_t changes_ = 0;     // of the holder or what it does
  uint64_t changes_seen_ = 0;
  ThreadActivity seen_;  // by the watchman, of the holder, at changes_seen_
  uint64_t seen_since_ns_ = 0;
  bool is_watched_ = false;
  std::atomic<bool> is_open_{false};
  std::atomic<uint32_t> bell_{0};      // rung for the watchman
  std::atomic<uint32_t> arrivals_{0};  // rung for who settles
  std::array<Gate, kMostThreads> gates_;
};

}  // namespace culprit
