#include "recording/run_loop.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <poll.h>
#include <time.h>
#include <vector>

#include "base/time.h"
#include "host/busy_time.h"

namespace culprit {
namespace {

/// Targets without descriptors are looked at so often.
constexpr uint64_t kLookEveryNs = 20'000'000;
/// Where nothing is collected any more, the command's end wakes us.
constexpr uint64_t kIdleNs = 1'000'000'000;

class RunLoop {
 public:
  RunLoop(RunSource& source, RunTargets& targets, const LoopOptions& options)
      : source_(source), targets_(targets), options_(options) {}

  Result<RunEnd> run();

 private:
  Result<void> start();
  void say_how_command_ended(StartedCommand& command);
  [[nodiscard]] OthersTime find_others_time() const;
  void begin();
  void step(uint64_t now);
  void flush(uint64_t now, bool new_epoch);
  void end();
  bool is_over();
  [[nodiscard]] uint64_t find_wake_ns(uint64_t now) const;
  void sleep(uint64_t now);

  RunSource& source_;
  RunTargets& targets_;
  const LoopOptions& options_;
  RunEnd end_;
  std::optional<BusyTime> busy_before_;
  bool has_begun_ = false;
  bool has_ended_ = false;
  bool wants_epoch_ = false;
  bool looks_at_targets_ = false;
  uint64_t flush_at_ns_ = UINT64_MAX;
  size_t first_target_ = 0;  // of what is polled; those before are the source's
  size_t control_ = 0;
  std::vector<pollfd> polled_;
};

Result<RunEnd> RunLoop::run() {
  RETURN_IF_ERROR(start());
  while (!is_over()) {
    const uint64_t now = monotonic_ns();
    if (!has_ended_) step(now);
    if (has_ended_ && !end_.has_command) break;
    sleep(now);
  }
  if (!has_ended_) end();
  if (end_.has_command) say_how_command_ended(*targets_.command());
  return std::move(end_);
}

void RunLoop::say_how_command_ended(StartedCommand& command) {
  if (options_.control != nullptr) options_.control->follow_command(0);
  if (!command.has_ended()) return;
  end_.wait_status = command.wait_status();
  end_.usage = command.usage();
  end_.use = command.use();
  end_.others = find_others_time();
}

OthersTime RunLoop::find_others_time() const {
  const std::optional<BusyTime> after = read_busy_time();
  if (!busy_before_ || !after) return {};
  const Neighbours others = compute_neighbours(*busy_before_, *after);
  const auto wall_ns = static_cast<double>(after->wall_ns - busy_before_->wall_ns);
  return {std::llround(others.busy_cpus * wall_ns), std::llround(others.stolen_cpus * wall_ns)};
}

Result<void> RunLoop::start() {
  if (options_.delay_ns == 0) begin();
  end_.start_ns = end_.epoch_start_ns = monotonic_ns();
  if (options_.flush_every_ns != 0) flush_at_ns_ = end_.start_ns + options_.flush_every_ns;
  const auto poll = [this](int fd) { polled_.push_back({fd, POLLIN, 0}); };
  for (const int fd : source_.descriptors()) poll(fd);
  first_target_ = polled_.size();
  for (const int fd : targets_.end_descriptors()) {
    looks_at_targets_ = looks_at_targets_ || fd < 0;
    poll(fd);
  }
  control_ = polled_.size();
  if (options_.control != nullptr) poll(options_.control->descriptor());
  StartedCommand* const command = targets_.command();
  end_.has_command = command != nullptr;
  if (command == nullptr) return {};
  busy_before_ = read_busy_time();
  if (options_.control != nullptr) options_.control->follow_command(command->pid());
  const uint64_t spin_ns = options_.spin_below_ns == 0 ? 0 : end_.start_ns % options_.spin_below_ns;
  return command->let_go(spin_ns);
}

void RunLoop::begin() {
  source_.begin();
  has_begun_ = true;
}

void RunLoop::end() {
  end_.stop_ns = monotonic_ns();
  source_.end();
  has_ended_ = true;
  for (size_t i = 0; i < first_target_; ++i) polled_[i].fd = -1;
}

void RunLoop::step(uint64_t now) {
  const uint64_t since_start_ns = now - end_.start_ns;
  if (!has_begun_ && since_start_ns >= options_.delay_ns) begin();
  source_.take(now);
  if (now >= flush_at_ns_ || wants_epoch_) flush(now, wants_epoch_);
  const bool time_is_over = options_.duration_ns && since_start_ns >= *options_.duration_ns;
  if (!time_is_over && end_.flushed) return;
  // The command goes on without us, but we stay to tell how it ends.
  end();
  end_.is_cut_short = true;
}

void RunLoop::flush(uint64_t now, bool new_epoch) {
  const uint64_t since_start_ns = now - end_.start_ns;
  end_.flushed = new_epoch ? source_.end_epoch(since_start_ns) : source_.flush(since_start_ns);
  if (new_epoch) end_.epoch_start_ns = now;
  wants_epoch_ = false;
  if (options_.flush_every_ns == 0) return;
  const uint64_t took_ns = options_.flush_share == 0 ? 0 : monotonic_ns() - now;
  flush_at_ns_ = now + took_ns + std::max(options_.flush_every_ns, options_.flush_share * took_ns);
}

bool RunLoop::is_over() {
  if (options_.control != nullptr) {
    const RunRequests requests = options_.control->take();
    end_.stop = requests.stop;
    wants_epoch_ = wants_epoch_ || requests.new_epoch;
  }
  if (targets_.have_ended() || end_.stop == StopRequest::at_once) return true;
  return end_.stop == StopRequest::with_command && !end_.has_command;
}

uint64_t RunLoop::find_wake_ns(uint64_t now) const {
  uint64_t until_ns = now + kIdleNs;
  if (!has_ended_) {
    until_ns = std::min(source_.next_take_ns(now), flush_at_ns_);
    if (!has_begun_) until_ns = std::min(until_ns, end_.start_ns + options_.delay_ns);
    if (options_.duration_ns) until_ns = std::min(until_ns, end_.start_ns + *options_.duration_ns);
  }
  return looks_at_targets_ ? std::min(until_ns, now + kLookEveryNs) : until_ns;
}

void RunLoop::sleep(uint64_t now) {
  const uint64_t until_ns = find_wake_ns(now);
  const uint64_t after = monotonic_ns();
  const uint64_t wait_ns = until_ns > after ? until_ns - after : 0;
  const timespec wait{static_cast<time_t>(wait_ns / 1'000'000'000),
                      static_cast<long>(wait_ns % 1'000'000'000)};
  if (::ppoll(polled_.data(), polled_.size(), &wait, nullptr) <= 0) return;
  for (size_t i = 0; i < control_; ++i) {
    // An end stays readable, and so does the event of a task that is gone: seen once is enough.
    const bool is_end = i >= first_target_ && polled_[i].revents != 0;
    const bool is_dead = (polled_[i].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
    if (is_end || is_dead) polled_[i].fd = -1;
  }
}

}  // namespace

int RunEnd::command_wait_status() const {
  return has_command ? wait_status.value_or(SIGINT) : 0;
}

void RunEnd::describe(Run& run) const {
  run.duration_ns = static_cast<int64_t>(stop_ns - epoch_start_ns);
  run.wait_status = wait_status;
  if (epoch_start_ns != start_ns) return;
  if (usage) run.cpu_time_ns = static_cast<int64_t>(compute_cpu_ns(*usage));
  run.use = use;
  run.others = is_cut_short ? OthersTime{} : others;
}

void RunEnd::describe(Recording& recording) const {
  describe(recording.run());
  recording.command_started = has_command;
  recording.command_wait_status = command_wait_status();
  recording.interrupted = stop != StopRequest::none;
}

Result<RunEnd> run_loop(RunSource& source, RunTargets& targets, const LoopOptions& options) {
  return RunLoop(source, targets, options).run();
}

}  // namespace culprit
