#pragma once

// The perf_event_attr's of counting and sampling, and opening events with as much as
// the kernel offers: features it does not know are shed one by one.

#include <cstdint>
#include <linux/perf_event.h>
#include <string>
#include <vector>

#include "base/file.h"
#include "events/event_request.h"
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

/// One event of a recording, and how often a sample is taken.
struct SampledEvent {
  EventRequest request;
  uint64_t period = 0;        // events per sample (clocks: ns); 0: by frequency
  uint64_t frequency_hz = 0;  // the kernel varies the period to get so many samples
};

/// What all events of a recording have in common: their records must be laid out alike.
struct SamplingSetup {
  bool stacks = false;
  uint32_t stack_copy_bytes = 0;  // of the user stack, with registers, instead of its callchain
  bool kernel_stacks = false;     // of the callchain the kernel's part alone
  bool user_chains = false;       // beside stack copies, too: what lies beyond them
  bool branches = false;          // the CPU's record of taken branches, where it has one
  bool memory = false;            // data address, weight and source, where the event has them
  bool many_events = false;       // records must say which event they belong to
  bool fixed_periods = false;     // no event's period varies, and samples do not say it
  bool switches = false;          // the sideband tells when tasks leave and enter a CPU
  bool per_cpu = false;           // of all tasks there; otherwise inherited by children
  uint32_t wakeup_bytes = 0;
};

/// Every switch away from a task: where it was when it left its CPU. The period is 1.
SampledEvent make_switch_event();

/// Time: cpu-clock, which every machine has.
SampledEvent make_clock_event(uint64_t period_ns, bool user_only, bool kernel_only);
bool is_clock(const EventRequest& event);

/// The part of an attr that says what is counted: type, codes, exclusions, precision.
void set_event(perf_event_attr& attr, const EventRequest& event);

/// Counts one event, without samples; read() gives value, time enabled and time running.
/// Disabled if it leads its group: members follow their leader.
perf_event_attr make_counting_attr(const EventRequest& event, bool is_leader);

/// Samples of an event. Disabled if it leads its group: members follow their leader.
/// `carries_sideband`: it also tells of mappings, names, forks and exits.
perf_event_attr make_sampling_attr(const SampledEvent& event, const SamplingSetup& setup,
                                   const PerfFeatures& features, bool is_leader,
                                   bool carries_sideband);
/// No samples, only mappings, names, forks and exits. Disabled.
perf_event_attr make_sideband_attr(const SamplingSetup& setup, const PerfFeatures& features);

/// The registers to copy for unwinding, as perf's bits; 0: none are known for this architecture.
uint64_t find_unwind_registers();
/// Likewise the stack pointer.
uint64_t find_stack_pointer_register();

RecordLayout make_layout(const perf_event_attr& attr);

/// perf_event_open(2), close-on-exec. On failure the Fd is empty and errno says why.
Fd open_perf_event(perf_event_attr attr, pid_t pid, int cpu, unsigned long flags = 0,
                   int group_fd = -1);

}  // namespace culprit
