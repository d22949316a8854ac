#pragma once

// Where the time of a program's threads went: on a CPU, waiting, or preempted; and what they waited
// for, told by the kernel's and libc's functions on the stack (record --off-cpu).

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
  std::vector<WaitKind> kinds;  // most first

  [[nodiscard]] double whole_ns() const { return on_cpu_ns + waiting_ns + preempted_ns; }
};

/// "of the threads, 9.02 s: 31.0 % on CPU, 64.0 % waiting (sleep 60.1 %: pace; ...), 5.0 %
/// preempted". Shares are of the whole; kinds below 1 % of it are left out.
std::string describe_waiting(const WaitingTime& time);

/// What threads waited for: all of them, or those in the functions or modules that the filters
/// name, with what they call. The time on a CPU is by samples then.
std::optional<WaitingTime> find_waiting(const Profile& profile, const FactsLookup& facts,
                                        const std::vector<Filter>& filters = {});

}  // namespace culprit
