#include "daemon/bpf_sampler.h"

#ifdef CULPRIT_HAS_BPF

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <linux/membarrier.h>
#include <linux/perf_event.h>
#include <optional>
#include <random>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "base/time.h"
#include "collect/perf/event_refusal.h"
#include "collect/perf/perf_attr.h"
#include "collect/perf/perf_targets.h"
#include "daemon/random_periods.h"

using u32 = __u32;  // as the skeleton names them
using u64 = __u64;
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <sampler.skel.h>

namespace culprit {

namespace {

// Above this many names the kernel's tables are emptied: they hold MOST_IMAGES and MOST_WHOS.
constexpr uint64_t kManyNames = MOST_IMAGES / 2;

/// The last thing that libbpf had to say.
std::string& last_words() {
  static std::string words;
  return words;
}

int keep_last_words(enum libbpf_print_level level, const char* format, va_list arguments) {
  if (level != LIBBPF_WARN) return 0;
  char text[512] = "";
  std::vsnprintf(text, sizeof text, format, arguments);
  const std::string_view line =
      trim(std::string_view(text).substr(0, std::string_view(text).find('\n')));
  if (!line.starts_with("-- ")) last_words() = line;
  return 0;
}

Error refusal(const char* what, int error_number) {
  std::string text =
      fmt::format("{}: {}", what, error_number == 0 ? "refused" : strerrorname_np(error_number));
  if (error_number == EPERM || error_number == EACCES) {
    text +=
        "; it needs CAP_BPF and CAP_PERFMON: run as root, or setcap "
        "cap_bpf,cap_perfmon,cap_syslog,cap_sys_ptrace,cap_dac_read_search+ep culprit";
  } else if (!last_words().empty()) {
    text += " (" + printable(last_words()) + ")";
  }
  return Error{text};
}

struct CloseSkeleton {
  void operator()(sampler* skeleton) const { sampler__destroy(skeleton); }
};
using Skeleton = std::unique_ptr<sampler, CloseSkeleton>;

/// Opens and loads the program, with room for `cpus`.
Result<Skeleton> load_program(uint32_t cpus, bool by_process) {
  last_words().clear();
  libbpf_set_print(keep_last_words);
  if (::access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
    return Error{
        "this kernel does not describe its types (no /sys/kernel/btf/vmlinux; "
        "CONFIG_DEBUG_INFO_BTF)"};
  }
  Skeleton skeleton(sampler__open());
  if (!skeleton) return refusal("the BPF program cannot be opened", errno);
  bpf_map__set_max_entries(skeleton->maps.sets, 2 * cpus);
  skeleton->rodata->by_process = by_process ? 1 : 0;
  if (const int error = sampler__load(skeleton.get()); error != 0) {
    return refusal("the kernel refuses the BPF program", -error);
  }
  return skeleton;
}

/// A CPU may go offline between being listed and being sampled.
bool is_online(int cpu) {
  const std::vector<int> online = list_online_cpus();
  return std::find(online.begin(), online.end(), cpu) != online.end();
}

/// An event on one CPU, with the program attached.
///
/// What it has counted is read with drains only: the kernel asks the event's CPU for it by an
/// interrupt, and so it does for a new period. Between drains the time that a period was set stands
/// for the time that the event was on.
struct Sampler {
  Sampler(int event, bpf_link* attached, uint64_t every)
      : fd(event), link(attached), period(every), since_ns(read_clock_ns(CLOCK_MONOTONIC)) {}
  Sampler(Sampler&& other) noexcept
      : fd(other.fd),
        link(std::exchange(other.link, nullptr)),
        period(other.period),
        since_ns(other.since_ns),
        spent_ns(other.spent_ns),
        periods(other.periods),
        before(other.before) {}
  Sampler& operator=(Sampler&&) = delete;
  ~Sampler() { bpf_link__destroy(link); }

  /// What it counted since the last call.
  EventReading take();
  /// A new period of a clock, which begins now.
  void set_period(uint64_t period_ns);
  void enable(bool is_on) const {
    ::ioctl(fd, is_on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
  }

  void end_period();

  int fd;  // closed with its link
  bpf_link* link;
  uint64_t period;
  uint64_t since_ns;      // the period has been what it is
  uint64_t spent_ns = 0;  // since the last take()
  uint64_t periods = 0;   // that were over in it
  EventReading before;    // the event's own counts at the last take()
};

/// What is left of a period is gone with it.
void Sampler::end_period() {
  const uint64_t now_ns = read_clock_ns(CLOCK_MONOTONIC);
  spent_ns += now_ns - since_ns;
  periods += (now_ns - since_ns) / period;
  since_ns = now_ns;
}

EventReading Sampler::take() {
  end_period();
  uint64_t values[3] = {};  // value, time enabled, time running
  if (::read(fd, values, sizeof values) != sizeof values) return {};
  EventReading passed{values[0] - before.value, 0, values[1] - before.enabled_ns,
                      values[2] - before.running_ns};
  before = {values[0], 0, values[1], values[2]};
  // A pause belongs to no period.
  if (spent_ns != 0) {
    passed.samples = static_cast<uint64_t>(static_cast<double>(periods) *
                                           static_cast<double>(passed.enabled_ns) /
                                           static_cast<double>(spent_ns));
  }
  spent_ns = 0;
  periods = 0;
  return passed;
}

void Sampler::set_period(uint64_t period_ns) {
  end_period();
  if (::ioctl(fd, PERF_EVENT_IOC_PERIOD, &period_ns) == 0) period = period_ns;
}

}  // namespace

struct BpfSampler::State {
  struct Cpu {
    int number = 0;
    Sampler clock;
    std::vector<std::optional<Sampler>> events;  // none where the CPU has no such event
  };

  ~State() {
    cpus.clear();
    ring_buffer__free(names);
    if (sets != nullptr) ::munmap(sets, sets_bytes);
  }

  Result<void> open(uint64_t period, std::vector<DaemonEvent> others, bool by_process);
  Result<void> open_cpus();
  Result<Cpu> open_cpu(int number, const std::vector<DaemonEvent>& others) const;
  Result<Sampler> open_sampler(const SampledEvent& event, int cpu, uint32_t number,
                               bool is_on) const;
  [[nodiscard]] bool has_turn(const DaemonEvent& event) const {
    return event.turn == 0 || event.turn == turn;
  }
  [[nodiscard]] size_t turns() const;
  void take_turns();
  void enable(bool is_on) const;
  void forget_names(SampleVisitor& to);
  void wait_for_handlers() const;
  void read_set(sample_set& set, SampleVisitor& to) const;

  Skeleton skeleton;
  std::vector<Cpu> cpus;
  uint64_t period_ns = 0;
  std::vector<DaemonEvent> events;  // beside time: the first is event 1 of the tables
  size_t turn = 1;                  // of their sets
  bool is_paused = false;
  sample_set* sets = nullptr;
  size_t sets_bytes = 0;
  ring_buffer* names = nullptr;
  SampleVisitor* visitor = nullptr;  // during a read of names
  uint64_t names_seen = 0;           // since they were last forgotten
  bool wants_new_names = false;
  bool has_membarrier = false;
  RandomPeriods periods{std::random_device()()};
};

Result<void> BpfSampler::State::open(uint64_t period, std::vector<DaemonEvent> others,
                                     bool by_process) {
  period_ns = period;
  events = std::move(others);
  const int possible = libbpf_num_possible_cpus();
  if (possible <= 0) return refusal("the number of CPUs cannot be read", -possible);
  ASSIGN_OR_RETURN(skeleton, load_program(static_cast<uint32_t>(possible), by_process));
  sets_bytes = sizeof(sample_set) * 2 * static_cast<size_t>(possible);
  void* const at = ::mmap(nullptr, sets_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                          bpf_map__fd(skeleton->maps.sets), 0);
  if (at == MAP_FAILED) return errno_error("cannot map the tables of samples", errno);
  sets = static_cast<sample_set*>(at);
  const auto take = [](void* context, void* data, size_t size) {
    State& self = *static_cast<State*>(context);
    uint32_t kind = 0;
    if (self.visitor == nullptr || size < sizeof kind) return 0;
    __builtin_memcpy(&kind, data, sizeof kind);
    ++self.names_seen;
    if (kind == RECORD_IMAGE && size >= sizeof(image_record)) {
      self.visitor->note_image(*static_cast<const image_record*>(data));
    } else if (kind == RECORD_WHO && size >= sizeof(who_record)) {
      self.visitor->note_who(*static_cast<const who_record*>(data));
    }
    return 0;
  };
  names = ring_buffer__new(bpf_map__fd(skeleton->maps.names), take, this, nullptr);
  if (names == nullptr) return refusal("the ring of names cannot be read", errno);
  const long commands = ::syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  has_membarrier = commands > 0 && (commands & MEMBARRIER_CMD_GLOBAL) != 0;
  return open_cpus();
}

Result<Sampler> BpfSampler::State::open_sampler(const SampledEvent& event, int cpu, uint32_t number,
                                                bool is_on) const {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  set_event(attr, event.request);
  attr.sample_period = event.period;
  attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  attr.disabled = is_on ? 0 : 1;
  Fd fd = event.request.is_absent ? Fd() : open_perf_event(attr, -1, cpu);
  if (!fd) {
    const int error_number = event.request.is_absent ? ENOENT : errno;
    return explain_refusal(event.request, {error_number, true, false, "sample"});
  }
  bpf_perf_event_opts options{};
  options.sz = sizeof options;
  options.bpf_cookie = number;
  bpf_link* const link =
      bpf_program__attach_perf_event_opts(skeleton->progs.count_event, fd.get(), &options);
  if (link == nullptr) return refusal("the BPF program cannot be attached", errno);
  // libbpf enables what it attaches to.
  if (!is_on) ::ioctl(fd.get(), PERF_EVENT_IOC_DISABLE, 0);
  return Sampler(fd.release(), link, event.period);
}

Result<BpfSampler::State::Cpu> BpfSampler::State::open_cpu(
    int number, const std::vector<DaemonEvent>& others) const {
  ASSIGN_OR_RETURN(Sampler clock, open_sampler(make_clock_event(period_ns, false, false), number,
                                               EVENT_TIME, !is_paused));
  Cpu cpu{number, std::move(clock), {}};
  for (const DaemonEvent& event : others) {
    const std::vector<int>& its_cpus = event.sampled.request.cpus;
    cpu.events.emplace_back();
    if (!its_cpus.empty() &&
        std::find(its_cpus.begin(), its_cpus.end(), number) == its_cpus.end()) {
      continue;
    }
    const auto event_number = static_cast<uint32_t>(cpu.events.size());
    ASSIGN_OR_RETURN(Sampler opened, open_sampler(event.sampled, number, event_number,
                                                  !is_paused && has_turn(event)));
    cpu.events.back().emplace(std::move(opened));
  }
  return cpu;
}

Result<void> BpfSampler::State::open_cpus() {
  if (!cpus.empty()) {
    cpus.clear();
    wait_for_handlers();
    std::memset(static_cast<void*>(sets), 0, sets_bytes);
  }
  for (const int number : list_online_cpus()) {
    Result<Cpu> cpu = open_cpu(number, events);
    if (!cpu && !is_online(number)) continue;
    if (!cpu) return cpu.error();
    cpus.push_back(*std::move(cpu));
  }
  if (cpus.empty()) return Error{"no CPU's clock can be sampled"};
  return {};
}

size_t BpfSampler::State::turns() const {
  size_t sets = 0;
  for (const DaemonEvent& event : events) sets = std::max(sets, event.turn);
  return sets;
}

void BpfSampler::State::take_turns() {
  if (turns() == 0) return;
  turn = turn % turns() + 1;
  enable(!is_paused);
}

void BpfSampler::State::enable(bool is_on) const {
  for (const Cpu& cpu : cpus) {
    cpu.clock.enable(is_on);
    for (size_t i = 0; i < events.size(); ++i) {
      if (cpu.events[i]) cpu.events[i]->enable(is_on && has_turn(events[i]));
    }
  }
}

/// Handlers run with interrupts off, under RCU: a grace period later none is left of those that
/// saw the old set. Where membarrier is refused (nohz_full), a millisecond is far more than any
/// takes.
void BpfSampler::State::wait_for_handlers() const {
  if (has_membarrier && ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) == 0) return;
  ::usleep(1000);
}

/// The maps are emptied and all slots made invalid before the sets are swapped: whatever the new
/// sets hold has numbers that were told after that.
void BpfSampler::State::forget_names(SampleVisitor& to) {
  to.begin_numbers_anew();
  names_seen = 0;
  wants_new_names = false;
  const auto empty = [](const bpf_map* map, auto key) {
    const int fd = bpf_map__fd(map);
    while (bpf_map_get_next_key(fd, nullptr, &key) == 0) {
      if (bpf_map_delete_elem(fd, &key) != 0) return;
    }
  };
  empty(skeleton->maps.images, image_key{});
  empty(skeleton->maps.whos, who_key{});
  __atomic_add_fetch(&skeleton->bss->generation, 1, __ATOMIC_SEQ_CST);
}

void BpfSampler::State::read_set(sample_set& set, SampleVisitor& to) const {
  for (auto& bucket : set.buckets) {
    for (sample_entry& entry : bucket) {
      if (entry_count(&entry) == 0) continue;
      to.count(entry);
      entry = {};
    }
  }
  const uint64_t used = std::min<uint64_t>(set.overflow_used, SAMPLE_OVERFLOW);
  for (uint64_t i = 0; i < used; ++i) to.count(set.overflow[i]);
  set.overflow_used = 0;
}

BpfSampler::BpfSampler(std::unique_ptr<State> state) : state_(std::move(state)) {}
BpfSampler::BpfSampler(BpfSampler&&) noexcept = default;
BpfSampler& BpfSampler::operator=(BpfSampler&&) noexcept = default;
BpfSampler::~BpfSampler() = default;

Result<BpfSampler> BpfSampler::start(uint64_t period_ns, std::vector<DaemonEvent> events,
                                     bool by_process) {
  auto state = std::make_unique<State>();
  RETURN_IF_ERROR(state->open(period_ns, std::move(events), by_process));
  return BpfSampler(std::move(state));
}

void BpfSampler::read_names(SampleVisitor& visitor) {
  state_->visitor = &visitor;
  ring_buffer__consume(state_->names);
  state_->visitor = nullptr;
}

int BpfSampler::names_descriptor() const {
  return ring_buffer__epoll_fd(state_->names);
}

void BpfSampler::drain(SampleVisitor& visitor) {
  State& state = *state_;
  read_names(visitor);
  if (state.names_seen > kManyNames || state.wants_new_names) state.forget_names(visitor);
  const uint32_t old = state.skeleton->bss->active_set & 1;
  __atomic_store_n(&state.skeleton->bss->active_set, old ^ 1, __ATOMIC_SEQ_CST);
  state.wait_for_handlers();
  read_names(visitor);
  for (State::Cpu& cpu : state.cpus) {
    sample_set& set = state.sets[2 * static_cast<size_t>(cpu.number) + old];
    std::vector<EventReading> readings{cpu.clock.take()};
    cpu.clock.set_period(state.periods.draw(state.period_ns));
    readings[EVENT_TIME].value = readings[EVENT_TIME].enabled_ns;
    for (std::optional<Sampler>& event : cpu.events) {
      readings.push_back(event ? event->take() : EventReading());
    }
    visitor.begin_cpu(set.counters, readings);
    state.read_set(set, visitor);
    set.counters = {};
  }
  state.take_turns();
}

/// New entries take room in the buckets, those that they push out in the overflow. The sets are the
/// kernel's to write meanwhile.
bool BpfSampler::is_filling() const {
  constexpr uint64_t kManyEntries = uint64_t{SAMPLE_BUCKETS} * SAMPLE_WAYS / 2;
  constexpr uint64_t kManyEvicted = SAMPLE_OVERFLOW / 8;
  const uint32_t active = __atomic_load_n(&state_->skeleton->bss->active_set, __ATOMIC_RELAXED) & 1;
  return std::any_of(state_->cpus.begin(), state_->cpus.end(), [&](const State::Cpu& cpu) {
    const sample_set& set = state_->sets[2 * static_cast<size_t>(cpu.number) + active];
    return __atomic_load_n(&set.counters.misses, __ATOMIC_RELAXED) > kManyEntries ||
           __atomic_load_n(&set.overflow_used, __ATOMIC_RELAXED) > kManyEvicted;
  });
}

bool BpfSampler::has_turns() const {
  return state_->turns() > 1;
}

void BpfSampler::forget_names() {
  state_->wants_new_names = true;
}

void BpfSampler::change_periods() {
  for (State::Cpu& cpu : state_->cpus) {
    cpu.clock.set_period(state_->periods.draw(state_->period_ns));
  }
}

void BpfSampler::treat_as_anonymous(const image_key& key) {
  const uint32_t number = IMAGE_ANONYMOUS;
  bpf_map_update_elem(bpf_map__fd(state_->skeleton->maps.images), &key, &number, BPF_EXIST);
  __atomic_add_fetch(&state_->skeleton->bss->generation, 1, __ATOMIC_SEQ_CST);
}

Result<void> BpfSampler::set_period(uint64_t period_ns) {
  state_->period_ns = period_ns;
  return state_->open_cpus();
}

Result<void> BpfSampler::set_events(std::vector<DaemonEvent> events) {
  std::swap(state_->events, events);
  const Result<void> opened = state_->open_cpus();
  if (opened) return {};
  std::swap(state_->events, events);
  RETURN_IF_ERROR(state_->open_cpus());
  return opened;
}

void BpfSampler::pause() {
  state_->is_paused = true;
  state_->enable(false);
}

void BpfSampler::resume() {
  state_->is_paused = false;
  state_->enable(true);
}

uint64_t BpfSampler::kernel_bytes() const {
  constexpr uint64_t kSlotBytes = 320;  // 64 of them for each CPU
  const uint64_t cpus = state_->sets_bytes / sizeof(sample_set) / 2;
  return state_->sets_bytes + cpus * 64 * kSlotBytes + NAME_RING_BYTES +
         MOST_IMAGES * (sizeof(image_key) + 72) + MOST_WHOS * (sizeof(who_key) + 72);
}

std::string explain_bpf_refusal() {
  const Result<Skeleton> loaded = load_program(1, false);
  return loaded ? "" : loaded.error().message;
}

}  // namespace culprit

#else

#include "base/file.h"

namespace culprit {

struct BpfSampler::State {};

constexpr const char* kLeftOut =
    "this culprit was built without its BPF program (clang, bpftool, libbpf-dev were missing)";

BpfSampler::BpfSampler(std::unique_ptr<State> state) : state_(std::move(state)) {}
BpfSampler::BpfSampler(BpfSampler&&) noexcept = default;
BpfSampler& BpfSampler::operator=(BpfSampler&&) noexcept = default;
BpfSampler::~BpfSampler() = default;
Result<BpfSampler> BpfSampler::start(uint64_t, std::vector<DaemonEvent>, bool) {
  return Error{kLeftOut};
}
void BpfSampler::drain(SampleVisitor&) {}
bool BpfSampler::is_filling() const {
  return false;
}
bool BpfSampler::has_turns() const {
  return false;
}
void BpfSampler::forget_names() {}
void BpfSampler::change_periods() {}
void BpfSampler::read_names(SampleVisitor&) {}
int BpfSampler::names_descriptor() const {
  return -1;
}
void BpfSampler::treat_as_anonymous(const image_key&) {}
Result<void> BpfSampler::set_period(uint64_t) {
  return Error{kLeftOut};
}
Result<void> BpfSampler::set_events(std::vector<DaemonEvent>) {
  return Error{kLeftOut};
}
void BpfSampler::pause() {}
void BpfSampler::resume() {}
uint64_t BpfSampler::kernel_bytes() const {
  return 0;
}
std::string explain_bpf_refusal() {
  return kLeftOut;
}

}  // namespace culprit

#endif
