#include "daemon/daemon.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <deque>
#include <fmt/format.h>
#include <malloc.h>
#include <optional>
#include <poll.h>
#include <span>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "base/descriptor_set.h"
#include "base/number.h"
#include "base/text.h"
#include "base/time.h"
#include "collect/perf/perf_targets.h"
#include "daemon/bpf_sampler.h"
#include "daemon/collector.h"
#include "daemon/control_request.h"
#include "daemon/control_socket.h"
#include "daemon/daemon_status.h"
#include "daemon/describe_epoch.h"
#include "daemon/epoch_completer.h"
#include "daemon/missing_rights.h"
#include "daemon/stack_sampler.h"
#include "epochs/epoch_database.h"
#include "host/capabilities_probe.h"
#include "host/clock.h"
#include "recording/run_loop.h"
#include "store/profile_file.h"

namespace culprit {

namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kTickNs = kSecondNs;
constexpr uint64_t kFollowNs = 4 * kSecondNs;  // CPUs that come and go
constexpr uint64_t kReadStacksNs = kSecondNs / 5;
// A clock has a period for so many samples, and no shorter than that: a change costs half of one,
// and an interrupt of its CPU.
constexpr uint64_t kSamplesOfAPeriod = 250;
constexpr uint64_t kChangePeriodsNs = kSecondNs / 4;
// What is due that soon is done at this waking, too.
constexpr uint64_t kTogetherNs = kSecondNs / 20;
constexpr int64_t kClockJumpNs = kSecondNs;
constexpr size_t kProblemsKept = 5;
constexpr double kRingRateHz = 99;  // each sample is a record, and wakes the daemon

bool is_prime(uint64_t number) {
  if (number % 2 == 0) return number == 2;
  for (uint64_t factor = 3; factor * factor <= number; factor += 2) {
    if (number % factor == 0) return false;
  }
  return number > 1;
}

uint64_t own_cpu_ns() {
  rusage self{};
  ::getrusage(RUSAGE_SELF, &self);
  return compute_cpu_ns(self);
}

uint64_t own_resident_bytes() {
  const std::string text = read_file("/proc/self/statm").value_or("");
  const std::vector<std::string_view> fields = split(text, ' ');
  if (fields.size() < 2) return 0;
  return find_number(fields[1], 10).value_or(0) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

int64_t clock_offset_ns() {
  return static_cast<int64_t>(read_clock_ns(CLOCK_REALTIME)) -
         static_cast<int64_t>(read_clock_ns(CLOCK_BOOTTIME));
}

/// What the daemon is asked at its socket, beside what its caller asks.
class DaemonControl final : public RunControl {
 public:
  explicit DaemonControl(RunControl* caller) : caller_(caller) {}

  void ask_to_stop() { is_over_ = true; }
  [[nodiscard]] bool is_over() const { return is_over_; }

  [[nodiscard]] int descriptor() const override {
    return caller_ == nullptr ? -1 : caller_->descriptor();
  }
  RunRequests take() override {
    RunRequests requests = caller_ == nullptr ? RunRequests() : caller_->take();
    if (!is_over_) return requests;
    const bool is_second = requests.stop != StopRequest::none;
    requests.stop = is_second ? StopRequest::at_once : StopRequest::with_command;
    return requests;
  }

 private:
  RunControl* caller_;
  bool is_over_ = false;
};

class Daemon final : public RunSource {
 public:
  Daemon(const DaemonOptions& options, EpochDatabase database, ControlSocket socket)
      : options_(options),
        database_(std::move(database)),
        socket_(std::move(socket)),
        control_(options.control),
        completer_(options, database_.folder()) {}

  Result<void> run();

  void begin() override;
  void take(uint64_t now_ns) override;
  [[nodiscard]] uint64_t next_take_ns(uint64_t now_ns) const override {
    return control_.is_over() ? now_ns : std::min(tick_at_ns_, periods_at_ns_);
  }
  [[nodiscard]] std::span<const int> descriptors() const override { return polled_; }
  Result<void> flush(uint64_t) override;
  Result<void> end_epoch(uint64_t) override {
    next_epoch();
    return {};
  }
  void end() override;

 private:
  Result<void> open_stacks(double sample_cost_ns);
  void drain();
  Result<void> choose_collector(const std::vector<DaemonEvent>& events);
  void poll_collector();
  void begin_epoch();
  void make_writer();
  void complete_run(Profile& profile, uint64_t length_ns) const;
  void store();
  void close_epoch();
  void next_epoch() {
    close_epoch();
    begin_epoch();
  }
  void tick(uint64_t now_ns);
  void follow_cpus();
  void wait_for_symbols();
  std::string answer(std::string_view line);
  [[nodiscard]] std::string join_labels() const;
  std::string answer_request(const ControlRequest& request);
  std::string change_events(const std::string& words);
  [[nodiscard]] DaemonStatus status() const;
  void note_problem(const std::string& problem);
  void note_failure(const Result<void>& done) {
    if (!done) note_problem(done.error().message);
  }
  void say(const std::string& text) const {
    if (options_.say) options_.say(text);
  }
  [[nodiscard]] double budget_ratio() const { return options_.budget_percent * 0.01; }
  [[nodiscard]] uint64_t epoch_ns(uint64_t now) const { return now - epoch_start_ns_; }

  const DaemonOptions& options_;
  EpochDatabase database_;
  ControlSocket socket_;
  DaemonControl control_;
  RunTargets targets_;  // none: the whole system ends by request only
  std::array<int, 2> polled_{};
  DescriptorSet collected_;  // of the collector, which opens others with a new period
  std::unique_ptr<Collector> collector_;
  std::optional<StackSampler> stacks_;
  StackTotals stacks_before_;  // of the epochs that are over
  uint64_t stacks_at_ns_ = 0;
  std::string fallback_;
  double rate_hz_ = 0;
  uint64_t period_ns_ = 0;
  std::vector<int> cpus_;  // that are online
  std::optional<ProfileWriter> writer_;
  std::string path_;
  std::map<std::string, std::string> labels_;
  SamplingTotals before_;  // of the epochs that are over
  EpochCompleter completer_;
  std::deque<std::string> problems_;
  uint64_t start_ns_ = 0;
  uint64_t start_cpu_ns_ = 0;  // what loading the program and measuring its cost took
  uint64_t epoch_start_ns_ = 0;
  int64_t clock_offset_ns_ = 0;
  uint64_t cpu_at_epoch_ns_ = 0;
  uint64_t tick_at_ns_ = 0;
  uint64_t drained_ns_ = 0;
  uint64_t follow_at_ns_ = 0;
  uint64_t periods_at_ns_ = 0;
  bool is_paused_ = false;
};

void Daemon::note_problem(const std::string& problem) {
  say(problem);
  problems_.push_back(problem);
  if (problems_.size() > kProblemsKept) problems_.pop_front();
}

/// What stacks take of each CPU's time, as far as one can know before: at most half of the budget.
double compute_stacks_ratio(const DaemonOptions& options, double sample_cost_ns) {
  constexpr double kWalkNs = 50'000;
  return std::min(options.stacks_hz * 1e-9 * (sample_cost_ns + kWalkNs),
                  options.budget_percent * 0.01 / 2);
}

Result<void> Daemon::open_stacks(double sample_cost_ns) {
  Result<StackSampler> stacks = StackSampler::start(
      {options_.stacks_hz, budget_ratio() / 2, sample_cost_ns, options_.make_unwinder});
  if (!stacks) return Error{"call stacks (--stacks): " + stacks.error().message};
  stacks_ = *std::move(stacks);
  return {};
}

/// The best that is permitted: the BPF program, else the rings of perf_event.
Result<void> Daemon::choose_collector(const std::vector<DaemonEvent>& events) {
  rate_hz_ = options_.rate_hz;
  if (rate_hz_ <= 0 || options_.stacks_hz > 0) {
    constexpr double kUsualCostNs = 13'000;
    const double cost_ns = std::max(measure_sample_cost_ns().value_or(kUsualCostNs), 200.0);
    if (options_.stacks_hz > 0) RETURN_IF_ERROR(open_stacks(cost_ns));
    const double for_counts = budget_ratio() - compute_stacks_ratio(options_, cost_ns);
    if (rate_hz_ <= 0) rate_hz_ = std::clamp(for_counts * 1e9 / cost_ns, 19.0, 4999.0);
  }
  period_ns_ = choose_period_ns(rate_hz_);
  if (options_.use_bpf) {
    Result<std::unique_ptr<Collector>> counting =
        make_bpf_collector(period_ns_, events, options_.by_process);
    if (counting) {
      collector_ = *std::move(counting);
      return {};
    }
    fallback_ = counting.error().message;
  } else {
    fallback_ = "it was not wanted (--no-bpf)";
  }
  if (options_.rate_hz <= 0) rate_hz_ = std::min(rate_hz_, kRingRateHz);
  period_ns_ = choose_period_ns(rate_hz_);
  Result<std::unique_ptr<Collector>> rings = make_ring_collector(period_ns_, events);
  if (!rings) {
    return Error{
        fmt::format("nothing may sample the whole system here.\n  by eBPF: {}\n  by perf "
                    "rings: {}",
                    fallback_, rings.error().message)};
  }
  collector_ = *std::move(rings);
  return {};
}

void Daemon::make_writer() {
  Result<ProfileWriter> writer = ProfileWriter::create(path_);
  if (writer) {
    writer_ = *std::move(writer);
  } else {
    note_problem(writer.error().message);
  }
}

void Daemon::begin_epoch() {
  clock_offset_ns_ = clock_offset_ns();
  epoch_start_ns_ = read_clock_ns(CLOCK_BOOTTIME);
  cpu_at_epoch_ns_ = own_cpu_ns();
  path_ = database_.path_of_next(static_cast<int64_t>(read_clock_ns(CLOCK_REALTIME) / kSecondNs));
  if (const Result<void> begun = collector_->begin_epoch(); !begun) {
    note_problem(begun.error().message);
  }
  if (stacks_) stacks_->begin_epoch(join_labels());
  make_writer();
  if (writer_) store();  // the file says from when it is, whatever happens
}

/// What describes the epoch as far as it is known now.
void Daemon::complete_run(Profile& profile, uint64_t length_ns) const {
  profile.runs.back().duration_ns = static_cast<int64_t>(length_ns);
  label_epoch(profile, collector_->totals(), own_cpu_ns() - cpu_at_epoch_ns_);
  if (stacks_) label_stacks(profile, stacks_->totals());
  for (const auto& [key, value] : labels_) {
    profile.runs.back().labels[profile.strings.intern(key)] = profile.strings.intern(value);
  }
}

void Daemon::drain() {
  drained_ns_ = monotonic_ns();
  collector_->drain();
  if (stacks_) stacks_->drain(collector_->builder());
}

Result<void> Daemon::flush(uint64_t) {
  drain();
  store();
  return {};
}

/// Puts what is new into the epoch's file. The daemon goes on where that fails.
void Daemon::store() {
  const uint64_t now = read_clock_ns(CLOCK_BOOTTIME);
  if (!writer_) make_writer();
  if (!writer_) return;  // the counts stay in memory until there is a file again
  const Result<void> flushed = collector_->flush([&](const Profile& profile) {
    Profile& known = const_cast<Profile&>(profile);  // NOLINT: tables that grow with the epoch
    complete_run(known, epoch_ns(now));
    return writer_->flush(profile);
  });
  if (!flushed) note_problem(flushed.error().message);
  // What it needed is free, in pieces between what stays: the allocator would keep it all.
  ::malloc_trim(0);
}

void Daemon::close_epoch() {
  collector_->drain();
  StackSampler::Files of_stacks;
  if (stacks_) of_stacks = stacks_->end_epoch(collector_->builder());
  const uint64_t now = read_clock_ns(CLOCK_BOOTTIME);
  const uint64_t length_ns = epoch_ns(now);
  const SamplingTotals totals = collector_->totals();
  Recording recording = collector_->end_epoch();
  // Of an image that both have, the collector's are kept.
  recording.held.merge(of_stacks.held);
  for (auto& facts : of_stacks.jit_facts) recording.jit_facts.push_back(std::move(facts));
  before_.add(totals);
  if (stacks_) stacks_before_.add(stacks_->totals());
  complete_run(recording.profile, length_ns);
  if (!writer_) make_writer();
  if (!writer_) {
    note_problem(fmt::format("an epoch of {} samples is lost: it could not be written",
                             format_thousands(totals.handled)));
    return;
  }
  const auto closed = [&]() -> Result<std::string> {
    for (const auto& [image, facts] : recording.jit_facts) {
      RETURN_IF_ERROR(writer_->write_facts(image, facts));
    }
    // Compacting takes memory and time: EpochCompleter's child does it.
    RETURN_IF_ERROR(writer_->close(recording.profile, Compact::later));
    return database_.finish(path_, length_ns / kSecondNs);
  }();
  writer_.reset();
  if (!closed) {
    note_problem(closed.error().message);
    return;
  }
  ::malloc_trim(0);  // as after a flush
  note_failure(completer_.add({*closed, database_.facts_folder(), std::move(recording.held)}));
}

void Daemon::end() {
  completer_.stop();
  close_epoch();
  note_failure(completer_.hurry());
}

void Daemon::tick(uint64_t now_ns) {
  if (now_ns + kTogetherNs < tick_at_ns_) return;
  tick_at_ns_ = now_ns + kTickNs;
  if (now_ns + kTogetherNs >= drained_ns_ + collector_->drain_within_ns()) drain();
  if (now_ns >= follow_at_ns_) {
    follow_at_ns_ = now_ns + kFollowNs;
    if (stacks_) stacks_->change_period();
    follow_cpus();
  }
  const int64_t jump_ns = clock_offset_ns() - clock_offset_ns_;
  if (jump_ns > kClockJumpNs || jump_ns < -kClockJumpNs) {
    say("the clock was set: a new epoch begins");
    next_epoch();
  } else if (epoch_ns(read_clock_ns(CLOCK_BOOTTIME)) >= options_.epoch_ns) {
    next_epoch();
  }
}

/// Clocks are on the CPUs that were there when they were opened: others need new ones.
void Daemon::follow_cpus() {
  std::vector<int> online = list_online_cpus();
  if (online == cpus_) return;
  say("CPUs came or went: their clocks are opened anew");
  cpus_ = std::move(online);
  close_epoch();
  if (const Result<void> opened = collector_->set_period(period_ns_); !opened) {
    note_problem(opened.error().message);
  }
  if (stacks_) {
    if (const Result<void> opened = stacks_->reopen(); !opened) {
      note_problem("call stacks end: " + opened.error().message);
      stacks_.reset();
    }
  }
  poll_collector();
  begin_epoch();
}

DaemonStatus Daemon::status() const {
  DaemonStatus status;
  status.database = database_.folder();
  status.collector = collector_->name();
  status.fallback = fallback_;
  status.missing_rights = explain_missing_rights(read_own_capabilities());
  status.pid = static_cast<uint32_t>(::getpid());
  status.rate_hz = 1e9 / static_cast<double>(period_ns_);
  status.cpus = static_cast<uint32_t>(list_online_cpus().size());
  status.is_paused = is_paused_;
  const uint64_t now = read_clock_ns(CLOCK_BOOTTIME);
  status.running_s = (now - start_ns_) / kSecondNs;
  status.epoch = path_;
  status.epoch_s = epoch_ns(now) / kSecondNs;
  status.in_epoch = collector_->totals();
  status.in_all = before_;
  status.in_all.add(status.in_epoch);
  status.start_cpu_ns = start_cpu_ns_;
  status.cpu_ns = own_cpu_ns() - start_cpu_ns_;
  status.resident_bytes = own_resident_bytes();
  rusage self{};
  ::getrusage(RUSAGE_SELF, &self);
  status.peak_bytes = static_cast<uint64_t>(self.ru_maxrss) * 1024;
  status.kernel_bytes = collector_->kernel_bytes();
  if (stacks_) {
    status.stacks_hz = stacks_->rate_hz();
    status.stacks = stacks_->totals();
    status.stacks_in_all = stacks_before_;
    status.stacks_in_all.add(status.stacks);
    status.kernel_bytes += stacks_->ring_bytes();
  }
  status.events = collector_->event_totals();
  for (const EpochFile& file : database_.list()) {
    ++status.epochs;
    status.epochs_bytes += file.size_bytes;
  }
  const RemovedForSpace removed = completer_.removed();
  status.removed_epochs = removed.epochs;
  status.removed_bytes = removed.bytes;
  status.problems.assign(problems_.begin(), problems_.end());
  return status;
}

/// "build=17 host=a"
std::string Daemon::join_labels() const {
  std::string text;
  for (const auto& [key, value] : labels_) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, value);
  }
  return text;
}

/// The epoch ends, since counts of one are of the same events.
std::string Daemon::change_events(const std::string& words) {
  std::vector<std::string> lists;
  for (const std::string_view word : split(words, ' ')) {
    if (!word.empty() && words != kNoEvents) lists.emplace_back(word);
  }
  Result<std::vector<DaemonEvent>> events = find_daemon_events(lists);
  if (!events) return std::string(kRefused) + events.error().message;
  close_epoch();
  const Result<void> changed = collector_->set_events(*std::move(events));
  poll_collector();
  begin_epoch();
  if (!changed) return std::string(kRefused) + changed.error().message;
  return path_ + "\n";
}

std::string Daemon::answer_request(const ControlRequest& request) {
  switch (request.verb) {
    case ControlVerb::status:
      drain();
      return print_status_json(status());
    case ControlVerb::flush:
      drain();
      store();
      return path_ + "\n";
    case ControlVerb::epoch:
      next_epoch();
      return path_ + "\n";
    case ControlVerb::rate: {
      close_epoch();
      rate_hz_ = request.rate_hz;
      period_ns_ = choose_period_ns(rate_hz_);
      const Result<void> changed = collector_->set_period(period_ns_);
      poll_collector();
      begin_epoch();
      if (!changed) return std::string(kRefused) + changed.error().message;
      return fmt::format("{:.4g} Hz\n", 1e9 / static_cast<double>(period_ns_));
    }
    case ControlVerb::events:
      return change_events(request.value);
    case ControlVerb::pause:
    case ControlVerb::resume: {
      const bool pauses = request.verb == ControlVerb::pause;
      if (pauses != is_paused_) {
        pauses ? collector_->pause() : collector_->resume();
        if (stacks_) pauses ? stacks_->pause() : stacks_->resume();
        is_paused_ = pauses;
      }
      return pauses ? "paused\n" : "running\n";
    }
    case ControlVerb::label:
      if (request.value.empty()) {
        labels_.erase(request.key);
      } else {
        labels_[request.key] = request.value;
      }
      close_epoch();  // counts before it are not of that label
      collector_->set_label(join_labels());
      begin_epoch();
      return path_ + "\n";
    case ControlVerb::stop:
      control_.ask_to_stop();
      return "stopping\n";
  }
  return "";
}

std::string Daemon::answer(std::string_view line) {
  const Result<ControlRequest> request = parse_control_request(line);
  if (!request) return std::string(kRefused) + request.error().message;
  return answer_request(*request);
}

void Daemon::poll_collector() {
  for (const int fd : collector_->descriptors()) collected_.add(fd);
  if (!stacks_) return;
  for (const int fd : stacks_->descriptors()) collected_.add(fd);
}

Result<void> Daemon::run() {
  RETURN_IF_ERROR(targets_.prepare({{}, {}}));
  ASSIGN_OR_RETURN(const std::vector<DaemonEvent> events, find_daemon_events(options_.events));
  RETURN_IF_ERROR(choose_collector(events));
  for (const std::string& remark : database_.remarks()) say(remark);
  start_ns_ = read_clock_ns(CLOCK_BOOTTIME);
  cpus_ = list_online_cpus();
  begin_epoch();
  if (!writer_) return Error{problems_.back()};
  poll_collector();
  polled_ = {collected_.get(), socket_.descriptor()};
  RETURN_IF_ERROR(
      run_loop(*this, targets_, {.flush_every_ns = options_.flush_ns, .control = &control_}));
  wait_for_symbols();
  return {};
}

/// The first epoch has begun before: whether its file can be made is to be known first.
void Daemon::begin() {
  const uint64_t now_ns = monotonic_ns();
  tick_at_ns_ = now_ns + kTickNs;
  drained_ns_ = now_ns;
  follow_at_ns_ = now_ns + kFollowNs;
  start_cpu_ns_ = own_cpu_ns();
  say(fmt::format("sampling the whole system by {} at {:.4g} Hz into {}{}", collector_->name(),
                  1e9 / static_cast<double>(period_ns_), database_.folder(),
                  fallback_.empty() ? "" : "\nnot by eBPF: " + fallback_));
  for (const std::string& right : explain_missing_rights(read_own_capabilities())) say(right);
}

void Daemon::take(uint64_t now_ns) {
  note_failure(completer_.reap());
  if (now_ns + kTogetherNs >= periods_at_ns_) {
    periods_at_ns_ = now_ns + std::max(kSamplesOfAPeriod * period_ns_, kChangePeriodsNs);
    if (!is_paused_) collector_->change_periods();
  }
  collector_->attend();
  // Processes whose files are to be opened may soon be gone.
  if (stacks_ && now_ns >= stacks_at_ns_) {
    stacks_at_ns_ = now_ns + kReadStacksNs;
    stacks_->drain(collector_->builder());
  }
  socket_.attend([this](std::string_view line) { return answer(line); });
  tick(now_ns);
}

/// What could not be found later is worth a short wait, which a second request ends.
void Daemon::wait_for_symbols() {
  constexpr int kLookMs = 50;
  while (completer_.is_busy() && control_.take().stop != StopRequest::at_once) {
    pollfd asked{control_.descriptor(), POLLIN, 0};
    ::poll(&asked, 1, kLookMs);
    note_failure(completer_.reap());
  }
}

}  // namespace

uint64_t choose_period_ns(double rate_hz) {
  uint64_t period_ns = static_cast<uint64_t>(1e9 / rate_hz) | 1;
  while (!is_prime(period_ns)) period_ns += 2;
  return period_ns;
}

Result<void> run_daemon(const DaemonOptions& options) {
  ASSIGN_OR_RETURN(EpochDatabase database, EpochDatabase::claim(options.database));
  ASSIGN_OR_RETURN(ControlSocket socket, ControlSocket::listen(database.socket_path()));
  Daemon daemon(options, std::move(database), std::move(socket));
  return daemon.run();
}

}  // namespace culprit
