#include "simulate/simulated_profile.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

#include "base/names.h"
#include "base/text.h"
#include "model/engine.h"
#include "model/ledger.h"
#include "model/merge.h"
#include "records/mapped_path.h"
#include "simulate/objects/data_objects.h"
#include "simulate/sampled_counts.h"
#include "simulate/simulated_branches.h"
#include "simulate/site_histograms.h"

namespace culprit {
namespace {

/// What the kernel calls a task, which is cut, or the program it is named after.
std::string whole_name(const std::string& comm, std::string_view program) {
  constexpr size_t kCommLength = 15;
  const std::string whole = base_name(program);
  return comm.empty() || comm == whole.substr(0, kCommLength) ? whole : comm;
}

}  // namespace

SimulatedProfile::SimulatedProfile(SimulatedDetail detail, simulate::SetSample sample,
                                   bool branches)
    : events_(simulated_events(detail)),
      sample_(std::move(sample)),
      tasks_(true),
      keeps_branches_(branches) {
  Profile& profile = builder_.profile();
  for (const SimulatedEvent& event : events_) {
    Event row;
    row.name = builder_.intern(event.name);
    row.unit = event.unit;
    row.scale = event.scale;
    row.provenance = event.unit == Unit::cycles ? Provenance::modelled : Provenance::counted;
    if (event.is_estimate) {
      row.provenance = Provenance::sampled;
      row.period = sample_.one_of();
    }
    if (event.is_of_windows && event.unit == Unit::events) row.provenance = Provenance::sampled;
    row.engine = builder_.intern(word_of(Engine::simulate));
    row.encoding = builder_.intern(fmt::format("simulate:{}:u", event.name));
    profile.events.push_back(row);
  }
}

SimulatedProfile::Place SimulatedProfile::intern(uint32_t pid,
                                                 const counts_file::MappedRange& mapping,
                                                 const std::string& path) {
  if (path.empty() || mapping.end <= mapping.start) return {};
  MmapRecord record;
  record.pid = pid;
  record.start = RunAddress(mapping.start);
  record.length = mapping.end - mapping.start;
  record.file_offset = mapping.file_offset;
  record.inode = mapping.inode;
  record.device_major = mapping.device_major;
  record.device_minor = mapping.device_minor;
  record.path = path;
  jit_.note_mapping(pid, path);
  return {make_mapping(record, images_.intern(record)), true};
}

void SimulatedProfile::see(const CountsSummary& summary) {
  for (size_t number = 0; number < summary.mappings.size(); ++number) {
    const Place place = intern(summary.pid, summary.mappings[number], summary.paths[number]);
    if (place.has_file) images_.locate(summary.pid, place.mapping, place.mapping.start, builder_);
  }
  if (!summary.has_made_code) return;
  if (summary.is_fork && forks_seen_.insert({summary.pid, summary.start_ns}).second) {
    jit_.fork(summary.parent_pid, summary.pid);
  }
  jit_.watch(summary.pid);
  jit_.refresh(summary.pid);
}

Location SimulatedProfile::locate(const ProcessCounts& counts, const std::vector<Place>& places,
                                  uint64_t value, uint32_t mapping) {
  const RunAddress address(value);
  const Place& place = places[mapping];
  if (place.has_file && address >= place.mapping.start && address < place.mapping.end) {
    if (const auto found = images_.locate(counts.pid, place.mapping, address, builder_)) {
      return *found;
    }
  }
  if (const auto made = jit_.locate(counts.pid, address, UINT64_MAX, builder_)) return *made;
  if (anonymous_.is_all()) {
    Image row;
    row.path = builder_.intern(kAnonymousPath);
    anonymous_ = ImageId(builder_.profile().images.size());
    builder_.profile().images.push_back(row);
  }
  return {anonymous_, FileOffset(value)};
}

size_t SimulatedProfile::instructions_event() const {
  const auto found = std::find_if(events_.begin(), events_.end(),
                                  [](const auto& one) { return one.name == "instructions"; });
  return static_cast<size_t>(found - events_.begin());
}

void SimulatedProfile::count_executions(const SimulatedSite& site) {
  executions_ += site.executions;
  if ((site.site.flags & counts_file::kUnknownCosts) != 0) unknown_costs_ += site.executions;
}

void SimulatedProfile::add_sites(const ThreadCounts& thread, ContextId context,
                                 const SiteOf& site_of, const LocateAny& locate,
                                 const std::optional<WindowEstimates>& windows) {
  const auto rest_of = [&](uint32_t site) {
    return thread.executions[site] - std::min(thread.executions[site], thread.beginning[site]);
  };
  for (const uint32_t site : thread.ran) {
    count_executions(site_of(site));
    if (windows && thread.is_not_covered[site]) not_covered_ += rest_of(site);
  }
  VarianceOf variance_of;
  if (windows) {
    has_estimates_ = has_estimates_ || windows->has_any();
    variance_of = [&](uint32_t site, size_t event) {
      return events_[event].is_of_windows ? windows->variance(site, event, rest_of(site)) : 0;
    };
  }
  const EventId instructions(instructions_event());
  for (Histogram& one :
       make_site_histograms(events_, context, thread.ran, site_of, locate, variance_of)) {
    for (const EventColumn& column : one.columns) {
      if (column.event != instructions) continue;
      instructions_ = std::accumulate(column.value.begin(), column.value.end(), instructions_);
    }
    builder_.add(std::move(one));
  }
}

void SimulatedProfile::add_site(const SimulatedSite& site, ContextId context,
                                const Location& location, std::optional<ObjectId> object) {
  for (size_t event = 0; event < events_.size(); ++event) {
    const uint64_t value = events_[event].value(site);
    if (value == 0 || events_[event].is_estimate) continue;
    // What an instruction accesses is at its objects; what is left was not told apart.
    ObjectId at = object.value_or(ObjectId());
    if (has_objects_ && !object && !events_[event].is_of_data) at = kNoAccess;
    const double variance = events_[event].variance == nullptr ? 0 : events_[event].variance(site);
    if (variance > 0) {
      builder_.profile().events[event].provenance = Provenance::sampled;
      has_shared_accesses_ = true;
    }
    builder_.add(context, location, EventId(event), 0, value, variance, at);
    if (events_[event].name == "instructions") instructions_ += value;
  }
  count_executions(site);
}

void SimulatedProfile::add_sampled_site(const SimulatedSite& site,
                                        const counts_file::CertainMisses& certain, uint32_t weight,
                                        double design_effect, ContextId context,
                                        const Location& location, std::optional<ObjectId> object) {
  counts_file::SiteCounts in_certain{};
  std::copy_n(certain.value, std::size(certain.value),
              in_certain.value + static_cast<size_t>(counts_file::Counter::load_l2));
  const SimulatedSite same{site.site, site.executions, in_certain, site.ticks, site.replays};
  for (size_t event = 0; event < events_.size(); ++event) {
    if (!events_[event].is_estimate) continue;
    const uint64_t drawn = events_[event].value(site);
    const uint64_t exact = events_[event].value(same);
    if (drawn == 0 && exact == 0) continue;
    ObjectId at = object.value_or(ObjectId());
    if (has_objects_ && !object && !events_[event].is_of_data) at = kNoAccess;
    const simulate::SampledCount all = simulate::estimate_part(drawn, weight, design_effect);
    builder_.add(context, location, EventId(event), drawn, exact + drawn * weight, all.variance,
                 at);
  }
}

Result<void> SimulatedProfile::add(const CountsFile& file, const counting::Tenures& tenures) {
  static constexpr simulate::SiteTicks kNoTicks;
  static constexpr simulate::ReplayTicks kNoReplays;
  const ProcessCounts& counts = file.process();
  std::vector<Place> places;
  for (size_t number = 0; number < counts.mappings.size(); ++number) {
    places.push_back(intern(counts.pid, counts.mappings[number], counts.paths[number]));
  }
  std::vector<Location> locations(counts.sites.size());  // of those that were asked for
  const auto locate_site = [&](uint32_t site) {
    if (locations[site].image.is_all()) {
      locations[site] =
          locate(counts, places, counts.sites[site].address, counts.sites[site].mapping);
    }
    return locations[site];
  };
  tasks_.forget(counts.pid);
  ProcessTable::Process& process =
      tasks_.add(counts.pid, counts.parent_pid, base_name(counts.program));
  process.is_counted = true;
  std::vector<ContextId> contexts(counts_file::kThreadsApart + 1);  // by number of thread
  const auto context_of = [&](uint32_t number, uint32_t tid, const std::string& name) {
    ContextId& context = contexts[std::min(number, counts_file::kThreadsApart)];
    if (!context.is_all()) return context;
    ProcessTable::Thread& thread = process.threads[tid];
    thread.name = whole_name(name, counts.program);
    if (number == 0) process.name = thread.name;
    thread.ordinal = tid == 0 ? 0 : number + 1;
    context = tasks_.context(process, tid, Mode::user, builder_);
    return context;
  };
  // All threads have the same sets simulated: how good they are is the process's.
  const std::vector<double> effects =
      estimate_design_effects(counts);  // empty: nothing to estimate
  const std::vector<ObjectId> objects = add_objects(counts, places, locate_site);
  const auto object_of = [&](uint32_t site) -> std::optional<ObjectId> {
    if (objects.empty() || counts.site_objects[site].instruction == 0) return std::nullopt;
    return objects[counts.site_objects[site].object];
  };
  std::optional<WindowEstimates> windows;
  std::function<void(ThreadCounts&)> estimate;
  if (file.has_windows()) {
    ASSIGN_OR_RETURN(windows, WindowEstimates::make(file, events_));
    estimate = [&](ThreadCounts& thread) { windows->estimate(thread); };
  }
  uint64_t other_targets = 0;
  regions_.begin(counts, [&](uint64_t address, uint32_t mapping) {
    return locate(counts, places, address, mapping);
  });
  const EventId instructions(instructions_event());
  const auto add_thread = [&](const ThreadCounts& thread) {
    const ContextId outside = context_of(thread.number, thread.tid, thread.name);
    const ContextId context = regions_.context(outside, thread.region);
    const uint64_t before = instructions_;
    const auto site_of = [&](uint32_t site) {
      const auto variance = thread.access_variance.empty() ? ThreadCounts::AccessVariance()
                                                           : thread.access_variance[site];
      return SimulatedSite{counts.sites[site],
                           thread.executions[site],
                           thread.counts[site],
                           thread.ticks.empty() ? kNoTicks : thread.ticks[site],
                           thread.replays.empty() ? kNoReplays : thread.replays[site],
                           variance.loads,
                           variance.stores};
    };
    const auto add_one = [&](uint32_t site, std::optional<ObjectId> object) {
      const SimulatedSite one = site_of(site);
      add_site(one, context, locate_site(site), object);
      if (thread.certain.empty()) return;
      add_sampled_site(one, thread.certain[site], counts.sample_weight, effects[site], context,
                       locate_site(site), object);
    };
    if (!has_objects_ && thread.certain.empty()) {
      add_sites(thread, context, site_of, locate_site, windows);
    } else {
      for (const uint32_t site : thread.ran) add_one(site, std::nullopt);
      for (const uint32_t site : thread.at_objects) add_one(site, object_of(site));
    }
    if (keeps_branches_) {
      other_targets += add_branches(counts, thread, locations, context, builder_);
    }
    regions_.add(outside, thread.region, instructions, instructions_ - before);
  };
  RETURN_IF_ERROR(file.visit_threads(add_thread, estimate));
  add_offsets(counts, objects, locate_site, context_of(0, 0, kOtherThreads));
  if (other_targets > 0) builder_.profile().ledger.add(ledger::kOtherTargets, other_targets);
  const auto find_place = [&](uint32_t site) -> std::optional<SitePlace> {
    if (site >= counts.sites.size()) return std::nullopt;
    return SitePlace{locate_site(site), (counts.sites[site].flags & counts_file::kFloat) != 0,
                     object_of(site)};
  };
  note_sample(counts);
  add_tenures(tenures, counts.sample_weight, find_place,
              [&](uint32_t number) { return context_of(number, 0, kOtherThreads); });
  add_to_ledger(counts);
  return {};
}

/// Says it where the sample cannot tell what happened.
void SimulatedProfile::note_sample(const ProcessCounts& counts) {
  if (counts.sample_classes == 0) return;
  has_drawn_sets_ = has_drawn_sets_ || counts.sample_weight > 1;
  const std::vector<uint64_t>& accesses = counts.sampled_accesses;
  const double all = std::accumulate(accesses.begin(), accesses.end(), 0.0);
  double most = 0;
  for (size_t group = 0; group < accesses.size(); ++group) {
    if (counts.strata[group] != simulate::SetSample::kNotTaken) continue;
    most = std::max(most, static_cast<double>(accesses[group]));
  }
  constexpr double kMuch = 0.1;  // of all accesses
  if (most <= kMuch * all) return;
  builder_.profile().ledger.note(fmt::format(
      "{:.0f} % of the accesses of {} since the sample of sets began are in one {}th of the sets "
      "that it does not hold: what is there is missing in the estimates (another seed: --sets "
      "1/N,SEED; --sets all)",
      100 * most / all, printable(counts.program), accesses.size()));
}

void SimulatedProfile::add_to_ledger(const ProcessCounts& counts) {
  Ledger& ledger = builder_.profile().ledger;
  const auto add = [&](const LedgerKind& kind, uint64_t amount) {
    if (amount > 0) ledger.add(kind, amount);
  };
  add(ledger::kSystemCalls, counts.system_calls);
  add(ledger::kSystemCallTime, counts.system_call_ns);
  add(ledger::kNotSimulatedPrograms, counts.native_execs);
  add(ledger::kUncountedBlocks, counts.uncounted_blocks);
  add(ledger::kUncountedThreads, counts.uncounted_cores);
  if (counts.threads_begun > counts_file::kThreadsApart) {
    add(ledger::kFoldedThreads, counts.threads_begun - counts_file::kThreadsApart);
  }
  add(ledger::kUnseenAllocations, counts.unseen_allocations);
  if (counts.blocks_not_apart > 0) {
    builder_.profile().ledger.note(fmt::format(
        "{} blocks of the heap are under the places that allocate them: the {} largest ones are "
        "objects of their own",
        format_thousands(counts.blocks_not_apart),
        format_thousands(objects::DataObjects::kMostInstances)));
  }
  if (counts.has_objects && !counts.has_allocators) {
    ledger.note(
        fmt::format("no function that allocates is known in {}: blocks of its heap are not "
                    "told apart",
                    counts.program));
  }
  if (counts.lost_ranges > 0) {
    ledger.note(fmt::format(
        "{} ranges that {} marked are not told apart: more than {} at a time, or "
        "without a name",
        counts.lost_ranges, printable(counts.program), objects::DataObjects::kMostMarks));
  }
  if (counts.lost_windows > 0) {
    ledger.note(fmt::format("{} windows of {} could not be written: estimates rest on the others",
                            counts.lost_windows, printable(counts.program)));
  }
  add(ledger::kOutsideRegion, counts.outside_instructions);
  add(ledger::kStoppedAtLimit, counts.is_stopped ? 1 : 0);
}

Profile SimulatedProfile::so_far() const {
  ProfileBuilder copy = builder_;
  copy.take_counts();
  return std::move(copy.profile());
}

/// What was added is in the histograms: nothing is left behind on the way into them.
void SimulatedProfile::check_sum() {
  uint64_t sum = 0;
  for (const Histogram& histogram : builder_.profile().histograms) {
    for (const EventColumn& column : histogram.columns) {
      if (events_[column.event.value].name != "instructions") continue;
      sum = std::accumulate(column.value.begin(), column.value.end(), sum);
    }
  }
  if (sum < instructions_) {
    builder_.profile().ledger.add(ledger::kMissingInstructions, instructions_ - sum);
  }
}

/// What was measured whole is exact: nothing was estimated.
void SimulatedProfile::finish_windows() {
  Profile& profile = builder_.profile();
  if (not_covered_ > 0) {
    profile.ledger.note(fmt::format(
        "{} instructions ({:.2g} %) ran in code that no window met: neither their cycles nor their "
        "misses are covered",
        format_thousands(not_covered_),
        100 * static_cast<double>(not_covered_) /
            static_cast<double>(std::max<uint64_t>(instructions_, 1))));
  }
  if (has_estimates_) return;
  for (size_t event = 0; event < events_.size(); ++event) {
    Provenance& provenance = profile.events[event].provenance;
    if (events_[event].is_of_windows && provenance == Provenance::sampled) {
      provenance = Provenance::counted;
    }
  }
}

void SimulatedProfile::settle_sample() {
  if (has_shared_accesses_) {
    builder_.profile().ledger.note(
        fmt::format("which data objects an instruction's accesses are of is estimated, since the "
                    "sample of sets began, from one access in {}, chosen at random; how many it "
                    "has made is exact",
                    counts_file::kLookedAtPeriod));
  }
  if (has_drawn_sets_) return;
  for (size_t event = 0; event < events_.size(); ++event) {
    if (!events_[event].is_estimate) continue;
    builder_.profile().events[event].provenance = Provenance::counted;
    builder_.profile().events[event].period = 0;
  }
}

Recording SimulatedProfile::finish() {
  builder_.take_counts();
  check_sum();
  finish_windows();
  if (unknown_costs_ > 0) builder_.profile().ledger.add(ledger::kUnknownCosts, unknown_costs_);
  merge_rows(builder_.profile().tenures, builder_.profile().events);
  merge_rows(builder_.profile().edges, builder_.profile().events);
  merge_rows(builder_.profile().access_offsets, builder_.profile().events);
  Recording recording;
  recording.held = images_.release();
  recording.jit_facts = jit_.release_facts();
  jit_.add_to(builder_.profile().ledger);
  recording.profile = std::move(builder_.profile());
  return recording;
}

}  // namespace culprit
