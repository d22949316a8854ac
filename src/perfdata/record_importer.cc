#include "perfdata/record_importer.h"

#include <algorithm>
#include <fmt/format.h>
#include <linux/perf_event.h>

#include "records/sample_branches.h"

namespace culprit {

namespace {

// Kinds of records that are counted and not read further (linux/perf_event.h of Linux 5.16).
constexpr uint32_t kTextPoke = 20;

Unit find_unit(const std::string& name) {
  if (name.find("cpu-clock") != name.npos || name.find("task-clock") != name.npos) return Unit::ns;
  const bool is_cycles = name.starts_with("cycles") || name.find("cpu-cycles") != name.npos ||
                         name.find("/cycles") != name.npos;
  return is_cycles ? Unit::cycles : Unit::events;
}

std::string_view find_engine(const EventAttr& attr) {
  switch (attr.type) {
    case PERF_TYPE_SOFTWARE:
      return attr.config <= PERF_COUNT_SW_TASK_CLOCK ? "timer" : "software";
    case PERF_TYPE_TRACEPOINT:
      return "tracepoint";
    case PERF_TYPE_BREAKPOINT:
      return "breakpoint";
    default:
      return "pmu";
  }
}

std::string name_of(const RecordedEvent& event) {
  return event.name.empty() ? describe_event(event.attr) : event.name;
}

bool is_dummy(const EventAttr& attr) {
  return attr.type == PERF_TYPE_SOFTWARE && attr.config == PERF_COUNT_SW_DUMMY;
}

}  // namespace

RecordImporter::RecordImporter(const Attributes& attributes, const ImportSink& sink)
    : attributes_(attributes), sink_(sink) {
  builder_.profile().runs.emplace_back();
  // perf knows the idle tasks without a record.
  tasks_.add(0, 0, "swapper");
}

void RecordImporter::remark(const std::string& sentence) {
  remarks_.push_back(sentence);
  ledger().note(sentence);
}

/// The profile's row of an event; made when its first sample comes.
EventId RecordImporter::find_event_row(size_t event) {
  if (event >= event_rows_.size()) event_rows_.resize(attributes_.events().size());
  EventId& id = event_rows_[event];
  if (!id.is_all()) return id;
  const RecordedEvent& recorded = attributes_.events()[event];
  const std::string name = name_of(recorded);
  Event row;
  row.name = builder_.intern(name);
  row.unit = recorded.has_periods ? find_unit(name) : Unit::events;
  row.provenance = Provenance::sampled;
  row.engine = builder_.intern(find_engine(recorded.attr));
  if (recorded.has_attr) row.encoding = builder_.intern(format_encoding(recorded.attr));
  row.period = recorded.attr.is_frequency ? 0 : recorded.attr.sample_period;
  id = EventId(builder_.profile().events.size());
  builder_.profile().events.push_back(row);
  return id;
}

ProcessTable::Process& RecordImporter::find_or_add(uint32_t pid) {
  ProcessTable::Process* const known = tasks_.find(pid);
  if (known != nullptr) return *known;
  return tasks_.add(pid, 0, "");
}

void RecordImporter::handle(const MmapRecord& map, const RecordOrigin&, size_t) {
  if (map.length > UINT64_MAX - map.start.value) {
    ledger().add(ledger::kDamagedRecords);
    return;
  }
  if (map.mode == Mode::kernel) return kernel_.map(map);
  if (map.mode == Mode::guest_kernel) return guest_kernel_.map(map);
  if (!map.executable || map.mode == Mode::guest_user) return;
  find_or_add(map.pid);
  const bool is_first = spaces_.mappings(map.pid).empty();
  // The kernel gives the vdso's mapping an offset that means nothing.
  const uint64_t file_offset = map.path == "[vdso]" ? 0 : map.file_offset;
  spaces_.map(map.pid,
              {map.start, map.start + map.length, file_offset, images_.intern(map, is_first)});
}

void RecordImporter::handle(const CommRecord& comm, const RecordOrigin&, size_t) {
  ProcessTable::Process& process = find_or_add(comm.pid);
  // What a task without a name did, even before its exec, goes under the first name it gets.
  if (!comm.exec || process.name.empty()) {
    tasks_.rename(process, comm.tid, comm.name, builder_);
    if (!comm.exec) return;
  }
  spaces_.clear(comm.pid);
  tasks_.exec(process, comm.name);
}

void RecordImporter::handle(const ForkRecord& fork, const RecordOrigin&, size_t) {
  if (fork.pid != fork.parent_pid) spaces_.clear(fork.pid);
  find_or_add(fork.parent_pid);
  tasks_.fork(fork.pid, fork.parent_pid, fork.tid, fork.parent_tid);
  if (fork.pid != fork.parent_pid) spaces_.fork(fork.parent_pid, fork.pid);
}

void RecordImporter::handle(const ExitRecord& exit, const RecordOrigin& origin, size_t) {
  ProcessTable::Process* const process = tasks_.find(exit.pid);
  if (process != nullptr) tasks_.exit(*process, exit.tid, origin.time_ns);
  while (const uint32_t pid = tasks_.bury_one(origin.time_ns)) spaces_.clear(pid);
}

void RecordImporter::handle(const ThrottleRecord& throttle, const RecordOrigin&, size_t) {
  if (throttle.throttled) ledger().add(ledger::kThrottled);
}

void RecordImporter::handle(const CgroupRecord& cgroup, const RecordOrigin&, size_t) {
  cgroups_[cgroup.id] = builder_.intern(cgroup.path);
}

void RecordImporter::handle(const KsymbolRecord& symbol, const RecordOrigin&, size_t) {
  kernel_.process(symbol);
}

void RecordImporter::handle(const UnknownRecord& record, const RecordOrigin&, size_t) {
  if (record.type == kTextPoke) ledger().add(ledger::kTextPokes);
}

bool RecordImporter::is_mapped(uint32_t pid, std::string_view path, RunAddress address) const {
  const Mapping* const mapping = spaces_.find(pid, address);
  return mapping != nullptr && images_.path(mapping->file) == path;
}

std::optional<RunAddress> RecordImporter::find_mapped(uint32_t pid, std::string_view path,
                                                      FileOffset offset) const {
  for (const Mapping& mapping : spaces_.mappings(pid)) {
    if (offset.value < mapping.file_offset) continue;
    const uint64_t into = offset.value - mapping.file_offset;
    if (into < mapping.end - mapping.start && images_.path(mapping.file) == path) {
      return mapping.start + into;
    }
  }
  return std::nullopt;
}

Location RecordImporter::locate(uint32_t pid, const CallFrame& frame) {
  const Location place = locate_by_mappings(pid, frame);
  return refine_ ? refine_(frame.address, place) : place;
}

Location RecordImporter::locate_sample(uint32_t pid, const CallFrame& frame) {
  const Location place = locate(pid, frame);
  const Profile& profile = builder_.profile();
  const Image& image = profile.images[place.image.value];
  if (image.kind == ImageKind::unknown && profile.strings.text(image.path) != kAnonymousPath) {
    ledger().add(ledger::kUnknownAddress);
  }
  return place;
}

Location RecordImporter::locate_by_mappings(uint32_t pid, const CallFrame& frame) {
  switch (frame.mode) {
    case Mode::kernel:
      return kernel_.locate(frame.address);
    case Mode::guest_kernel:
      return guest_kernel_.locate(frame.address);
    case Mode::guest_user:
    case Mode::hypervisor:
      return images_.locate_unknown(frame.address);
    case Mode::all:
      if (frame.address >= kKernelHalf) return kernel_.locate(frame.address);
      break;
    case Mode::user:
      break;
  }
  if (const Mapping* const mapping = find_mapping(pid, frame.address)) {
    return images_.locate(*mapping, frame.address);
  }
  return images_.locate_unknown(frame.address);
}

const Mapping* RecordImporter::find_mapping(uint32_t pid, RunAddress address) {
  RecentMapping& recent = recent_mappings_[pid % recent_mappings_.size()];
  const bool is_same = recent.mapping != nullptr && recent.pid == pid &&
                       recent.mapping->start <= address && address < recent.mapping->end;
  if (!is_same) recent = {pid, spaces_.find(pid, address)};
  return recent.mapping;
}

ContextId RecordImporter::find_context(uint32_t pid, uint32_t tid, Mode mode) {
  RecentContext& recent = recent_contexts_[tid % recent_contexts_.size()];
  if (recent.context.is_all() || recent.pid != pid || recent.tid != tid || recent.mode != mode) {
    recent = {pid, tid, mode, tasks_.context(find_or_add(pid), tid, mode, builder_)};
  }
  return recent.context;
}

ContextId RecordImporter::find_context(const SampleRecord& sample, const RecordOrigin& origin) {
  const ContextId context = find_context(origin.pid, origin.tid, sample.mode);
  if (sample.cgroup == 0) return context;
  Context fields = builder_.profile().contexts[context.value];
  const auto known = cgroups_.find(sample.cgroup);
  fields.cgroup = known != cgroups_.end()
                      ? known->second
                      : builder_.intern(fmt::format("cgroup {}", sample.cgroup));
  return builder_.intern_context(fields);
}

/// Calls visit(event, value) for what a sample counts for. Leader sampling: one sample stands
/// for every event of its group, each with what its counter has gained since the last one.
void RecordImporter::weigh(const SampleRecord& sample, const RecordOrigin& origin, size_t event,
                           auto&& visit) {
  const EventAttr& attr = attributes_.events()[event].attr;
  if ((attr.layout.sample_type & PERF_SAMPLE_READ) == 0) {
    const bool has_period = (attr.layout.sample_type & PERF_SAMPLE_PERIOD) != 0;
    visit(event, has_period ? sample.period : attr.sample_period);
    return;
  }
  for (const ReadValue& read : sample.read.values) {
    const uint64_t id = read.id != 0 ? read.id : origin.id;
    const auto member = attributes_.find(id);
    if (!member) {
      ledger().add(ledger::kUnknownEvents);
      continue;
    }
    uint64_t& last = read_values_[id];
    const uint64_t gained = read.value - last;
    last = read.value;
    if (gained != 0) visit(*member, gained);
  }
}

StackId RecordImporter::count_stack(std::span<const CallFrame> frames, uint32_t pid,
                                    const Location& leaf) {
  StackId stack;
  // The first frame is the sampled address itself.
  for (size_t i = frames.size(); i > 1; --i) {
    stack = builder_.intern_stack({stack, locate(pid, frames[i - 1])});
  }
  return builder_.intern_stack({stack, leaf});
}

void RecordImporter::unwind_with(const std::string& architecture, const ImportTools& tools) {
  unwind_ = tools.make_unwinder(
      architecture,
      [this, open = tools.open_image](uint32_t, const Mapping& mapping) -> std::optional<Fd> {
        const std::optional<ImageId> image = images_.find_image(mapping);
        if (!image) return std::nullopt;
        const Image& row = builder_.profile().images[image->value];
        return open(row, builder_.profile().strings.text(row.path));
      });
}

void RecordImporter::count_branches(const SampleRecord& sample, uint32_t pid, ContextId context,
                                    size_t event) {
  const uint64_t kinds = attributes_.events()[event].attr.layout.branch_sample_type;
  if ((kinds & PERF_SAMPLE_BRANCH_CALL_STACK) != 0) {
    ledger().add(ledger::kBranchCallStacks);
    return;
  }
  const auto find_place = [&](RunAddress address) {
    return locate(pid, {address, address >= kKernelHalf ? Mode::kernel : Mode::user});
  };
  // Code between two branches ran straight on only if no taken branch is left out.
  const bool has_all = (kinds & PERF_SAMPLE_BRANCH_ANY) != 0;
  add_branches(sample.branches, find_place, context, has_all, builder_);
}

void RecordImporter::keep_memory_sample(const SampleRecord& sample, const RecordOrigin& origin,
                                        const Location& place, const Counted& counted) {
  MemorySample row;
  row.context = counted.context;
  row.event = counted.event;
  row.location = place;
  row.data_address = RunAddress(sample.data_address);
  row.source = sample.data_source;
  row.latency_cycles = sample.weight;
  row.instruction_latency_cycles = sample.instruction_weight;
  row.physical_address = sample.physical_address;
  row.data_page_bytes = sample.data_page_size;
  row.time_ns = static_cast<int64_t>(origin.time_ns);
  builder_.add_memory_sample(row);
}

void RecordImporter::handle(const SampleRecord& sample, const RecordOrigin& origin, size_t event) {
  const ContextId context = find_context(sample, origin);
  const Location place = locate_sample(origin.pid, {sample.ip, sample.mode});
  const RecordLayout& layout = attributes_.events()[event].attr.layout;
  const bool has_copy = (layout.sample_type & PERF_SAMPLE_STACK_USER) != 0;
  const UnwindStack none;
  const std::vector<CallFrame> frames =
      list_frames(sample, origin.pid, spaces_, has_copy ? unwind_ : none, ledger());
  StackId stack;
  if (!frames.empty()) stack = count_stack(frames, origin.pid, place);
  if (!sample.branches.empty()) count_branches(sample, origin.pid, context, event);
  if (!sample.raw.empty()) ledger().add(ledger::kRawFields);
  // Loads and stores have a source; other events with an address (page faults) just that.
  constexpr uint64_t kNoSource = PERF_MEM_S(OP, NA) | PERF_MEM_S(LVL, NA) | PERF_MEM_S(SNOOP, NA) |
                                 PERF_MEM_S(LOCK, NA) | PERF_MEM_S(TLB, NA);
  const bool has_source = (layout.sample_type & PERF_SAMPLE_DATA_SRC) != 0 &&
                          (sample.data_source & kNoSource) != kNoSource && sample.data_source != 0;
  const bool is_memory = has_source || sample.data_address != 0;
  weigh(sample, origin, event, [&](size_t member, uint64_t value) {
    const Counted counted{context, find_event_row(member), value};
    builder_.add(context, place, counted.event, 1, value);
    if (!stack.is_all()) builder_.add_stack(context, stack, counted.event, 1, value);
    if (is_memory) keep_memory_sample(sample, origin, place, counted);
    ++samples_;
  });
  extend_time(origin.time_ns);
}

Result<void> RecordImporter::add(const PlainSample& sample, size_t event) {
  const ContextId context = find_context(sample.pid, sample.tid, sample.mode);
  const Location place = locate_sample(sample.pid, {sample.ip, sample.mode});
  const EventAttr& attr = attributes_.events()[event].attr;
  const bool has_period = (attr.layout.sample_type & PERF_SAMPLE_PERIOD) != 0;
  builder_.add(context, place, find_event_row(event), 1,
               has_period ? sample.period : attr.sample_period);
  ++samples_;
  extend_time(sample.time_ns);
  return flush_if_much();
}

void RecordImporter::extend_time(uint64_t time_ns) {
  first_ns_ = std::min(first_ns_, time_ns);
  last_ns_ = std::max(last_ns_, time_ns);
}

Result<void> RecordImporter::add(const Record& record, size_t event) {
  if (!std::holds_alternative<SampleRecord>(record.body)) {
    recent_contexts_.fill({});
    recent_mappings_.fill({});
  }
  std::visit([&](const auto& body) { handle(body, record.origin, event); }, record.body);
  return flush_if_much();
}

Result<void> RecordImporter::flush_if_much() {
  constexpr size_t kMuch = size_t{1} << 19;
  if (builder_.entries() < kMuch || !sink_) return {};
  builder_.take_counts();
  RETURN_IF_ERROR(sink_(builder_.profile()));
  clear_counts(builder_.profile());
  return {};
}

void RecordImporter::describe_machine(const RecordedFacts& facts) {
  Profile& profile = builder_.profile();
  profile.machine.architecture = facts.architecture;
  profile.machine.cpu_model = facts.cpu_model;
  profile.machine.cpu_id = facts.cpu_id;
  profile.machine.kernel_release = facts.kernel_release;
  profile.machine.cpus_online = facts.cpus_online;
  for (const RecordedEvent& event : attributes_.events()) {
    profile.machine.has_pmu |= find_engine(event.attr) == "pmu";
  }
  const auto keep = [&](const std::string& key, const std::string& value) {
    if (!value.empty()) profile.environment[key] = value;
  };
  keep("perf version", facts.perf_version);
  for (size_t i = 0; i < facts.cpu_kinds.size(); ++i) {
    keep(fmt::format("kind of CPU {}", i + 1), facts.cpu_kinds[i]);
  }
  for (size_t i = 0; i < facts.groups.size(); ++i) {
    keep(fmt::format("event group {}", i + 1), facts.groups[i]);
  }
}

void RecordImporter::describe_run(const RecordedFacts& facts) {
  Run& run = builder_.profile().runs[0];
  run.host = builder_.intern(facts.host);
  run.command = builder_.intern(facts.command);
  const auto [first_ns, last_ns] = facts.sample_time_ns.value_or(std::pair(first_ns_, last_ns_));
  if (last_ns > first_ns) run.duration_ns = static_cast<int64_t>(last_ns - first_ns);
  if (facts.clocks_ns && last_ns >= first_ns) {
    const auto [sample_ns, real_ns] = *facts.clocks_ns;
    run.start_ns = static_cast<int64_t>(real_ns + (first_ns - sample_ns));
  }
  for (const RecordedBuildId& found : facts.build_ids) {
    images_.set_build_id(found.mode, found.path, found.build_id);
    if (found.mode == Mode::kernel) kernel_.set_build_id(found.path, found.build_id);
    if (found.mode == Mode::guest_kernel) guest_kernel_.set_build_id(found.path, found.build_id);
  }
}

void RecordImporter::describe_losses() {
  const std::vector<RecordedEvent>& events = attributes_.events();
  event_rows_.resize(events.size());
  for (size_t event = 0; event < events.size(); ++event) {
    if (!event_rows_[event].is_all() || is_dummy(events[event].attr)) continue;
    ledger().note(fmt::format("no samples of {}", name_of(events[event])));
  }
  const auto add = [&](const LedgerKind& kind, uint64_t amount) {
    if (amount != 0) ledger().add(kind, amount);
  };
  add(ledger::kLostRecords, lost_records_);
  add(ledger::kLostSamples, lost_samples_);
}

Imported RecordImporter::finish(const RecordedFacts& facts) {
  describe_machine(facts);
  describe_run(facts);
  describe_losses();
  builder_.take_counts();
  Imported imported;
  imported.facts = kernel_.release_facts();
  imported.samples = samples_;
  imported.lost = lost_samples_ + lost_records_;
  imported.remarks = std::move(remarks_);
  imported.profile = std::move(builder_.profile());
  for (auto& [image, known] : imported.facts) known.architecture = facts.architecture;
  return imported;
}

}  // namespace culprit
