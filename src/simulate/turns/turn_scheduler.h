#pragma once

// TurnScheduler: lets one thread of the simulated program run at a time, in the order of TurnOrder,
// so that a program's threads meet each other's accesses in the same order in each run.
//
// A thread asks before each block whether its turn is over (is_over() is all that a block costs
// while the turn lasts), and tells of its system calls. A call that returns soon keeps the turn.
// Only when the kernel says that the thread sleeps in its call the next one gets it: a thread that
// waits on a futex does so before another thread can wake it. After each call those that slept are
// looked at: a thread that was woken must wait for its turn before the others go on.
//
// An engine may stop all threads now and then (QEMU does for a fork, and for atomic operations that
// the host lacks): it waits until each has left its generated code, which a thread that waits here
// never does. A holder of the turn that sleeps in no call of the program wants that: the waiting
// threads run one block each, one by one, after which the engine parks them.
//
// A watcher, a thread of its own with descriptors of its own, sees which threads sleep
// (sleeping_threads.cc).

#include <array>
#include <atomic>
#include <cstdint>
#include <sys/types.h>

#include "simulate/machine/spin_lock.h"
#include "simulate/turns/announced_call.h"
#include "simulate/turns/thread_activity.h"
#include "simulate/turns/turn_order.h"

namespace culprit::counting {

class TurnScheduler {
 public:
  static constexpr unsigned kMostThreads = 4096;

  /// Whether this kernel shows what threads do (and is Linux 5.9).
  static bool can_watch();

  explicit TurnScheduler(TurnQuanta quanta) : order_(quanta) {}
  TurnScheduler(const TurnScheduler&) = delete;

  // `now` is the thread's own clock, which may have begun anywhere.

  /// A thread will come: the first one, which has the turn, or one that a call starts; then said
  /// by the thread of that call before it ends, or by the new thread itself before its first block.
  /// False: it cannot be watched; all run as they come from now on.
  bool expect(unsigned number, uint64_t now);
  /// Whether pass() is due before a block.
  [[nodiscard]] bool is_over(unsigned number, uint64_t now) const {
    return now >= threads_[number].end.load(std::memory_order_relaxed);
  }
  /// Returns when it is the thread's turn. `took_lines` from other cores since the last time.
  void pass(unsigned number, uint64_t now, bool took_lines);
  void begin_call(unsigned number, uint64_t now, const AnnouncedCall& call);
  void end_call(unsigned number, uint64_t now, bool has_failed);

  /// Ends the turns: from now on all threads run as they come.
  void stop();
  [[nodiscard]] bool is_stopped() const { return is_stopped_.load(std::memory_order_relaxed); }

  // Around a fork, by the thread that does:
  void before_fork() { lock_.lock(); }
  void after_fork() { lock_.unlock(); }
  /// Begins anew in a forked child, where there is no other thread.
  void renew(unsigned number, uint64_t now);

 private:
  enum class Phase : uint8_t { in_code, in_call, ending, settling };
  enum Go : uint32_t { kNo, kYes, kSleeps };
  struct alignas(64) Thread {
    std::atomic<uint64_t> end{0};  // of the turn, by the thread's own clock; 0: pass() is due
    std::atomic<uint32_t> go{kNo};
    uint64_t offset = 0;  // from its own clock to that of the order
    pid_t tid = 0;        // 0: has not come yet
    Phase phase = Phase::in_code;
    AnnouncedCall call;
    bool may_run_alone = false;  // its next block may run while the engine stops all others
  };
  enum class Watch : uint8_t { nothing, now_and_then, closely };

  void arrive(unsigned number, uint64_t now, bool in_block);
  void wait_for_turn(unsigned number);
  void settle(unsigned number, bool in_block);
  bool is_settled();
  void look_at_sleepers(uint64_t clock);
  void look_at_arriving(bool* all_parked);
  void set_end(unsigned number);
  void give_turn(unsigned number);
  void give_turn_to_next();
  void wake(unsigned number);
  void wake_watcher();

  static void* watch(void* scheduler);
  void watch_all();
  Watch look();
  Watch look_at_holder(unsigned holder, const ThreadActivity& seen);
  Watch release_one(unsigned holder);
  bool start_watcher();
  void cancel_start();
  static bool is_in_call(const Thread& thread, const ThreadActivity& seen);
  static bool is_parked(const ThreadActivity& seen);

  static constexpr unsigned kNobody = ~0U;
  simulate::SpinLock lock_;  // of all that follows, but atomics
  TurnOrder order_;
  unsigned holder_ = kNobody;
  uint64_t last_clock_ = 0;  // of who had the turn last
  unsigned starting_ = 0;    // threads that calls start, and of which expect() does not know yet
  uint64_t changes_ = 0;     // of the holder or what it does
  uint64_t changes_seen_ = 0;
  ThreadActivity seen_;  // by the watcher, of the holder, at changes_seen_
  uint64_t seen_since_ns_ = 0;
  bool is_watched_ = false;
  std::atomic<bool> is_stopped_{false};
  std::atomic<uint32_t> watcher_calls_{0};  // changes to wake the watcher
  std::atomic<uint32_t> arrivals_{0};       // changes to wake a thread that settles
  std::array<Thread, kMostThreads> threads_;
};

}  // namespace culprit::counting
