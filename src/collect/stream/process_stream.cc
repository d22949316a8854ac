#include "collect/stream/process_stream.h"

#include <fmt/format.h>
#include <map>
#include <optional>
#include <span>
#include <variant>

#include "base/file.h"
#include "base/number.h"
#include "base/text.h"
#include "collect/stream/live_images.h"
#include "collect/stream/waiting_samples.h"
#include "follow/record_follower.h"
#include "recording/process_folder.h"
#include "records/proc_text.h"

namespace culprit {

namespace {

/// The first line of a file in /proc.
std::string read_line(const std::string& path) {
  const std::string text = read_file(path).value_or("");
  return text.substr(0, text.find('\n'));
}

uint32_t read_parent_pid(const std::string& folder) {
  const std::string status = read_file(folder + "/status").value_or("");
  for (const std::string_view line : split(status, '\n')) {
    if (!line.starts_with("PPid:\t")) continue;
    return static_cast<uint32_t>(find_number(line.substr(6), 10).value_or(0));
  }
  return 0;
}

FollowOptions follow_options(const ProcessorOptions& options) {
  FollowOptions follow;
  follow.all_tasks = options.all_processes;
  follow.stacks = options.stacks;
  follow.kernel_stacks = options.kernel_stacks;
  follow.frames_limit = options.frames_limit;
  return follow;
}

}  // namespace

class SampleProcessor::Impl {
 public:
  explicit Impl(const ProcessorOptions& options);

  void follow_command(pid_t pid);
  bool follow_running(uint32_t pid);
  void follow_all_running();
  void begin_run(const Run& run) {
    builder_.begin_run(run);
    follower_.begin_run();
  }
  void process(const Record& record);
  void end_waits(uint64_t now_ns);
  Result<void> flush(const RecordSink& sink);
  Recording finish();
  [[nodiscard]] uint64_t lost() const {
    return follower_.lost_records() + follower_.lost_samples();
  }

  ProfileBuilder builder_;
  uint64_t samples_ = 0;
  std::map<size_t, uint64_t> inexact_;

 private:
  ProcessTable::Process* introduce(uint32_t pid);
  void count(const SampleRecord& sample, const RecordOrigin& origin);
  void take_switch(const Record& record);
  void count_wait(PlacedSample wait);
  std::optional<EventId> find_event(const RecordOrigin& origin) const;
  [[nodiscard]] uint64_t period_of(const SampleRecord& sample, std::optional<EventId> event) const;

  ProcessorOptions options_;
  std::optional<OffCpuTime> off_cpu_;
  LiveImages images_{builder_, [this](uint32_t pid) { waiting_.end(pid); }};
  RecordFollower follower_;
  WaitingSamples waiting_{builder_, images_, follower_};
};

SampleProcessor::Impl::Impl(const ProcessorOptions& options)
    : options_(options), follower_(follow_options(options), builder_, images_) {
  if (options_.off_cpu) off_cpu_.emplace(*options_.off_cpu);
  follower_.introduce_with([this](uint32_t pid) { return introduce(pid); });
  follower_.tag_with(options_.regions);
  follower_.wait_with([this](PlacedSample sample) { waiting_.add(std::move(sample)); });
  const OpenMappedFile open = [this](uint32_t pid, const Mapping& mapping) {
    return images_.open_file(pid, mapping);
  };
  if ((options_.layout.sample_type & PERF_SAMPLE_ADDR) != 0) {
    follower_.place_data_with({open, options_.read_data});
  }
  if (options_.make_unwinder) follower_.unwind_with(options_.make_unwinder(open));
}

void SampleProcessor::Impl::follow_command(pid_t pid) {
  ProcessTable::Process& process = follower_.tasks().add(static_cast<uint32_t>(pid), 0, "");
  process.is_counted = false;
  process.counts_from_exec = true;
}

bool SampleProcessor::Impl::follow_running(uint32_t pid) {
  const std::string folder = fmt::format("/proc/{}", pid);
  const std::vector<uint32_t> tids = list_numbered_entries(folder + "/task");
  if (tids.empty()) return false;
  ProcessTable::Process& process =
      follower_.tasks().add(pid, read_parent_pid(folder), read_line(folder + "/comm"));
  process.is_counted = true;
  for (const uint32_t tid : tids) {
    process.threads[tid].name = read_line(fmt::format("{}/task/{}/comm", folder, tid));
  }
  for (ProcMapping& entry : parse_proc_maps(read_file(folder + "/maps").value_or(""))) {
    const bool is_wanted = entry.executable || follower_.places_data();
    if (!is_wanted || entry.end <= entry.start) continue;
    MmapRecord record;
    record.pid = pid;
    record.start = entry.start;
    record.length = entry.end - entry.start;
    record.file_offset = entry.file_offset;
    record.executable = entry.executable;
    record.device_major = entry.device_major;
    record.device_minor = entry.device_minor;
    record.inode = entry.inode;
    record.path = std::move(entry.path);
    follower_.map(record);
  }
  return true;
}

void SampleProcessor::Impl::follow_all_running() {
  for (const uint32_t pid : list_numbered_entries("/proc")) follow_running(pid);
}

void SampleProcessor::Impl::process(const Record& record) {
  if (const auto* const sample = std::get_if<SampleRecord>(&record.body)) {
    count(*sample, record.origin);
  } else {
    if (off_cpu_) take_switch(record);
    follower_.follow(record);
  }
}

void SampleProcessor::Impl::take_switch(const Record& record) {
  const RecordOrigin& origin = record.origin;
  if (const auto* const change = std::get_if<SwitchRecord>(&record.body)) {
    if (change->out) {
      off_cpu_->confirm(origin.tid, change->preempted);
    } else if (std::optional<PlacedSample> wait = off_cpu_->enter(origin.tid, origin.time_ns)) {
      count_wait(*std::move(wait));
    }
  } else if (const auto* const exit = std::get_if<ExitRecord>(&record.body)) {
    off_cpu_->mark_exited(exit->tid);
  } else if (const auto* const fork = std::get_if<ForkRecord>(&record.body)) {
    off_cpu_->begin(fork->tid);
  }
}

void SampleProcessor::Impl::count_wait(PlacedSample wait) {
  builder_.add_in_time(wait.context, wait.event, wait.time_ns, wait.time_ns + wait.value,
                       wait.value);
  follower_.count_or_wait(std::move(wait));
}

void SampleProcessor::Impl::end_waits(uint64_t now_ns) {
  if (!off_cpu_) return;
  for (PlacedSample& wait : off_cpu_->end(now_ns)) count_wait(std::move(wait));
  if (off_cpu_->lost_ends() != 0) {
    builder_.profile().ledger.note(fmt::format(
        "waits of unknown length, the records of whose ends are lost: {}", off_cpu_->lost_ends()));
  }
}

/// Where everything is recorded there may be a process that no record has announced.
ProcessTable::Process* SampleProcessor::Impl::introduce(uint32_t pid) {
  if (!options_.all_processes) return nullptr;
  if (follow_running(pid)) return follower_.tasks().find(pid);
  return &follower_.tasks().add(pid, 0, read_line(fmt::format("/proc/{}/comm", pid)));
}

/// Several events: the record's identifier tells which.
std::optional<EventId> SampleProcessor::Impl::find_event(const RecordOrigin& origin) const {
  if (options_.event_of_id.empty()) return EventId(0u);
  const auto found = options_.event_of_id.find(origin.id);
  if (found == options_.event_of_id.end()) return std::nullopt;
  return EventId(found->second);
}

uint64_t SampleProcessor::Impl::period_of(const SampleRecord& sample,
                                          std::optional<EventId> event) const {
  const bool is_said = (options_.layout.sample_type & PERF_SAMPLE_PERIOD) != 0;
  if (is_said || !event || event->value >= options_.periods.size()) return sample.period;
  return options_.periods[event->value];
}

void SampleProcessor::Impl::count(const SampleRecord& sample, const RecordOrigin& origin) {
  const std::optional<EventId> event = find_event(origin);
  if (off_cpu_ && event == options_.off_cpu->waiting) {
    if (std::optional<PlacedSample> place = follower_.place(sample, origin, options_.layout)) {
      off_cpu_->leave(origin.tid, *std::move(place));
    }
    return;
  }
  const SampleWeight weight{event.value_or(EventId()), period_of(sample, event)};
  const std::span<const SampleWeight> weights(&weight, event ? 1 : 0);
  if (!follower_.count(sample, origin, options_.layout, weights)) return;
  if (!event) {
    builder_.profile().ledger.add(ledger::kUnknownEvents);
    return;
  }
  ++samples_;
  if (!sample.exact_ip) ++inexact_[event->value];
}

Result<void> SampleProcessor::Impl::flush(const RecordSink& sink) {
  waiting_.resolve();
  if (!sink) return {};
  builder_.take_counts();
  RETURN_IF_ERROR(sink(builder_.profile()));
  clear_counts(builder_.profile());
  return {};
}

Recording SampleProcessor::Impl::finish() {
  waiting_.end();
  builder_.take_counts();
  Recording recording;
  recording.samples = samples_;
  recording.lost = lost();
  if (lost() != 0) builder_.profile().ledger.add(ledger::kLostSamples, lost());
  recording.held = images_.release_files();
  recording.jit_facts = images_.release_facts();
  images_.jit().add_to(builder_.profile().ledger);
  recording.profile = std::move(builder_.profile());
  return recording;
}

SampleProcessor::SampleProcessor(const ProcessorOptions& options)
    : impl_(std::make_unique<Impl>(options)) {}
SampleProcessor::~SampleProcessor() = default;

ProfileBuilder& SampleProcessor::builder() {
  return impl_->builder_;
}
void SampleProcessor::follow_command(pid_t pid) {
  impl_->follow_command(pid);
}
bool SampleProcessor::follow_running(pid_t pid) {
  return impl_->follow_running(static_cast<uint32_t>(pid));
}
void SampleProcessor::follow_all_running() {
  impl_->follow_all_running();
}
void SampleProcessor::begin_run(const Run& run) {
  impl_->begin_run(run);
}
void SampleProcessor::process(const Record& record) {
  impl_->process(record);
}
void SampleProcessor::end_waits(uint64_t now_ns) {
  impl_->end_waits(now_ns);
}
Result<void> SampleProcessor::flush(const RecordSink& sink) {
  return impl_->flush(sink);
}
Recording SampleProcessor::finish() {
  return impl_->finish();
}
uint64_t SampleProcessor::samples() const {
  return impl_->samples_;
}
uint64_t SampleProcessor::lost() const {
  return impl_->lost();
}
const std::map<size_t, uint64_t>& SampleProcessor::inexact() const {
  return impl_->inexact_;
}

}  // namespace culprit
