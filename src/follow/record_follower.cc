#include "follow/record_follower.h"

#include <algorithm>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <utility>

#include "records/mapped_path.h"
#include "records/sample_branches.h"

namespace culprit {

namespace {

// A kind of record that is counted and not read further (linux/perf_event.h of Linux 5.16).
constexpr uint32_t kTextPoke = 20;

/// kernel_stacks keep so many: who asks the kernel for something is near the place where it is
/// asked.
constexpr size_t kMostUserFrames = 16;

bool is_kernel_side(Mode mode) {
  return mode == Mode::kernel || mode == Mode::guest_kernel;
}

/// Whether the address is one of the process's own.
bool is_user_side(const CallFrame& frame) {
  return frame.mode == Mode::user || (frame.mode == Mode::all && frame.address < kKernelHalf);
}

/// Loads and stores have a source, or a latency; other events with an address (page faults) just
/// that.
bool is_access(const SampleRecord& sample, const RecordLayout& layout) {
  constexpr uint64_t kNoSource = PERF_MEM_S(OP, NA) | PERF_MEM_S(LVL, NA) | PERF_MEM_S(SNOOP, NA) |
                                 PERF_MEM_S(LOCK, NA) | PERF_MEM_S(TLB, NA);
  const bool has_source = (layout.sample_type & PERF_SAMPLE_DATA_SRC) != 0 &&
                          (sample.data_source & kNoSource) != kNoSource && sample.data_source != 0;
  return has_source || (sample.data_address != 0 && sample.weight != 0);
}

/// Whether some place is not known yet.
bool must_wait(std::span<const Location> places) {
  return std::any_of(places.begin(), places.end(),
                     [](const Location& place) { return place.image.is_all(); });
}

}  // namespace

RecordFollower::RecordFollower(const FollowOptions& options, ProfileBuilder& builder,
                               ImageSource& images)
    : options_(options),
      builder_(builder),
      images_(images),
      tasks_(options.all_tasks, options.renaming_splits) {}

void RecordFollower::follow(const Record& record) {
  forget_recent();
  std::visit([&](const auto& body) { handle(body, record.origin); }, record.body);
}

void RecordFollower::begin_run() {
  forget_recent();
  tasks_.begin_run(builder_);
}

void RecordFollower::forget_recent() {
  recent_contexts_.fill({});
  recent_mappings_.fill({});
}

ProcessTable::Process* RecordFollower::find_or_introduce(uint32_t pid) {
  ProcessTable::Process* const known = tasks_.find(pid);
  if (known != nullptr) return known;
  if (introduce_) return introduce_(pid);
  return options_.all_tasks ? &tasks_.add(pid, 0, "") : nullptr;
}

void RecordFollower::map(const MmapRecord& map) {
  forget_recent();
  if (map.length > UINT64_MAX - map.start.value) {
    ledger().add(ledger::kDamagedRecords);
    return;
  }
  if (data_) data_->map(map);
  if (!map.executable) return;
  const bool is_first = spaces_.mappings(map.pid).empty();
  spaces_.map(map.pid, make_mapping(map, images_.intern(map, is_first)));
}

void RecordFollower::handle(const MmapRecord& record, const RecordOrigin&) {
  if (is_kernel_side(record.mode)) {
    const bool is_damaged = record.length > UINT64_MAX - record.start.value;
    if (is_damaged) return ledger().add(ledger::kDamagedRecords);
    return images_.map_kernel(record);
  }
  if (record.mode == Mode::guest_user || (!record.executable && !data_)) return;
  if (find_or_introduce(record.pid) != nullptr) map(record);
}

void RecordFollower::handle(const CommRecord& comm, const RecordOrigin& origin) {
  if (comm.exec && regions_ != nullptr) regions_->exec(comm.pid, origin.time_ns);
  ProcessTable::Process* const process = find_or_introduce(comm.pid);
  if (process == nullptr) return;
  // What a task without a name did, even before its exec, goes under the first name it gets.
  if (!comm.exec || process->name.empty()) {
    tasks_.rename(*process, comm.tid, comm.name, builder_);
    if (!comm.exec) return;
  }
  forget_mappings(comm.pid);
  tasks_.exec(*process, comm.name);
}

void RecordFollower::handle(const ForkRecord& fork, const RecordOrigin&) {
  if (tasks_.is_known(fork)) return;
  const bool is_thread = fork.pid == fork.parent_pid;
  if (!is_thread) forget_mappings(fork.pid);
  find_or_introduce(fork.parent_pid);
  ProcessTable::Process* const process = tasks_.fork(fork);
  if (process == nullptr || is_thread) return;
  spaces_.fork(fork.parent_pid, fork.pid);
  if (data_) data_->fork(fork.parent_pid, fork.pid);
  images_.fork(fork.parent_pid, fork.pid);
}

void RecordFollower::handle(const ExitRecord& exit, const RecordOrigin& origin) {
  if (regions_ != nullptr) regions_->exit(exit.pid, origin.time_ns);
  ProcessTable::Process* const process = tasks_.find(exit.pid);
  if (process != nullptr) tasks_.exit(*process, exit.tid, origin.time_ns);
  while (const uint32_t pid = tasks_.take_ended(origin.time_ns)) forget_mappings(pid);
}

void RecordFollower::handle(const ThrottleRecord& throttle, const RecordOrigin&) {
  if (throttle.throttled) ledger().add(ledger::kThrottled);
}

void RecordFollower::handle(const CgroupRecord& cgroup, const RecordOrigin&) {
  cgroups_[cgroup.id] = builder_.intern(cgroup.path);
}

void RecordFollower::handle(const UnknownRecord& record, const RecordOrigin&) {
  if (record.type == kTextPoke) ledger().add(ledger::kTextPokes);
}

void RecordFollower::forget_mappings(uint32_t pid) {
  images_.forget(pid);
  spaces_.clear(pid);
  if (data_) data_->forget(pid);
  forget_recent();
}

/// A task that is not counted has no context.
ContextId RecordFollower::find_context(uint32_t pid, uint32_t tid, Mode mode) {
  RecentContext& recent = recent_contexts_[tid % recent_contexts_.size()];
  if (recent.context.is_all() || recent.pid != pid || recent.tid != tid || recent.mode != mode) {
    ProcessTable::Process* const process = find_or_introduce(pid);
    if (process == nullptr || !process->is_counted) return ContextId();
    recent = {pid, tid, mode, tasks_.context(*process, tid, mode, builder_)};
  }
  return recent.context;
}

ContextId RecordFollower::find_context(const SampleRecord& sample, const RecordOrigin& origin) {
  const ContextId context = tag(find_context(origin.pid, origin.tid, sample.mode), origin.pid,
                                origin.tid, origin.time_ns);
  if (sample.cgroup == 0 || context.is_all()) return context;
  Context fields = builder_.profile().contexts[context.value];
  const auto known = cgroups_.find(sample.cgroup);
  fields.cgroup = known != cgroups_.end()
                      ? known->second
                      : builder_.intern(fmt::format("cgroup {}", sample.cgroup));
  return builder_.intern_context(fields);
}

/// The context within the region that the thread was in.
ContextId RecordFollower::tag(ContextId context, uint32_t pid, uint32_t tid, uint64_t time_ns) {
  if (regions_ == nullptr || context.is_all()) return context;
  const auto locate = [&](RunAddress address) { return locate_now(pid, {address, Mode::user}); };
  const RegionId region = regions_->find(pid, tid, time_ns, locate, builder_);
  if (region.is_all()) return context;
  Context fields = builder_.profile().contexts[context.value];
  fields.region = region;
  return builder_.intern_context(fields);
}

const Mapping* RecordFollower::find_mapping(uint32_t pid, const CallFrame& frame) {
  if (!is_user_side(frame)) return nullptr;
  RecentMapping& recent = recent_mappings_[pid % recent_mappings_.size()];
  const bool is_same = recent.mapping != nullptr && recent.pid == pid &&
                       recent.mapping->start <= frame.address &&
                       frame.address < recent.mapping->end;
  if (!is_same) recent = {pid, spaces_.find(pid, frame.address)};
  return recent.mapping;
}

Location RecordFollower::locate(uint32_t pid, const CallFrame& frame) {
  return images_.locate(pid, frame, find_mapping(pid, frame));
}

Location RecordFollower::locate_now(uint32_t pid, const CallFrame& frame) {
  return images_.locate_now(pid, frame, find_mapping(pid, frame));
}

Location RecordFollower::locate_leaf(uint32_t pid, const CallFrame& frame) {
  const Location place = locate(pid, frame);
  if (!place.image.is_all() && images_.is_unknown(place.image)) {
    ledger().add(ledger::kUnknownAddress);
  }
  return place;
}

StackId RecordFollower::intern_stack(std::span<const Location> places) {
  StackId stack;
  for (size_t i = places.size(); i > 0; --i) {
    stack = builder_.intern_stack({stack, places[i - 1]});
  }
  return stack;
}

void RecordFollower::count_branches(const SampleRecord& sample, uint32_t pid, ContextId context,
                                    const RecordLayout& layout) {
  const bool is_guest = sample.mode == Mode::guest_user || sample.mode == Mode::guest_kernel;
  const Mode kernel = is_guest ? Mode::guest_kernel : Mode::kernel;
  const Mode user = is_guest ? Mode::guest_user : Mode::user;
  const auto find_place = [&](RunAddress address) {
    return locate_now(pid, {address, address >= kKernelHalf ? kernel : user});
  };
  // Code between two branches ran straight on only if no taken branch is left out.
  const bool has_all = (layout.branch_sample_type & PERF_SAMPLE_BRANCH_ANY) != 0;
  add_branches(sample.branches, find_place, context, has_all, builder_);
}

ObjectId RecordFollower::find_object(const SampleRecord& sample, uint32_t pid) {
  const bool is_guest = sample.mode == Mode::guest_user || sample.mode == Mode::guest_kernel;
  if (!data_ || sample.data_address == 0 || is_guest) return {};
  return data_->find(pid, sample);
}

SampledAccess RecordFollower::make_access(const SampleRecord& sample, uint32_t pid,
                                          ContextId context, ObjectId object) {
  // No sum of them may wrap; no access takes seconds.
  const uint64_t cycles = std::min(sample.weight, uint64_t{UINT32_MAX});
  SampledAccess row;
  row.context = context;
  row.location = places_.front();
  if (row.location.image.is_all()) row.location = locate_now(pid, {sample.ip, sample.mode});
  row.object = object;
  row.source = sample.data_source;
  row.samples = 1;
  row.timed = cycles != 0 ? 1 : 0;
  row.latency_cycles = cycles;
  row.squared_latency = cycles * cycles;
  row.instruction_latency_cycles = sample.instruction_weight;
  return row;
}

RecordFollower::FoundStack RecordFollower::find_places(const SampleRecord& sample, uint32_t pid,
                                                       const RecordLayout& layout) {
  places_.clear();
  places_.push_back(locate_leaf(pid, {sample.ip, sample.mode}));
  if (options_.kernel_stacks) return find_kernel_places(sample, pid);

  const UnwindStack none;
  const bool has_copy = unwind_ && (layout.sample_type & PERF_SAMPLE_STACK_USER) != 0;
  std::vector<CallFrame> frames =
      list_frames(sample, pid, spaces_, has_copy ? unwind_ : none, ledger());
  const bool has_calls =
      !sample.branches.empty() && (layout.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK) != 0;
  if (has_calls) {
    frames = list_recorded_calls(sample, std::move(frames));
    ledger().add(ledger::kBranchCallStacks);
  }
  if (!has_copy && options_.frames_limit != 0 && frames.size() >= options_.frames_limit) {
    ledger().add(ledger::kTruncatedStacks);
  }
  // The first frame is the sampled address itself.
  for (size_t i = 1; i < frames.size(); ++i) places_.push_back(locate(pid, frames[i]));
  return {options_.stacks || !frames.empty(), has_calls};
}

RecordFollower::FoundStack RecordFollower::find_kernel_places(const SampleRecord& sample,
                                                              uint32_t pid) {
  if (sample.mode != Mode::kernel) return {};
  Ledger cut;  // that outer frames are missing is no fault here
  const std::vector<CallFrame> frames = list_frames(sample, pid, spaces_, unwind_, cut);
  size_t user_frames = 0;
  for (size_t i = 1; i < frames.size() && user_frames < kMostUserFrames; ++i) {
    const bool is_kernel = frames[i].mode == Mode::kernel;
    user_frames += is_kernel ? 0 : 1;
    const Location place = is_kernel ? locate(pid, frames[i]) : locate_now(pid, frames[i]);
    places_.push_back(place);
  }
  return {true, false};
}

void RecordFollower::add_stack(ContextId context, StackId stack, EventId event, uint64_t samples,
                               uint64_t value) {
  if (options_.kernel_stacks) {
    builder_.add_kernel_stack(context, stack, event, samples, value);
  } else {
    builder_.add_stack(context, stack, event, samples, value);
  }
}

bool RecordFollower::count(const SampleRecord& sample, const RecordOrigin& origin,
                           const RecordLayout& layout, std::span<const SampleWeight> weights) {
  const ContextId context = find_context(sample, origin);
  if (context.is_all()) return false;
  const uint32_t pid = origin.pid;
  const auto [has_stack, has_calls] = find_places(sample, pid, layout);
  if (!sample.branches.empty() && !has_calls) count_branches(sample, pid, context, layout);
  const ObjectId object = find_object(sample, pid);
  if (is_access(sample, layout)) {
    SampledAccess row = make_access(sample, pid, context, object);
    for (const SampleWeight& weight : weights) {
      row.event = weight.event;
      builder_.add_accesses(row);
    }
  }

  for (const auto& [event, value] : weights) {
    builder_.add_in_time(context, event, origin.time_ns, origin.time_ns, value);
  }
  if (must_wait(places_)) {
    for (const auto& [event, value] : weights) {
      wait_({origin.time_ns, pid, context, event, 1, value, has_stack, places_, object});
    }
    return true;
  }
  const StackId stack = has_stack ? intern_stack(places_) : StackId();
  for (const auto& [event, value] : weights) {
    builder_.add(context, places_.front(), event, 1, value, 0, object);
    if (has_stack) add_stack(context, stack, event, 1, value);
  }
  return true;
}

std::optional<PlacedSample> RecordFollower::place(const SampleRecord& sample,
                                                  const RecordOrigin& origin,
                                                  const RecordLayout& layout) {
  const ContextId context = find_context(sample, origin);
  if (context.is_all()) return std::nullopt;
  const FoundStack found = find_places(sample, origin.pid, layout);
  return PlacedSample{origin.time_ns,  origin.pid, context, EventId(), 0, 0,
                      found.has_stack, places_,    {}};
}

void RecordFollower::count_or_wait(PlacedSample sample) {
  if (must_wait(sample.places)) {
    wait_(std::move(sample));
  } else {
    count(sample);
  }
}

bool RecordFollower::count(const PlainSample& sample, const SampleWeight& weight) {
  const ContextId context = tag(find_context(sample.pid, sample.tid, sample.mode), sample.pid,
                                sample.tid, sample.time_ns);
  if (context.is_all()) return false;
  const Location place = locate_leaf(sample.pid, {sample.ip, sample.mode});
  builder_.add_in_time(context, weight.event, sample.time_ns, sample.time_ns, weight.value);
  if (place.image.is_all()) {
    wait_({sample.time_ns, sample.pid, context, weight.event, 1, weight.value, false, {place}});
  } else {
    builder_.add(context, place, weight.event, 1, weight.value);
  }
  return true;
}

void RecordFollower::count(const PlacedSample& sample) {
  builder_.add(sample.context, sample.places.front(), sample.event, sample.samples, sample.value, 0,
               sample.object);
  if (!sample.has_stack) return;
  add_stack(sample.context, intern_stack(sample.places), sample.event, sample.samples,
            sample.value);
}

}  // namespace culprit
