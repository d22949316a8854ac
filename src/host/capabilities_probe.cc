#include "host/capabilities_probe.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/time.h"

namespace culprit {
namespace {

constexpr uint64_t kCostPeriodNs = 250'007;  // 4 kHz: dear enough to be seen
constexpr int kCostPairs = 7;
constexpr int kCostTries = 3;
constexpr uint64_t kCostWorkNs = 15'000'000;

perf_event_attr make_attributes(ProbeEvent event, bool user_only) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = event == ProbeEvent::cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE;
  attr.config = event == ProbeEvent::cycles ? static_cast<uint64_t>(PERF_COUNT_HW_CPU_CYCLES)
                                            : static_cast<uint64_t>(PERF_COUNT_SW_CPU_CLOCK);
  attr.disabled = 1;
  attr.exclude_kernel = user_only ? 1 : 0;
  attr.exclude_hv = 1;
  return attr;
}

Fd open_event(perf_event_attr attr, int pid, int cpu) {
  return Fd(
      static_cast<int>(::syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
}

/// Spins through `rounds`; the CPU time it took. Never inlined: two copies of the loop may
/// differ in speed by their alignment, and the difference of two calls is what counts.
[[gnu::noinline]] uint64_t spin_ns(uint64_t rounds) {
  const uint64_t start = read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
  for (uint64_t i = 0; i < rounds; ++i) asm volatile("" : : "r"(i));
  return read_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
}

/// Counted by the signal handler of the timer whose resolution is measured.
volatile sig_atomic_t expirations = 0;
void count_expiration(int /*signal*/) {
  expirations = expirations + 1;
}

/// A ring is part of the cost: without one the kernel writes no sample.
class SampleRing {
 public:
  explicit SampleRing(int fd) : size_bytes_(static_cast<size_t>(::getpagesize()) * 9) {
    at_ = ::mmap(nullptr, size_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  SampleRing(const SampleRing&) = delete;
  SampleRing& operator=(const SampleRing&) = delete;
  ~SampleRing() {
    if (is_mapped()) ::munmap(at_, size_bytes_);
  }
  [[nodiscard]] bool is_mapped() const { return at_ != MAP_FAILED; }
  /// Makes room again, reading nothing.
  void skip() {
    auto* page = static_cast<perf_event_mmap_page*>(at_);
    const uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
    __atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
  }

 private:
  size_t size_bytes_;
  void* at_;
};

}  // namespace

int try_event(ProbeEvent event, bool user_only, int pid, int cpu) {
  const Fd fd = open_event(make_attributes(event, user_only), pid, cpu);
  return fd ? 0 : errno;
}

std::optional<double> measure_sample_cost_ns() {
  perf_event_attr attr = make_attributes(ProbeEvent::cpu_clock, false);
  attr.sample_period = kCostPeriodNs;
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD;
  Fd fd = open_event(attr, 0, -1);
  if (!fd) {
    attr.exclude_kernel = 1;
    fd = open_event(attr, 0, -1);
  }
  if (!fd) return std::nullopt;
  SampleRing ring(fd.get());
  if (!ring.is_mapped()) return std::nullopt;

  constexpr uint64_t kLookRounds = 1'000'000;
  const double look_ns = static_cast<double>(std::max<uint64_t>(spin_ns(kLookRounds), 1));
  const auto rounds = static_cast<uint64_t>(kCostWorkNs / look_ns * kLookRounds);
  // Others can only slow both: the fastest of each say what the samples did. Where they slow all
  // that is bare more, there is no cost to see.
  for (int tries = 0; tries < kCostTries; ++tries) {
    uint64_t bare_ns = UINT64_MAX;
    uint64_t sampled_ns = UINT64_MAX;
    for (int pair = 0; pair < kCostPairs; ++pair) {
      bare_ns = std::min(bare_ns, spin_ns(rounds));
      ::syscall(SYS_ioctl, fd.get(), PERF_EVENT_IOC_ENABLE, 0);
      sampled_ns = std::min(sampled_ns, spin_ns(rounds));
      ::syscall(SYS_ioctl, fd.get(), PERF_EVENT_IOC_DISABLE, 0);
      ring.skip();
    }
    if (sampled_ns <= bare_ns) continue;
    const auto more_ns = static_cast<double>(sampled_ns - bare_ns);
    return more_ns / (static_cast<double>(sampled_ns) / kCostPeriodNs);
  }
  return std::nullopt;
}

std::optional<double> measure_cpu_timer_resolution_ns(int* reason) {
  constexpr uint64_t kPeriodNs = 1'000'000;
  constexpr uint64_t kSpinNs = 60'000'000;
  constexpr uint64_t kUnaskedNs = 20'000'000;
  const int signal_number = SIGRTMAX - 1;
  struct sigaction counting{};
  struct sigaction before{};
  counting.sa_handler = count_expiration;
  counting.sa_flags = SA_RESTART;
  ::sigaction(signal_number, &counting, &before);
  sigset_t ours;
  sigset_t mask_before;
  sigemptyset(&ours);
  sigaddset(&ours, signal_number);
  ::pthread_sigmask(SIG_UNBLOCK, &ours, &mask_before);

  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = signal_number;
  event._sigev_un._tid = static_cast<pid_t>(::syscall(SYS_gettid));
  itimerspec times{};
  times.it_value.tv_nsec = times.it_interval.tv_nsec = kPeriodNs;
  timer_t timer{};
  uint64_t spent_ns = 0;
  expirations = 0;
  *reason = ::timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0 ? 0 : errno;
  if (*reason == 0) {
    ::timer_settime(timer, 0, &times, nullptr);
    const uint64_t start = read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    // Asking for the CPU time brings it up to date in the kernel: where another thread wants this
    // CPU, our turn then ends between two ticks, and the next tick finds the other.
    while (spent_ns < kSpinNs) {
      const uint64_t until = monotonic_ns() + kUnaskedNs;
      while (monotonic_ns() < until) continue;
      spent_ns = read_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
    }
    ::timer_delete(timer);
  }
  ::pthread_sigmask(SIG_SETMASK, &mask_before, nullptr);
  ::sigaction(signal_number, &before, nullptr);
  if (expirations == 0) return std::nullopt;
  return static_cast<double>(spent_ns) / static_cast<double>(expirations);
}

int try_bpf_program() {
  // r0 = 0; exit
  bpf_insn instructions[2]{};
  instructions[0].code = BPF_ALU64 | BPF_MOV | BPF_K;
  instructions[1].code = BPF_JMP | BPF_EXIT;
  const char license[] = "GPL";
  bpf_attr attr{};
  attr.prog_type = BPF_PROG_TYPE_PERF_EVENT;
  attr.insns = reinterpret_cast<uint64_t>(instructions);
  attr.insn_cnt = 2;
  attr.license = reinterpret_cast<uint64_t>(license);
  const Fd fd(static_cast<int>(::syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof attr)));
  return fd ? 0 : errno;
}

std::string error_name(int error_number) {
  const char* name = ::strerrorname_np(error_number);
  return name == nullptr ? "error " + std::to_string(error_number) : name;
}

}  // namespace culprit
