#include "why/waiting.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

#include "attribute/code_index.h"
#include "base/text.h"
#include "model/counts.h"
#include "model/engine.h"
#include "model/off_cpu_events.h"
#include "why/own_code.h"

namespace culprit {
namespace {

struct WaitWord {
  std::string_view prefix;  // of the function's name
  std::string_view kind;
};

// Functions of Linux 4.19 to 6.18 and of glibc. Frames are asked innermost first: what lies below
// (a lock inside a file system) says more than the call above it.
constexpr WaitWord kWords[] = {
    {"do_nanosleep", "sleep"},
    {"hrtimer_nanosleep", "sleep"},
    {"clock_nanosleep", "sleep"},
    {"__clock_nanosleep", "sleep"},
    {"futex_wait", "lock"},
    {"__futex_wait", "lock"},
    {"futex_lock_pi", "lock"},
    {"do_futex", "lock"},
    {"pthread_cond_", "lock"},
    {"pthread_mutex_", "lock"},
    {"__lll_lock_wait", "lock"},
    {"__futex_abstimed", "lock"},
    {"pipe_read", "pipe"},
    {"pipe_write", "pipe"},
    {"anon_pipe_", "pipe"},
    {"pipe_wait", "pipe"},
    {"do_sys_poll", "poll"},
    {"do_select", "poll"},
    {"do_epoll_wait", "poll"},
    {"ep_poll", "poll"},
    {"epoll_wait", "poll"},
    {"do_wait", "child process"},
    {"kernel_wait4", "child process"},
    {"sk_wait_data", "socket"},
    {"tcp_recvmsg", "socket"},
    {"inet_csk_accept", "socket"},
    {"unix_stream_", "socket"},
    {"__skb_wait_for", "socket"},
    {"sk_stream_wait", "socket"},
    {"io_schedule", "disk"},
    {"folio_wait", "disk"},
    {"__folio_lock", "disk"},
    {"wait_on_page_bit", "disk"},
    {"submit_bio_wait", "disk"},
    {"blkdev_", "disk"},
    {"ext4_sync_file", "disk"},
    {"jbd2_", "disk"},
    {"vfs_fsync", "disk"},
    {"rwsem_down_", "kernel lock"},
    {"__mutex_lock", "kernel lock"},
    {"n_tty_read", "terminal"},
    {"do_sigtimedwait", "signal"},
    {"sigsuspend", "signal"},
    {"do_sys_pause", "signal"},
    {"handle_mm_fault", "page fault"},
};

struct KindOfWait {
  std::string_view kind;
  bool is_outside;  // what is waited for is no thread of the program
  std::string_view advice;
};

constexpr KindOfWait kWaitKinds[] = {
    {"sleep", true, "Wait for the event itself (a condition, poll), or for less time."},
    {"disk", true, "Read larger pieces, ahead of their use; write many things before one fsync."},
    {"socket", true, "Ask for several things at once: each answer is waited for."},
    {"pipe", true, "The program at its other end is slower, or they hand over little at once."},
    {"poll", true, "It waits for events: who sends them is slower, or nobody does."},
    {"terminal", true, "It waits for somebody who types."},
    {"signal", true, "It waits for a signal: who sends it is slower."},
    {"kernel lock", true, "Threads change one address space or one file at once."},
    {"page fault", true, "Memory comes from a disk: touch it earlier, or use less of it."},
    {"other", true, "culprit report --off-cpu has the stacks."},
    {"child process", false, "What the child does takes the time: record it, too."},
    {"lock", false, "Hold the lock for a shorter time, or divide what it protects."},
    {"condition", false, "Threads wait for work from each other: give them larger pieces."},
    {"barrier", false, "Threads wait for the last of them: divide the work more evenly."},
    {"semaphore", false, "Threads wait for each other: give them larger pieces."},
    {"end of a thread", false, "One thread does the rest alone: divide it."},
};

constexpr const KindOfWait* find_row(std::string_view kind) {
  return std::ranges::find(kWaitKinds, kind, &KindOfWait::kind);
}
constexpr bool has_row(const WaitWord& word) {
  return find_row(word.kind) != std::end(kWaitKinds);
}
static_assert(std::ranges::all_of(kWords, has_row));

const KindOfWait& find_kind(std::string_view kind) {
  const KindOfWait* const found = find_row(kind);
  return found == std::end(kWaitKinds) ? *find_row("other") : *found;
}

// What threads wait for by a futex, told by libc's functions above it.
constexpr WaitWord kFutexWords[] = {
    {"pthread_join", "end of a thread"},
    {"__pthread_clockjoin", "end of a thread"},
    {"__pthread_join", "end of a thread"},
    {"pthread_cond_", "condition"},
    {"__pthread_cond_", "condition"},
    {"___pthread_cond_", "condition"},
    {"pthread_barrier_", "barrier"},
    {"__pthread_barrier_", "barrier"},
    {"sem_", "semaphore"},
    {"__new_sem_", "semaphore"},
    {"do_futex_wait", "semaphore"},
};

static_assert(std::ranges::all_of(kFutexWords, has_row));

std::string_view find_futex_kind(std::string_view function) {
  for (const auto& [prefix, kind] : kFutexWords) {
    if (function.starts_with(prefix)) return kind;
  }
  return "";
}

std::optional<EventId> find_event(const Profile& profile, std::string_view name) {
  for (size_t event = 0; event < profile.events.size(); ++event) {
    if (profile.strings.text(profile.events[event].name) == name) return EventId(event);
  }
  return std::nullopt;
}

double sum_event(const Profile& profile, EventId event) {
  double sum = 0;
  for (const Histogram& histogram : profile.histograms) {
    for (const EventColumn& column : histogram.columns) {
      if (column.event != event) continue;
      for (const uint64_t value : column.value) sum += static_cast<double>(value);
    }
  }
  return sum * profile.events[event.value].scale;
}

/// The kernel's account of the runs, where all of them have one; else what was sampled.
void add_on_cpu(const Profile& profile, WaitingTime& time) {
  const bool has_accounts =
      !profile.runs.empty() && std::all_of(profile.runs.begin(), profile.runs.end(),
                                           [](const Run& run) { return run.cpu_time_ns; });
  if (has_accounts) {
    for (const Run& run : profile.runs) time.on_cpu_ns += static_cast<double>(*run.cpu_time_ns);
    return;
  }
  time.on_cpu_is_sampled = true;
  const std::optional<EventId> clock = find_event(profile, "cpu-clock");
  if (clock) time.on_cpu_ns = sum_event(profile, *clock);
}

/// Waits by kind, and of each by the function of the program's own that waits.
class WaitSums {
 public:
  WaitSums(const Profile& profile, const FactsLookup& facts)
      : profile_(profile), code_(profile, facts) {}

  void add(StackId stack, double ns) {
    std::string_view kind;
    const std::vector<Location> places = stack_locations(profile_, stack);
    for (const Location& location : places) {
      if (find_code_owner(code_, location.image) == CodeOwner::program) break;
      for (const Frame& frame : code_.frames(location)) {
        const std::string& name = code_.facts(location.image)->strings.text(frame.function);
        if (kind.empty()) kind = find_wait_kind(name);
        if (kind == "lock" && !find_futex_kind(name).empty()) kind = find_futex_kind(name);
      }
    }
    const std::string function = find_own_place(code_, places).function;
    sums_[std::string(kind.empty() ? "other" : kind)][function] += ns;
  }

  [[nodiscard]] std::vector<WaitKind> list() const {
    std::vector<WaitKind> kinds;
    for (const auto& [word, functions] : sums_) {
      WaitKind kind;
      kind.kind = word;
      double most = 0;
      for (const auto& [function, ns] : functions) {
        kind.ns += ns;
        if (function.empty() || ns <= most) continue;
        most = ns;
        kind.function = function;
      }
      if (kind.ns > 0) kind.share = most / kind.ns;
      kinds.push_back(std::move(kind));
    }
    std::sort(kinds.begin(), kinds.end(),
              [](const WaitKind& a, const WaitKind& b) { return a.ns > b.ns; });
    return kinds;
  }

 private:
  const Profile& profile_;
  CodeIndex code_;
  std::map<std::string, std::map<std::string, double>> sums_;
};

}  // namespace

std::string_view find_wait_kind(std::string_view function) {
  for (const auto& [prefix, kind] : kWords) {
    if (function.starts_with(prefix)) return kind;
  }
  return "";
}

const WaitKind* find_what_holds_up(const WaitingTime& time) {
  constexpr double kMost = 0.5;
  if (time.kinds.empty() || time.idle_ns() <= kMost * time.wall_ns) return nullptr;
  const auto outside = std::ranges::find_if(
      time.kinds, [](const WaitKind& kind) { return find_kind(kind.kind).is_outside; });
  return outside == time.kinds.end() ? &time.kinds.front() : &*outside;
}

bool explains_idle_time(const WaitingTime& time, const WaitKind& kind) {
  constexpr double kNearlyAll = 0.8;
  const auto is_other = [&](const WaitKind& one) {
    return &one != &kind && find_kind(one.kind).is_outside &&
           one.ns >= (1 - kNearlyAll) * time.idle_ns();
  };
  return find_kind(kind.kind).is_outside && kind.kind != "other" &&
         kind.ns >= kNearlyAll * time.idle_ns() && std::ranges::none_of(time.kinds, is_other);
}

std::string describe_idle_time(const WaitingTime& time, const WaitKind& kind) {
  const auto percent = [&](double ns) { return std::min(100.0, 100 * ns / time.wall_ns); };
  return fmt::format("for {:.0f} % of the wall time no thread runs: {} has {:.0f} %{}. {}",
                     percent(time.idle_ns()), kind.kind, percent(kind.ns),
                     kind.function.empty() ? "" : ", in " + printable(kind.function),
                     find_kind(kind.kind).advice);
}

std::string describe_waiting(const WaitingTime& time) {
  constexpr double kLeastPercent = 1;
  const auto percent = [&](double ns) { return 100 * ns / time.whole_ns(); };
  std::vector<std::string> kinds;
  for (const WaitKind& kind : time.kinds) {
    if (percent(kind.ns) < kLeastPercent) continue;
    std::string words = fmt::format("{} {:.1f} %", kind.kind, percent(kind.ns));
    if (!kind.function.empty()) {
      words += fmt::format(", {} of it in {}", fmt::format("{:.0f} %", 100 * kind.share),
                           printable(kind.function));
    }
    kinds.push_back(std::move(words));
  }
  return fmt::format(
      "of all threads{}, {:.3g} s: {:.1f} % on a CPU{}, {:.1f} % waiting{}, {:.1f} % "
      "preempted. culprit report --off-cpu has the stacks.",
      time.is_part ? " in this part and what it calls" : "", time.whole_ns() * 1e-9,
      percent(time.on_cpu_ns), time.on_cpu_is_sampled ? " (sampled)" : "", percent(time.waiting_ns),
      kinds.empty() ? "" : fmt::format(" ({})", fmt::join(kinds, "; ")),
      percent(time.preempted_ns));
}

std::optional<WaitingTime> find_waiting(const Profile& profile, const FactsLookup& facts,
                                        const std::vector<Filter>& filters) {
  const std::optional<EventId> waiting = find_event(profile, kOffCpuEvent);
  const std::optional<EventId> preempted = find_event(profile, kPreemptedEvent);
  if (!waiting || !preempted || !are_of_code(filters)) return std::nullopt;
  WaitingTime time;
  const bool is_all = filters.empty();
  if (is_all) {
    add_on_cpu(profile, time);
    time.waiting_ns = sum_event(profile, *waiting);
    time.preempted_ns = sum_event(profile, *preempted);
    for (const Run& run : profile.runs) {
      if (!is_simulated(profile, run)) time.wall_ns += static_cast<double>(run.duration_ns);
    }
  } else {
    time.on_cpu_is_sampled = time.is_part = true;
  }
  const std::optional<EventId> clock = find_event(profile, "cpu-clock");
  WaitSums sums(profile, facts);
  CodeIndex code(profile, facts);
  for (const StackCount& count : profile.stack_counts) {
    const EventId event = count.cell.event;
    if (event.value >= profile.events.size()) continue;
    if (is_all && event != *waiting) continue;
    if (!is_on_stack(filters, code, stack_locations(profile, count.stack))) continue;
    const double ns = profile.events[event.value].scale * static_cast<double>(count.cell.value);
    if (event == *waiting) sums.add(count.stack, ns);
    if (is_all) continue;
    if (event == *waiting) time.waiting_ns += ns;
    if (event == *preempted) time.preempted_ns += ns;
    if (event == clock) time.on_cpu_ns += ns;
  }
  time.kinds = sums.list();
  return time;
}

}  // namespace culprit
