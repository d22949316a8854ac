#include "perfdata/record_importer.h"

#include <algorithm>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <utility>

#include "model/engine.h"
#include "model/event_names.h"

namespace culprit {

namespace {

/// No sample stands for more: it would be three days of a CPU's time, or a day of its cycles.
constexpr uint64_t kLargestValue = uint64_t{1} << 48;

bool is_dummy(const EventAttr& attr) {
  return attr.type == PERF_TYPE_SOFTWARE && attr.config == PERF_COUNT_SW_DUMMY;
}

}  // namespace

RecordImporter::RecordImporter(const Attributes& attributes, const ImportSink& sink)
    : attributes_(attributes), sink_(sink) {
  builder_.begin_run();
  // perf knows the idle tasks without a record.
  follower_.tasks().add(0, 0, "swapper");
}

void RecordImporter::remark(const std::string& sentence) {
  remarks_.push_back(sentence);
  ledger().note(sentence);
}

/// The profile's row of an event; made when its first sample comes.
EventId RecordImporter::find_event_row(size_t event) {
  if (event >= event_rows_.size()) event_rows_.resize(attributes_.events().size());
  if (event_rows_[event].is_all()) event_rows_[event] = add_event_row(attributes_.events()[event]);
  return event_rows_[event];
}

/// Takes what has been added up. Before the first counts leave, the rows of events are put in the
/// file's order: reports begin with the first. (Those that come later in a long file follow.)
void RecordImporter::take_counts() {
  builder_.take_counts();
  if (std::exchange(are_events_ordered_, true)) return;
  Profile& profile = builder_.profile();
  std::vector<Event> ordered;
  std::vector<EventId> moved(profile.events.size());
  for (EventId& row : event_rows_) {
    if (row.is_all()) continue;
    moved[row.value] = EventId(ordered.size());
    ordered.push_back(profile.events[row.value]);
    row = moved[row.value];
  }
  profile.events = std::move(ordered);
  for (Histogram& histogram : profile.histograms) {
    for (EventColumn& column : histogram.columns) column.event = moved[column.event.value];
    std::sort(histogram.columns.begin(), histogram.columns.end(),
              [](const EventColumn& a, const EventColumn& b) { return a.event < b.event; });
  }
  for (StackCount& count : profile.stack_counts) count.cell.event = moved[count.cell.event.value];
  std::sort(profile.stack_counts.begin(), profile.stack_counts.end());
  for (SampledAccess& one : profile.sampled_accesses) one.event = moved[one.event.value];
  std::sort(profile.sampled_accesses.begin(), profile.sampled_accesses.end());
  for (Count& count : profile.counts) count.event = moved[count.event.value];
  for (SliceCount& count : profile.slice_counts) count.cell.event = moved[count.cell.event.value];
  std::sort(profile.slice_counts.begin(), profile.slice_counts.end());
}

EventId RecordImporter::add_event_row(const RecordedEvent& recorded) {
  const std::string name = name_event(recorded);
  Event row;
  row.name = builder_.intern(name);
  row.unit = recorded.has_periods ? find_sampled_unit(name) : Unit::events;
  row.provenance = Provenance::sampled;
  row.engine = builder_.intern(word_of(find_engine(recorded.attr.type, recorded.attr.config)));
  if (recorded.has_attr) row.encoding = builder_.intern(format_encoding(recorded.attr));
  row.period = recorded.attr.is_frequency ? 0 : recorded.attr.sample_period;
  builder_.profile().events.push_back(row);
  return EventId(builder_.profile().events.size() - 1);
}

bool RecordImporter::is_mapped(uint32_t pid, std::string_view path, RunAddress address) const {
  const Mapping* const mapping = follower_.spaces().find(pid, address);
  return mapping != nullptr && places_.path(*mapping) == path;
}

std::optional<RunAddress> RecordImporter::find_mapped(uint32_t pid, std::string_view path,
                                                      FileOffset offset) const {
  for (const Mapping& mapping : follower_.spaces().mappings(pid)) {
    if (offset.value < mapping.file_offset) continue;
    const uint64_t into = offset.value - mapping.file_offset;
    if (into < mapping.end - mapping.start && places_.path(mapping) == path) {
      return mapping.start + into;
    }
  }
  return std::nullopt;
}

/// Whether the record can be right. Those that cannot be are counted, and left out.
bool RecordImporter::is_possible(uint64_t value) {
  if (value <= kLargestValue) return true;
  ledger().add(ledger::kDamagedRecords);
  return false;
}

/// What a sample counts for. Leader sampling: one sample stands for every event of its group,
/// each with what its counter has gained since the last one.
void RecordImporter::weigh(const SampleRecord& sample, const RecordOrigin& origin, size_t event) {
  weights_.clear();
  const EventAttr& attr = attributes_.events()[event].attr;
  if ((attr.layout.sample_type & PERF_SAMPLE_READ) == 0) {
    const bool has_period = (attr.layout.sample_type & PERF_SAMPLE_PERIOD) != 0;
    const uint64_t value = has_period ? sample.period : attr.sample_period;
    if (is_possible(value)) weights_.push_back({find_event_row(event), value});
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
    if (!is_possible(gained)) continue;
    last = read.value;
    if (gained != 0) weights_.push_back({find_event_row(*member), gained});
  }
}

OpenMappedFile RecordImporter::make_opener(const OpenImage& open) {
  if (!open) return {};
  return [this, open](uint32_t pid, const Mapping& mapping) -> std::optional<Fd> {
    const std::optional<ImageId> image = places_.find_image(pid, mapping);
    if (!image) return std::nullopt;
    const Image& row = builder_.profile().images[image->value];
    return open(row, builder_.profile().strings.text(row.path));
  };
}

void RecordImporter::unwind_with(const std::string& architecture, const ImportTools& tools) {
  follower_.unwind_with(tools.make_unwinder(architecture, make_opener(tools.open_image)));
}

void RecordImporter::place_data_with(const std::string& architecture, const ImportTools& tools) {
  builder_.profile().machine.architecture = architecture;
  follower_.place_data_with({make_opener(tools.open_image), tools.read_data});
}

void RecordImporter::count(const SampleRecord& sample, const RecordOrigin& origin, size_t event) {
  weigh(sample, origin, event);
  if (!sample.raw.empty()) ledger().add(ledger::kRawFields);
  extend_time(origin.time_ns);
  follower_.count(sample, origin, attributes_.events()[event].attr.layout, weights_);
  samples_ += weights_.size();
}

Result<void> RecordImporter::add(const PlainSample& sample, size_t event) {
  const EventAttr& attr = attributes_.events()[event].attr;
  const bool has_period = (attr.layout.sample_type & PERF_SAMPLE_PERIOD) != 0;
  const uint64_t value = has_period ? sample.period : attr.sample_period;
  if (!is_possible(value)) return {};
  extend_time(sample.time_ns);
  follower_.count(sample, {find_event_row(event), value});
  ++samples_;
  return flush_if_much();
}

void RecordImporter::add_counts(const StatRecords& counted) {
  if (counted.is_empty()) return;
  Profile& profile = builder_.profile();
  Context whole;
  whole.run = builder_.run_id();
  const ContextId context = builder_.intern_context(whole);
  for (const IntervalCount& row : counted.counts()) {
    const EventId event = find_event_row(row.event);
    Event& counter = profile.events[event.value];
    counter.provenance = Provenance::counted;
    counter.unit = find_sampled_unit(profile.strings.text(counter.name));
    profile.counts.push_back(
        {context, event, row.interval, 0, row.value, row.time_enabled_ns, row.time_running_ns});
  }
  counted_ns_ = counted.end_ns();
}

/// Before the sample is counted: the run begins with the first one.
void RecordImporter::extend_time(uint64_t time_ns) {
  if (last_ns_ == 0 && time_ns != 0) builder_.begin_time(time_ns);
  first_ns_ = std::min(first_ns_, time_ns);
  last_ns_ = std::max(last_ns_, time_ns);
}

Result<void> RecordImporter::add(const Record& record, size_t event) {
  if (const auto* const sample = std::get_if<SampleRecord>(&record.body)) {
    count(*sample, record.origin, event);
  } else {
    follower_.follow(record);
  }
  return flush_if_much();
}

Result<void> RecordImporter::flush_if_much() {
  constexpr size_t kMuch = size_t{1} << 19;
  if (builder_.entries() < kMuch || !sink_) return {};
  take_counts();
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
    profile.machine.has_pmu |= find_engine(event.attr.type, event.attr.config) == Engine::pmu;
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
  Run& run = builder_.run();
  run.host = builder_.intern(facts.host);
  run.command = builder_.intern(facts.command);
  const auto [first_ns, last_ns] = facts.sample_time_ns.value_or(std::pair(first_ns_, last_ns_));
  if (last_ns > first_ns) run.duration_ns = static_cast<int64_t>(last_ns - first_ns);
  if (counted_ns_) {
    run.duration_ns = static_cast<int64_t>(std::min<uint64_t>(*counted_ns_, INT64_MAX));
  }
  if (facts.clocks_ns && last_ns >= first_ns) {
    const auto [sample_ns, real_ns] = *facts.clocks_ns;
    run.start_ns = static_cast<int64_t>(real_ns + (first_ns - sample_ns));
  }
  for (const RecordedBuildId& found : facts.build_ids) places_.set_build_id(found);
}

void RecordImporter::describe_losses() {
  const std::vector<RecordedEvent>& events = attributes_.events();
  event_rows_.resize(events.size());
  for (size_t event = 0; event < events.size(); ++event) {
    if (!event_rows_[event].is_all() || is_dummy(events[event].attr)) continue;
    ledger().note(fmt::format("no samples of {}", name_event(events[event])));
  }
  const auto add = [&](const LedgerKind& kind, uint64_t amount) {
    if (amount != 0) ledger().add(kind, amount);
  };
  add(ledger::kLostRecords, follower_.lost_records());
  add(ledger::kLostSamples, follower_.lost_samples());
}

Imported RecordImporter::finish(const RecordedFacts& facts) {
  describe_machine(facts);
  describe_run(facts);
  describe_losses();
  take_counts();
  Imported imported;
  imported.facts = places_.release_facts();
  imported.samples = samples_;
  imported.lost = follower_.lost_samples() + follower_.lost_records();
  imported.remarks = std::move(remarks_);
  imported.profile = std::move(builder_.profile());
  for (auto& [image, known] : imported.facts) known.architecture = facts.architecture;
  return imported;
}

}  // namespace culprit
