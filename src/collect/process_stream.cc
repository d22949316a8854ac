#include "collect/process_stream.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <map>
#include <set>
#include <unordered_map>

#include "base/number.h"
#include "base/text.h"
#include "collect/process_folder.h"
#include "collect/process_kernel.h"
#include "recording/held_images.h"
#include "recording/jit_code.h"
#include "records/callchain.h"
#include "records/proc_text.h"
#include "records/process_table.h"
#include "records/sample_branches.h"
#include "records/user_stack.h"

namespace culprit {

namespace {

/// Frames whose image is not known yet have kAll as image, and their run address.
struct PendingSample {
  uint64_t time_ns = 0;
  uint32_t pid = 0;
  ContextId context;
  EventId event;
  uint64_t samples = 0;
  uint64_t value = 0;
  std::vector<Location> frames;  // innermost first
};

bool is_kernel_side(Mode mode) {
  return mode == Mode::kernel || mode == Mode::guest_kernel;
}

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

}  // namespace

class SampleProcessor::Impl {
 public:
  explicit Impl(const ProcessorOptions& options)
      : options_(options), tasks_(options.all_processes) {
    if (!options_.make_unwinder) return;
    unwind_ = options_.make_unwinder([this](uint32_t pid, const Mapping& mapping) {
      return images_.open_file(pid, mapping, builder_);
    });
  }

  void follow_command(pid_t pid);
  bool follow_running(uint32_t pid);
  void follow_all_running();
  void process(const Record& record);
  Result<void> flush(const RecordSink& sink);
  Recording finish();

  ProfileBuilder builder_;
  uint64_t samples_ = 0;
  uint64_t lost_ = 0;
  std::map<size_t, uint64_t> inexact_;

 private:
  void handle(const MmapRecord& map, const RecordOrigin& origin);
  void handle(const CommRecord& comm, const RecordOrigin& origin);
  void handle(const ForkRecord& fork, const RecordOrigin& origin);
  void handle(const ExitRecord& exit, const RecordOrigin& origin);
  void handle(const LostRecord& lost, const RecordOrigin&) { lost_ += lost.lost; }
  void handle(const LostSamplesRecord& lost, const RecordOrigin&) { lost_ += lost.lost; }
  void handle(const ThrottleRecord& throttle, const RecordOrigin&);
  void handle(const KsymbolRecord& symbol, const RecordOrigin&) { kernel_.process(symbol); }
  void handle(const SampleRecord& sample, const RecordOrigin& origin);
  template <class Other>
  void handle(const Other&, const RecordOrigin&) {}

  ProcessTable::Process* find_or_add(uint32_t pid);
  void map(uint32_t pid, const MmapRecord& map);
  Location locate(uint32_t pid, const CallFrame& frame);
  std::optional<EventId> find_event(const RecordOrigin& origin) const;
  Location locate_now(uint32_t pid, RunAddress address);
  void count_branches(const SampleRecord& sample, uint32_t pid, ContextId context);
  void keep_memory_sample(const SampleRecord& sample, const PendingSample& counted);
  void count(const PendingSample& sample);
  void end_process(uint32_t pid);
  bool resolve(PendingSample& sample, bool is_last);
  void resolve_pending(std::optional<uint32_t> last_of_pid, bool is_last);
  void merge_pending();
  ImageId place_holder(ImageId& image, std::string_view path);
  ImageId image_of_unnamed(uint32_t pid, RunAddress address);

  ProcessorOptions options_;
  ProcessTable tasks_;
  AddressSpaces spaces_;
  HeldImages images_;
  KernelImages kernel_;
  JitCode jit_;
  UnwindStack unwind_;
  std::vector<PendingSample> pending_;
  ImageId anonymous_;
  ImageId unknown_;
};

void SampleProcessor::Impl::follow_command(pid_t pid) {
  ProcessTable::Process& process = tasks_.add(static_cast<uint32_t>(pid), 0, "");
  process.is_counted = false;
  process.counts_from_exec = true;
}

bool SampleProcessor::Impl::follow_running(uint32_t pid) {
  const std::string folder = fmt::format("/proc/{}", pid);
  const std::vector<uint32_t> tids = list_numbered_entries(folder + "/task");
  if (tids.empty()) return false;
  ProcessTable::Process& process =
      tasks_.add(pid, read_parent_pid(folder), read_line(folder + "/comm"));
  process.is_counted = true;
  for (const uint32_t tid : tids) {
    process.threads[tid].name = read_line(fmt::format("{}/task/{}/comm", folder, tid));
  }
  process.living_threads = static_cast<uint32_t>(tids.size());
  for (ProcMapping& entry : parse_proc_maps(read_file(folder + "/maps").value_or(""))) {
    if (!entry.executable || entry.end <= entry.start) continue;
    MmapRecord record;
    record.pid = pid;
    record.start = entry.start;
    record.length = entry.end - entry.start;
    record.file_offset = entry.file_offset;
    record.executable = true;
    record.device_major = entry.device_major;
    record.device_minor = entry.device_minor;
    record.inode = entry.inode;
    record.path = std::move(entry.path);
    map(pid, record);
  }
  return true;
}

void SampleProcessor::Impl::follow_all_running() {
  for (const uint32_t pid : list_numbered_entries("/proc")) follow_running(pid);
}

void SampleProcessor::Impl::process(const Record& record) {
  std::visit([&](const auto& body) { handle(body, record.origin); }, record.body);
}

/// With everything recorded there may be a process that no record has announced.
ProcessTable::Process* SampleProcessor::Impl::find_or_add(uint32_t pid) {
  ProcessTable::Process* const known = tasks_.find(pid);
  if (known != nullptr || !options_.all_processes) return known;
  if (follow_running(pid)) return tasks_.find(pid);
  return &tasks_.add(pid, 0, read_line(fmt::format("/proc/{}/comm", pid)));
}

void SampleProcessor::Impl::map(uint32_t pid, const MmapRecord& record) {
  if (record.length > UINT64_MAX - record.start.value) {
    builder_.profile().ledger.add(ledger::kDamagedRecords);
    return;
  }
  // The kernel gives the vdso's mapping an offset that means nothing.
  const uint64_t file_offset = record.path == "[vdso]" ? 0 : record.file_offset;
  spaces_.map(pid,
              {record.start, record.start + record.length, file_offset, images_.intern(record)});
  jit_.note_mapping(pid, record.path);
}

void SampleProcessor::Impl::handle(const MmapRecord& record, const RecordOrigin&) {
  if (is_kernel_side(record.mode) || !record.executable) return;
  if (find_or_add(record.pid) != nullptr) map(record.pid, record);
}

void SampleProcessor::Impl::handle(const CommRecord& comm, const RecordOrigin&) {
  ProcessTable::Process* const process = find_or_add(comm.pid);
  if (process == nullptr) return;
  if (!comm.exec) {
    tasks_.rename(*process, comm.tid, comm.name, builder_);
    return;
  }
  end_process(comm.pid);
  tasks_.exec(*process, comm.name);
}

void SampleProcessor::Impl::handle(const ForkRecord& fork, const RecordOrigin&) {
  if (fork.pid != fork.parent_pid) end_process(fork.pid);
  ProcessTable::Process* const process =
      tasks_.fork(fork.pid, fork.parent_pid, fork.tid, fork.parent_tid);
  if (process == nullptr || fork.pid == fork.parent_pid) return;
  spaces_.fork(fork.parent_pid, fork.pid);
  jit_.fork(fork.parent_pid, fork.pid);
}

void SampleProcessor::Impl::handle(const ExitRecord& exit, const RecordOrigin& origin) {
  ProcessTable::Process* const process = tasks_.find(exit.pid);
  if (process != nullptr) tasks_.exit(*process, exit.tid, origin.time_ns);
  while (const uint32_t pid = tasks_.bury_one(origin.time_ns)) end_process(pid);
}

void SampleProcessor::Impl::handle(const ThrottleRecord& throttle, const RecordOrigin&) {
  if (throttle.throttled) builder_.profile().ledger.add(ledger::kThrottled);
}

Location SampleProcessor::Impl::locate(uint32_t pid, const CallFrame& frame) {
  if (is_kernel_side(frame.mode)) return kernel_.locate(frame.address, builder_);
  if (const Mapping* const mapping = spaces_.find(pid, frame.address)) {
    const auto location = images_.locate(pid, *mapping, frame.address, builder_);
    if (location) return *location;
  }
  jit_.watch(pid);
  return {ImageId(), FileOffset(frame.address.value)};
}

void SampleProcessor::Impl::handle(const SampleRecord& sample, const RecordOrigin& origin) {
  ProcessTable::Process* const process = find_or_add(origin.pid);
  if (process == nullptr || !process->is_counted) return;
  const std::optional<EventId> event = find_event(origin);
  if (!event) {
    builder_.profile().ledger.add(ledger::kUnknownEvents);
    return;
  }
  PendingSample counted;
  counted.time_ns = origin.time_ns;
  counted.pid = origin.pid;
  counted.context = tasks_.context(*process, origin.tid, sample.mode, builder_);
  counted.event = *event;
  counted.samples = 1;
  counted.value = sample.period;
  counted.frames.push_back(locate(origin.pid, {sample.ip, sample.mode}));

  const std::vector<CallFrame> frames =
      list_frames(sample, origin.pid, spaces_, unwind_, builder_.profile().ledger);
  if (!unwind_ && options_.frames_limit != 0 && frames.size() >= options_.frames_limit) {
    builder_.profile().ledger.add(ledger::kTruncatedStacks);
  }
  // The chain begins with the sampled address itself.
  for (size_t i = 1; i < frames.size(); ++i) {
    counted.frames.push_back(locate(origin.pid, frames[i]));
  }
  if (!sample.branches.empty()) count_branches(sample, origin.pid, counted.context);
  if (sample.data_address != 0) keep_memory_sample(sample, counted);
  ++samples_;
  if (!sample.exact_ip) ++inexact_[event->value];
  const bool is_known = std::none_of(counted.frames.begin(), counted.frames.end(),
                                     [](const Location& l) { return l.image.is_all(); });
  if (is_known) {
    count(counted);
  } else {
    pending_.push_back(std::move(counted));
    constexpr size_t kManyPending = 1 << 16;
    if (pending_.size() >= kManyPending) resolve_pending(std::nullopt, false);
  }
}

/// Several events: the record's identifier tells which.
std::optional<EventId> SampleProcessor::Impl::find_event(const RecordOrigin& origin) const {
  if (options_.event_of_id.empty()) return EventId(0u);
  const auto found = options_.event_of_id.find(origin.id);
  if (found == options_.event_of_id.end()) return std::nullopt;
  return EventId(found->second);
}

/// Where names of JIT code would come later, they are not waited for.
Location SampleProcessor::Impl::locate_now(uint32_t pid, RunAddress address) {
  const Location place = locate(pid, {address, address >= kKernelHalf ? Mode::kernel : Mode::user});
  if (!place.image.is_all()) return place;
  return {image_of_unnamed(pid, address), place.offset};
}

void SampleProcessor::Impl::count_branches(const SampleRecord& sample, uint32_t pid,
                                           ContextId context) {
  const auto find_place = [&](RunAddress address) { return locate_now(pid, address); };
  add_branches(sample.branches, find_place, context, true, builder_);
}

void SampleProcessor::Impl::keep_memory_sample(const SampleRecord& sample,
                                               const PendingSample& counted) {
  MemorySample row;
  row.context = counted.context;
  row.event = counted.event;
  row.location = counted.frames.front();
  if (row.location.image.is_all()) {
    row.location.image = image_of_unnamed(counted.pid, RunAddress(row.location.offset.value));
  }
  row.data_address = RunAddress(sample.data_address);
  row.source = sample.data_source;
  row.latency_cycles = sample.weight;
  row.instruction_latency_cycles = sample.instruction_weight;
  row.time_ns = static_cast<int64_t>(counted.time_ns);
  builder_.add_memory_sample(row);
}

void SampleProcessor::Impl::count(const PendingSample& sample) {
  builder_.add(sample.context, sample.frames.front(), sample.event, sample.samples, sample.value);
  if (sample.frames.size() < 2 && !options_.stacks) return;
  StackId stack;
  for (auto frame = sample.frames.rbegin(); frame != sample.frames.rend(); ++frame) {
    stack = builder_.intern_stack({stack, *frame});
  }
  builder_.add_stack(sample.context, stack, sample.event, sample.samples, sample.value);
}

/// exec, a number used again, or the end: what was at its addresses is gone.
void SampleProcessor::Impl::end_process(uint32_t pid) {
  if (jit_.is_watched(pid)) {
    jit_.refresh(pid);
    resolve_pending(pid, true);
    jit_.forget(pid);
  }
  spaces_.clear(pid);
}

ImageId SampleProcessor::Impl::place_holder(ImageId& image, std::string_view path) {
  if (!image.is_all()) return image;
  Profile& profile = builder_.profile();
  Image row;
  row.path = builder_.intern(path);
  image = ImageId(profile.images.size());
  profile.images.push_back(row);
  return image;
}

/// Of code that no file is behind and no JIT compiler has named.
ImageId SampleProcessor::Impl::image_of_unnamed(uint32_t pid, RunAddress address) {
  return spaces_.find(pid, address) != nullptr ? place_holder(anonymous_, kAnonymousPath)
                                               : place_holder(unknown_, "[unknown]");
}

bool SampleProcessor::Impl::resolve(PendingSample& sample, bool is_last) {
  bool is_known = true;
  for (Location& frame : sample.frames) {
    if (!frame.image.is_all()) continue;
    const RunAddress address(frame.offset.value);
    // What is not known by the end is sought in the code's last state.
    const uint64_t time_ns = is_last ? UINT64_MAX : sample.time_ns;
    std::optional<Location> found = jit_.locate(sample.pid, address, time_ns, builder_);
    if (!found && is_last) {
      found = Location{image_of_unnamed(sample.pid, address), FileOffset(address.value)};
      const bool is_leaf = &frame == &sample.frames.front();
      if (is_leaf && found->image == unknown_) {
        builder_.profile().ledger.add(ledger::kUnknownAddress, sample.samples);
      }
    }
    if (found) {
      frame = *found;
    } else {
      is_known = false;
    }
  }
  return is_known;
}

/// Counts what can be resolved now. `last_of_pid`: only that process, and for the last time.
void SampleProcessor::Impl::resolve_pending(std::optional<uint32_t> last_of_pid, bool is_last) {
  if (pending_.empty()) return;
  if (!last_of_pid) {
    std::set<uint32_t> pids;
    for (const PendingSample& sample : pending_) pids.insert(sample.pid);
    for (const uint32_t pid : pids) jit_.refresh(pid);
  }
  std::sort(pending_.begin(), pending_.end(),
            [](const PendingSample& a, const PendingSample& b) { return a.time_ns < b.time_ns; });
  const auto resolve_all = [&](bool for_the_last_time) {
    std::vector<PendingSample> left;
    for (PendingSample& sample : pending_) {
      const bool is_meant = !last_of_pid || sample.pid == *last_of_pid;
      if (is_meant && resolve(sample, for_the_last_time)) {
        count(sample);
      } else {
        left.push_back(std::move(sample));
      }
    }
    pending_ = std::move(left);
  };
  resolve_all(false);
  if (is_last) resolve_all(true);
  merge_pending();
}

/// Samples that wait for the same names become one, so that waiting does not take memory.
void SampleProcessor::Impl::merge_pending() {
  std::map<std::tuple<uint32_t, ContextId, EventId, std::vector<Location>>, size_t> places;
  std::vector<PendingSample> merged;
  for (PendingSample& sample : pending_) {
    const auto [at, is_new] = places.try_emplace(
        {sample.pid, sample.context, sample.event, sample.frames}, merged.size());
    if (is_new) {
      merged.push_back(std::move(sample));
    } else {
      merged[at->second].samples += sample.samples;
      merged[at->second].value += sample.value;
    }
  }
  pending_ = std::move(merged);
}

Result<void> SampleProcessor::Impl::flush(const RecordSink& sink) {
  resolve_pending(std::nullopt, false);
  if (!sink) return {};
  builder_.take_counts();
  RETURN_IF_ERROR(sink(builder_.profile()));
  clear_counts(builder_.profile());
  return {};
}

Recording SampleProcessor::Impl::finish() {
  resolve_pending(std::nullopt, true);
  builder_.take_counts();
  Recording recording;
  recording.samples = samples_;
  recording.lost = lost_;
  if (lost_ != 0) builder_.profile().ledger.add(ledger::kLostSamples, lost_);
  recording.held = images_.release();
  recording.jit_facts = jit_.release_facts();
  for (auto& facts : kernel_.release_facts()) recording.jit_facts.push_back(std::move(facts));
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
void SampleProcessor::process(const Record& record) {
  impl_->process(record);
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
  return impl_->lost_;
}
const std::map<size_t, uint64_t>& SampleProcessor::inexact() const {
  return impl_->inexact_;
}

}  // namespace culprit
