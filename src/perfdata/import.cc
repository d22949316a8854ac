#include "perfdata/import.h"

#include <algorithm>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <unordered_map>

#include "perfdata/perf_data_file.h"
#include "perfdata/recorded_images.h"
#include "perfdata/sample_branches.h"
#include "perfdata/time_order.h"
#include "perfdata/user_records.h"
#include "records/callchain.h"
#include "records/process_table.h"

namespace culprit {

namespace {

// Kinds of records that are counted and not read further (linux/perf_event.h of Linux 5.16).
constexpr uint32_t kTextPoke = 20;
constexpr RunAddress kKernelHalf(uint64_t{1} << 63);

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

class Importer {
 public:
  Importer(PerfDataFile& file, const ImportSink& sink, const ImportProgress& progress);

  Result<Imported> run();

 private:
  /// A sample on its way: what it counts for, and where.
  struct Counted {
    ContextId context;
    EventId event;
    uint64_t value = 0;
  };

  Result<void> read_all();
  Result<void> take(RawRecord record);
  Result<void> deliver(const RawRecord& record);
  Result<void> flush_if_much();
  void describe_run();
  void describe_losses();

  void handle(const MmapRecord& map, const RecordOrigin& origin, size_t event);
  void handle(const CommRecord& comm, const RecordOrigin& origin, size_t event);
  void handle(const ForkRecord& fork, const RecordOrigin& origin, size_t event);
  void handle(const ExitRecord& exit, const RecordOrigin& origin, size_t event);
  void handle(const LostRecord& lost, const RecordOrigin&, size_t) { lost_records_ += lost.lost; }
  void handle(const LostSamplesRecord& lost, const RecordOrigin&, size_t) {
    lost_samples_ += lost.lost;
  }
  void handle(const ThrottleRecord& throttle, const RecordOrigin& origin, size_t event);
  void handle(const CgroupRecord& cgroup, const RecordOrigin& origin, size_t event);
  void handle(const KsymbolRecord& symbol, const RecordOrigin& origin, size_t event);
  void handle(const SampleRecord& sample, const RecordOrigin& origin, size_t event);
  void handle(const UnknownRecord& record, const RecordOrigin& origin, size_t event);
  template <class Other>
  void handle(const Other&, const RecordOrigin&, size_t) {}

  Ledger& ledger() { return builder_.profile().ledger; }
  EventId find_event_row(size_t event);
  ProcessTable::Process& find_or_add(uint32_t pid);
  ContextId find_context(const SampleRecord& sample, const RecordOrigin& origin);
  Location locate(uint32_t pid, const Frame& frame);
  std::vector<std::pair<size_t, uint64_t>> weigh(const SampleRecord& sample,
                                                 const RecordOrigin& origin, size_t event);
  StackId count_stack(const SampleRecord& sample, uint32_t pid, const Location& leaf);
  void count_branches(const SampleRecord& sample, uint32_t pid, ContextId context, size_t event);
  void keep_memory_sample(const SampleRecord& sample, const RecordOrigin& origin,
                          const Location& place, const Counted& counted);

  PerfDataFile& file_;
  const ImportSink& sink_;
  const ImportProgress& progress_;
  ProfileBuilder builder_;
  ProcessTable tasks_{true, true};
  AddressSpaces spaces_;
  RecordedImages images_{builder_};
  RecordedKernel kernel_{builder_, "kernel"};
  RecordedKernel guest_kernel_{builder_, "guest kernel"};
  TimeOrder ordered_;
  std::vector<EventId> event_rows_;
  std::unordered_map<uint64_t, uint64_t> read_values_;  // by counter id, the last one seen
  std::unordered_map<uint64_t, StringId> cgroups_;
  uint64_t samples_ = 0;
  uint64_t lost_records_ = 0;
  uint64_t lost_samples_ = 0;
  uint64_t first_ns_ = UINT64_MAX;
  uint64_t last_ns_ = 0;
  uint64_t records_ = 0;
  std::vector<std::string> remarks_;
  bool is_stopped_ = false;
};

Importer::Importer(PerfDataFile& file, const ImportSink& sink, const ImportProgress& progress)
    : file_(file),
      sink_(sink),
      progress_(progress),
      ordered_([this](const RawRecord& record) { return deliver(record); }) {
  builder_.profile().runs.emplace_back();
  // perf knows the idle tasks without a record.
  tasks_.add(0, 0, "swapper");
}

/// The profile's row of an event; made when its first sample comes.
EventId Importer::find_event_row(size_t event) {
  if (event >= event_rows_.size()) event_rows_.resize(file_.attributes().events().size());
  EventId& id = event_rows_[event];
  if (!id.is_all()) return id;
  const RecordedEvent& recorded = file_.attributes().events()[event];
  const std::string name = name_of(recorded);
  Event row;
  row.name = builder_.intern(name);
  row.unit = find_unit(name);
  row.provenance = Provenance::sampled;
  row.engine = builder_.intern(find_engine(recorded.attr));
  row.encoding = builder_.intern(format_encoding(recorded.attr));
  row.period = recorded.attr.is_frequency ? 0 : recorded.attr.sample_period;
  id = EventId(builder_.profile().events.size());
  builder_.profile().events.push_back(row);
  return id;
}

ProcessTable::Process& Importer::find_or_add(uint32_t pid) {
  ProcessTable::Process* const known = tasks_.find(pid);
  if (known != nullptr) return *known;
  return tasks_.add(pid, 0, "");
}

void Importer::handle(const MmapRecord& map, const RecordOrigin&, size_t) {
  if (map.length > UINT64_MAX - map.start.value) {
    ledger().add(ledger::kDamagedRecords);
    return;
  }
  if (map.mode == Mode::kernel) return kernel_.map(map);
  if (map.mode == Mode::guest_kernel) return guest_kernel_.map(map);
  if (!map.executable || map.mode == Mode::guest_user) return;
  find_or_add(map.pid);
  const bool is_first = spaces_.mappings(map.pid).empty();
  spaces_.map(map.pid,
              {map.start, map.start + map.length, map.file_offset, images_.intern(map, is_first)});
}

void Importer::handle(const CommRecord& comm, const RecordOrigin&, size_t) {
  ProcessTable::Process& process = find_or_add(comm.pid);
  // What a task without a name did, even before its exec, goes under the first name it gets.
  if (!comm.exec || process.name.empty()) {
    tasks_.rename(process, comm.tid, comm.name, builder_);
    if (!comm.exec) return;
  }
  spaces_.clear(comm.pid);
  tasks_.exec(process, comm.name);
}

void Importer::handle(const ForkRecord& fork, const RecordOrigin&, size_t) {
  if (fork.pid != fork.parent_pid) spaces_.clear(fork.pid);
  find_or_add(fork.parent_pid);
  tasks_.fork(fork.pid, fork.parent_pid, fork.tid, fork.parent_tid);
  if (fork.pid != fork.parent_pid) spaces_.fork(fork.parent_pid, fork.pid);
}

void Importer::handle(const ExitRecord& exit, const RecordOrigin& origin, size_t) {
  ProcessTable::Process* const process = tasks_.find(exit.pid);
  if (process != nullptr) tasks_.exit(*process, exit.tid, origin.time_ns);
  while (const uint32_t pid = tasks_.bury_one(origin.time_ns)) spaces_.clear(pid);
}

void Importer::handle(const ThrottleRecord& throttle, const RecordOrigin&, size_t) {
  if (throttle.throttled) ledger().add(ledger::kThrottled);
}

void Importer::handle(const CgroupRecord& cgroup, const RecordOrigin&, size_t) {
  cgroups_[cgroup.id] = builder_.intern(cgroup.path);
}

void Importer::handle(const KsymbolRecord& symbol, const RecordOrigin&, size_t) {
  kernel_.process(symbol);
}

void Importer::handle(const UnknownRecord& record, const RecordOrigin&, size_t) {
  if (record.type == kTextPoke) ledger().add(ledger::kTextPokes);
}

Location Importer::locate(uint32_t pid, const Frame& frame) {
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
  if (const Mapping* const mapping = spaces_.find(pid, frame.address)) {
    return images_.locate(*mapping, frame.address);
  }
  return images_.locate_unknown(frame.address);
}

ContextId Importer::find_context(const SampleRecord& sample, const RecordOrigin& origin) {
  const ContextId context =
      tasks_.context(find_or_add(origin.pid), origin.tid, sample.mode, builder_);
  if (sample.cgroup == 0) return context;
  Context fields = builder_.profile().contexts[context.value];
  const auto known = cgroups_.find(sample.cgroup);
  fields.cgroup = known != cgroups_.end()
                      ? known->second
                      : builder_.intern(fmt::format("cgroup {}", sample.cgroup));
  return builder_.intern_context(fields);
}

/// What a sample counts for, by event. Leader sampling: one sample stands for every event of
/// its group, each with what its counter has gained since the last one.
std::vector<std::pair<size_t, uint64_t>> Importer::weigh(const SampleRecord& sample,
                                                         const RecordOrigin& origin, size_t event) {
  const EventAttr& attr = file_.attributes().events()[event].attr;
  if ((attr.layout.sample_type & PERF_SAMPLE_READ) == 0) {
    const bool has_period = (attr.layout.sample_type & PERF_SAMPLE_PERIOD) != 0;
    return {{event, has_period ? sample.period : attr.sample_period}};
  }
  std::vector<std::pair<size_t, uint64_t>> weights;
  for (const ReadValue& read : sample.read.values) {
    const uint64_t id = read.id != 0 ? read.id : origin.id;
    const auto member = file_.attributes().find(id);
    if (!member) {
      ledger().add(ledger::kUnknownEvents);
      continue;
    }
    uint64_t& last = read_values_[id];
    const uint64_t gained = read.value - last;
    last = read.value;
    if (gained != 0) weights.emplace_back(*member, gained);
  }
  return weights;
}

StackId Importer::count_stack(const SampleRecord& sample, uint32_t pid, const Location& leaf) {
  const std::vector<Frame> frames = split_callchain(sample.callchain, sample.mode);
  StackId stack;
  // The chain begins with the sampled address itself.
  for (size_t i = frames.size(); i > 1; --i) {
    stack = builder_.intern_stack({stack, locate(pid, frames[i - 1])});
  }
  return builder_.intern_stack({stack, leaf});
}

void Importer::count_branches(const SampleRecord& sample, uint32_t pid, ContextId context,
                              size_t event) {
  const uint64_t kinds = file_.attributes().events()[event].attr.layout.branch_sample_type;
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

void Importer::keep_memory_sample(const SampleRecord& sample, const RecordOrigin& origin,
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

void Importer::handle(const SampleRecord& sample, const RecordOrigin& origin, size_t event) {
  const ContextId context = find_context(sample, origin);
  const Location place = locate(origin.pid, {sample.ip, sample.mode});
  if (builder_.profile().images[place.image.value].kind == ImageKind::unknown) {
    ledger().add(ledger::kUnknownAddress);
  }
  StackId stack;
  if (!sample.callchain.empty()) stack = count_stack(sample, origin.pid, place);
  if (!sample.branches.empty()) count_branches(sample, origin.pid, context, event);
  if (!sample.raw.empty()) ledger().add(ledger::kRawFields);
  const uint64_t type = file_.attributes().events()[event].attr.layout.sample_type;
  // Loads and stores have a source; other events with an address (page faults) just that.
  constexpr uint64_t kNoSource = PERF_MEM_S(OP, NA) | PERF_MEM_S(LVL, NA) | PERF_MEM_S(SNOOP, NA) |
                                 PERF_MEM_S(LOCK, NA) | PERF_MEM_S(TLB, NA);
  const bool has_source = (type & PERF_SAMPLE_DATA_SRC) != 0 &&
                          (sample.data_source & kNoSource) != kNoSource && sample.data_source != 0;
  const bool is_memory = has_source || sample.data_address != 0;
  for (const auto& [member, value] : weigh(sample, origin, event)) {
    const Counted counted{context, find_event_row(member), value};
    builder_.add(context, place, counted.event, 1, value);
    if (!stack.is_all()) builder_.add_stack(context, stack, counted.event, 1, value);
    if (is_memory) keep_memory_sample(sample, origin, place, counted);
    ++samples_;
  }
  first_ns_ = std::min(first_ns_, origin.time_ns);
  last_ns_ = std::max(last_ns_, origin.time_ns);
}

Result<void> Importer::deliver(const RawRecord& record) {
  const auto event = file_.attributes().find_event(record.bytes, record.header.type);
  if (!event) {
    ledger().add(ledger::kUnknownEvents);
    return {};
  }
  const Result<Record> parsed =
      parse_record(record.bytes, file_.attributes().events()[*event].attr.layout);
  if (!parsed) {
    ledger().add(ledger::kDamagedRecords);
    return {};
  }
  std::visit([&](const auto& body) { handle(body, parsed->origin, *event); }, parsed->body);
  return flush_if_much();
}

Result<void> Importer::flush_if_much() {
  constexpr size_t kMuch = size_t{1} << 20;
  if (builder_.entries() < kMuch || !sink_) return {};
  builder_.take_counts();
  RETURN_IF_ERROR(sink_(builder_.profile()));
  clear_counts(builder_.profile());
  return {};
}

Result<void> Importer::take(RawRecord record) {
  constexpr uint64_t kRecordsPerProgress = 1 << 14;
  if (++records_ % kRecordsPerProgress == 0 && progress_) {
    is_stopped_ = !progress_(file_.consumed_bytes(), file_.total_bytes());
  }
  if (record.header.type >= kFirstUserRecord) return ordered_.end_round();
  const std::vector<RecordedEvent>& events = file_.attributes().events();
  if (events.empty()) return Error{"it has records before the events that they belong to"};
  const auto event = file_.attributes().find_event(record.bytes, record.header.type);
  const RecordLayout& layout = events[event.value_or(0)].attr.layout;
  // Without times in all records (before Linux 2.6.38) the file's order is the only one.
  const std::optional<uint64_t> time_ns =
      layout.sample_id_all ? find_record_time(record.bytes, layout) : std::nullopt;
  if (!time_ns || *time_ns == 0 || *time_ns == UINT64_MAX) return deliver(record);
  return ordered_.push(*time_ns, std::move(record));
}

Result<void> Importer::read_all() {
  while (!is_stopped_) {
    Result<std::optional<RawRecord>> record = file_.next();
    if (!record) {
      if (records_ == 0 && samples_ == 0) return record.error();
      // What came before the damage is good.
      remarks_.push_back(
          fmt::format("the file is damaged, read as far as it goes: {}", record.error().message));
      ledger().note(remarks_.back());
      break;
    }
    if (!*record) break;
    RETURN_IF_ERROR(take(std::move(**record)));
  }
  return ordered_.end();
}

void Importer::describe_run() {
  const RecordedFacts& facts = file_.facts();
  Profile& profile = builder_.profile();
  profile.machine.architecture = facts.architecture;
  profile.machine.cpu_model = facts.cpu_model;
  profile.machine.kernel_release = facts.kernel_release;
  profile.machine.cpus_online = facts.cpus_online;
  for (const RecordedEvent& event : file_.attributes().events()) {
    profile.machine.has_pmu |= find_engine(event.attr) == "pmu";
  }
  Run& run = profile.runs[0];
  run.host = builder_.intern(facts.host);
  run.command = builder_.intern(facts.command);
  const auto [first_ns, last_ns] = facts.sample_time_ns.value_or(std::pair(first_ns_, last_ns_));
  if (last_ns > first_ns) run.duration_ns = static_cast<int64_t>(last_ns - first_ns);
  if (facts.clocks_ns && last_ns >= first_ns) {
    const auto [sample_ns, real_ns] = *facts.clocks_ns;
    run.start_ns = static_cast<int64_t>(real_ns + (first_ns - sample_ns));
  }
  const auto keep = [&](const char* key, const std::string& value) {
    if (!value.empty()) profile.environment[key] = value;
  };
  keep("perf version", facts.perf_version);
  for (size_t i = 0; i < facts.cpu_kinds.size(); ++i) {
    keep(fmt::format("kind of CPU {}", i + 1).c_str(), facts.cpu_kinds[i]);
  }
  for (size_t i = 0; i < facts.groups.size(); ++i) {
    keep(fmt::format("event group {}", i + 1).c_str(), facts.groups[i]);
  }
  for (const RecordedBuildId& found : facts.build_ids) {
    images_.set_build_id(found.mode, found.path, found.build_id);
    if (found.mode == Mode::kernel) kernel_.set_build_id(found.path, found.build_id);
    if (found.mode == Mode::guest_kernel) guest_kernel_.set_build_id(found.path, found.build_id);
  }
}

void Importer::describe_losses() {
  const std::vector<RecordedEvent>& events = file_.attributes().events();
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
  add(ledger::kAuxBytes, file_.aux_bytes());
  add(ledger::kLateRecords, ordered_.late());
  add(ledger::kDamagedRecords, file_.damaged_records());
  if (file_.is_unfinished()) {
    remarks_.emplace_back(
        "perf did not finish this file (was it killed?): read to its end, "
        "without names of events, host and build-ids");
    ledger().note(remarks_.back());
  }
}

Result<Imported> Importer::run() {
  RETURN_IF_ERROR(read_all());
  describe_run();
  describe_losses();
  builder_.take_counts();
  Imported imported;
  imported.facts = kernel_.release_facts();
  imported.samples = samples_;
  imported.lost = lost_samples_ + lost_records_;
  imported.is_stopped = is_stopped_;
  imported.remarks = std::move(remarks_);
  imported.profile = std::move(builder_.profile());
  return imported;
}

}  // namespace

Result<Imported> import_perf_data(const ImportOptions& options, const ImportSink& sink,
                                  const ImportProgress& progress) {
  ASSIGN_OR_RETURN(PerfDataFile file, PerfDataFile::open(options.path));
  Result<Imported> imported = Importer(file, sink, progress).run();
  if (!imported) {
    return Error{fmt::format("cannot import '{}': {}", options.path, imported.error().message)};
  }
  return imported;
}

}  // namespace culprit
