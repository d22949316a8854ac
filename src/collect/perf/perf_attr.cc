#include "collect/perf/perf_attr.h"

#include <cstring>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace culprit {

namespace {

constexpr uint64_t kSampleType =
    PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD;

void add_stack_copy(perf_event_attr& attr, const SamplingSetup& setup) {
  attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  attr.sample_regs_user = find_unwind_registers();
  attr.sample_stack_user = setup.stack_copy_bytes;
  attr.exclude_callchain_user = setup.user_chains ? 0 : 1;  // the kernel's part is walked as ever
}

/// What the sideband's records and the samples share.
perf_event_attr make_common(const SamplingSetup& setup) {
  perf_event_attr attr;
  std::memset(&attr, 0, sizeof attr);
  attr.size = sizeof attr;
  attr.sample_type = kSampleType;
  // The kernel samples each page fault, whatever the period, where a sample has to say how many it
  // is (perf_swevent_event, kernel/events/core.c).
  if (setup.fixed_periods) attr.sample_type &= ~uint64_t{PERF_SAMPLE_PERIOD};
  if (setup.many_events) attr.sample_type |= PERF_SAMPLE_IDENTIFIER;
  attr.sample_id_all = 1;
  attr.disabled = 1;
  attr.inherit = setup.per_cpu ? 0 : 1;
  attr.watermark = 1;
  attr.wakeup_watermark = setup.wakeup_bytes;
  attr.use_clockid = 1;  // the clock that jitdumps use
  attr.clockid = CLOCK_MONOTONIC;
  return attr;
}

void add_sample_parts(perf_event_attr& attr, const SamplingSetup& setup) {
  if (setup.stacks || setup.kernel_stacks) attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
  if (setup.kernel_stacks) attr.exclude_callchain_user = 1;
  if (setup.stack_copy_bytes != 0) add_stack_copy(attr, setup);
  if (setup.branches) {
    attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
    attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
  }
  if (setup.memory) {
    attr.sample_type |= PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_WEIGHT_STRUCT;
    // Which memory is a thread's stack is told by its stack pointer alone.
    if (const uint64_t registers = attr.sample_regs_user | find_stack_pointer_register()) {
      attr.sample_type |= PERF_SAMPLE_REGS_USER;
      attr.sample_regs_user = registers;
    }
  }
}

void add_sideband(perf_event_attr& attr, const SamplingSetup& setup, const PerfFeatures& features) {
  attr.context_switch = setup.switches ? 1 : 0;
  attr.mmap = 1;
  attr.mmap2 = 1;
  attr.mmap_data = setup.memory ? 1 : 0;
  attr.comm = 1;
  attr.comm_exec = 1;
  attr.task = 1;
  attr.build_id = features.build_ids ? 1 : 0;
  attr.ksymbol = features.kernel_symbols ? 1 : 0;
}

}  // namespace

bool PerfFeatures::shed() {
  for (bool* const feature : {&lost_counts, &build_ids, &kernel_symbols}) {
    if (*feature) {
      *feature = false;
      return true;
    }
  }
  return false;
}

void set_event(perf_event_attr& attr, const EventRequest& event) {
  attr.type = event.type;
  attr.config = event.config;
  attr.config1 = event.config1;
  attr.config2 = event.config2;
  if (event.breakpoint_type != 0) attr.bp_type = event.breakpoint_type;
  attr.exclude_user = event.exclude_user ? 1 : 0;
  attr.exclude_kernel = event.exclude_kernel ? 1 : 0;
  attr.exclude_hv = event.exclude_hypervisor ? 1 : 0;
  attr.exclude_host = event.exclude_host ? 1 : 0;
  attr.exclude_guest = event.exclude_guest ? 1 : 0;
  attr.exclude_idle = event.exclude_idle ? 1 : 0;
  attr.precise_ip = event.precise_level & 3;
  attr.pinned = event.pinned ? 1 : 0;
  attr.exclusive = event.exclusive ? 1 : 0;
}

perf_event_attr make_counting_attr(const EventRequest& event, bool is_leader) {
  perf_event_attr attr;
  std::memset(&attr, 0, sizeof attr);
  attr.size = sizeof attr;
  set_event(attr, event);
  attr.precise_ip = 0;  // says where a sample is, and some counters cannot do both
  attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  attr.disabled = is_leader ? 1 : 0;
  return attr;
}

SampledEvent make_clock_event(uint64_t period_ns, bool user_only, bool kernel_only) {
  SampledEvent event;
  event.request.name = user_only ? "cpu-clock:u" : kernel_only ? "cpu-clock:k" : "cpu-clock";
  event.request.pmu = "software";
  event.request.type = PERF_TYPE_SOFTWARE;
  event.request.config = PERF_COUNT_SW_CPU_CLOCK;
  event.request.exclude_kernel = event.request.exclude_hypervisor = user_only;
  event.request.exclude_user = kernel_only;
  event.period = period_ns;
  return event;
}

SampledEvent make_switch_event() {
  SampledEvent event;
  event.request.name = "context-switches";
  event.request.pmu = "software";
  event.request.type = PERF_TYPE_SOFTWARE;
  event.request.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
  event.period = 1;
  return event;
}

bool is_clock(const EventRequest& event) {
  return event.type == PERF_TYPE_SOFTWARE &&
         (event.config == PERF_COUNT_SW_CPU_CLOCK || event.config == PERF_COUNT_SW_TASK_CLOCK);
}

perf_event_attr make_sampling_attr(const SampledEvent& event, const SamplingSetup& setup,
                                   const PerfFeatures& features, bool is_leader,
                                   bool carries_sideband) {
  perf_event_attr attr = make_common(setup);
  set_event(attr, event.request);
  add_sample_parts(attr, setup);
  attr.disabled = is_leader ? 1 : 0;
  attr.freq = event.period == 0 ? 1 : 0;
  attr.sample_period = event.period == 0 ? event.frequency_hz : event.period;
  // Clocks go on while a CPU idles; counters mostly do not, and some PMUs (Arm) refuse this.
  if (setup.per_cpu && is_clock(event.request)) attr.exclude_idle = 1;
  attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
                     (features.lost_counts ? PERF_FORMAT_LOST : 0);
  if (carries_sideband) add_sideband(attr, setup, features);
  return attr;
}

perf_event_attr make_sideband_attr(const SamplingSetup& setup, const PerfFeatures& features) {
  perf_event_attr attr = make_common(setup);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  add_sideband(attr, setup, features);
  return attr;
}

uint64_t find_unwind_registers() {
#if defined(__x86_64__)
  return 0xff01ff;  // AX ... SP, IP, R8 ... R15 of enum perf_event_x86_regs
#elif defined(__aarch64__)
  return 0x1ffffffff;  // X0 ... X29, LR, SP, PC of enum perf_event_arm_regs
#else
  return 0;
#endif
}

uint64_t find_stack_pointer_register() {
#if defined(__x86_64__)
  return uint64_t{1} << 7;
#elif defined(__aarch64__)
  return uint64_t{1} << 31;
#else
  return 0;
#endif
}

RecordLayout make_layout(const perf_event_attr& attr) {
  RecordLayout layout;
  layout.sample_type = attr.sample_type;
  layout.read_format = attr.read_format;
  layout.branch_sample_type = attr.branch_sample_type;
  layout.user_registers = attr.sample_regs_user;
  layout.sample_id_all = attr.sample_id_all != 0;
  return layout;
}

Fd open_perf_event(perf_event_attr attr, pid_t pid, int cpu, unsigned long flags, int group_fd) {
  return Fd(static_cast<int>(
      ::syscall(SYS_perf_event_open, &attr, pid, cpu, group_fd, flags | PERF_FLAG_FD_CLOEXEC)));
}

}  // namespace culprit
