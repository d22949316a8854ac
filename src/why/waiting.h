#pragma once

// Where the time of a program's threads went: on a CPU, waiting, or preempted; and what they waited
// for, told by the kernel's and libc's functions on the stack (record --off-cpu).

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attribute/attribution.h"
#include "model/profile.h"
#include "report/report.h"

namespace culprit {

/// "sleep", "lock", "pipe", ... by the name of a function that waits for it; "" if it says nothing.
std::string_view find_wait_kind(std::string_view function);

/// What threads waited for. Sums, so that nothing is counted twice.
struct WaitKind {
  std::string kind;  // of find_wait_kind(); "other": no function on the stacks says
  double ns = 0;
  std::string function;  // the function of the program's own with most of it; "" if unknown
  double share = 0;      // of `ns`, that this function has [0 to 1]
};

/// Thread time: the sum over all threads of the time since they began, where all was seen.
struct WaitingTime {
  double on_cpu_ns = 0;
  bool on_cpu_is_sampled = false;  // else by the kernel's account
  double waiting_ns = 0;
  double preempted_ns = 0;
  bool is_part = false;         // of a function or module with what it calls, not of everything
  double wall_ns = 0;           // of the runs; 0 of a part
  std::vector<WaitKind> kinds;  // most first

  [[nodiscard]] double whole_ns() const { return on_cpu_ns + waiting_ns + preempted_ns; }
  /// Wall time in which no thread ran or could have run: at least so much.
  [[nodiscard]] double idle_ns() const { return std::max(0.0, wall_ns - on_cpu_ns - preempted_ns); }
};

/// What holds a program up that hardly runs: of what its threads wait for outside of it (a clock, a
/// disk, somebody's answer) the kind with most time. That threads wait for each other holds a
/// program up only by what the last of them does. Where nothing outside was seen, the kind with
/// most time. nullptr: for most of its wall time a thread runs, or wall time is not known.
const WaitKind* find_what_holds_up(const WaitingTime& time);

/// Whether the kind alone explains the time in which nothing runs, and no other kind could.
bool explains_idle_time(const WaitingTime& time, const WaitKind& kind);

/// "For 96 % of the wall time no thread runs: sleep has 95 %, in pace. Wait for the event itself,
/// or for less time."
std::string describe_idle_time(const WaitingTime& time, const WaitKind& kind);

/// "of the threads, 9.02 s: 31.0 % on CPU, 64.0 % waiting (sleep 60.1 %: pace; ...), 5.0 %
/// preempted". Shares are of the whole; kinds below 1 % of it are left out.
std::string describe_waiting(const WaitingTime& time);

/// What threads waited for: all of them, or those in the functions or modules that the filters
/// name, with what they call. The time on a CPU is by samples then.
std::optional<WaitingTime> find_waiting(const Profile& profile, const FactsLookup& facts,
                                        const std::vector<Filter>& filters = {});

}  // namespace culprit
