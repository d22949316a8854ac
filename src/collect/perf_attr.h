#pragma once

// The perf_event_attr's of the `timer` engine, and opening events with as much as
// the kernel offers: features it does not know are shed one by one.

#include <cstdint>
#include <linux/perf_event.h>
#include <string>
#include <vector>

#include "events/event_request.h"

#include "base/file.h"
#include "records/record_layout.h"

namespace culprit {

/// What newer kernels offer, newest first: the order in which it is shed.
struct PerfFeatures {
  bool lost_counts = true;     // PERF_FORMAT_LOST, 6.0
  bool build_ids = true;       // in MMAP2, 5.12
  bool kernel_symbols = true;  // KSYMBOL, 5.1

  /// Sheds one more; false if there is nothing left.
  bool shed();
};

struct ClockEvent {
  uint64_t period_ns = 0;
  bool stacks = false;
  uint32_t stack_copy_bytes = 0;  // of the user stack, with registers, instead of its callchain
  bool user_only = false;
  bool kernel_only = false;
  bool per_cpu = false;  // of all tasks there; otherwise inherited by children
  bool carries_sideband = false;
  uint32_t wakeup_bytes = 0;
};

/// The part of an attr that says what is counted: type, codes, exclusions, precision.
void set_event(perf_event_attr& attr, const EventRequest& event);

/// Counts one event, without samples; read() gives value, time enabled and time running.
/// Disabled if it leads its group: members follow their leader.
perf_event_attr make_counting_attr(const EventRequest& event, bool is_leader);

/// Samples of cpu-clock. Disabled.
perf_event_attr make_clock_attr(const ClockEvent& event, const PerfFeatures& features);
/// No samples, only mappings, names, forks and exits. Disabled. Records are laid out alike.
perf_event_attr make_sideband_attr(const ClockEvent& event, const PerfFeatures& features);

/// The registers to copy for unwinding, as perf's bits; 0: none are known for this architecture.
uint64_t find_unwind_registers();

RecordLayout make_layout(const perf_event_attr& attr);

/// perf_event_open(2), close-on-exec. On failure the Fd is empty and errno says why.
Fd open_perf_event(perf_event_attr attr, pid_t pid, int cpu, unsigned long flags = 0,
                   int group_fd = -1);

}  // namespace culprit
