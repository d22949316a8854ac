#include "daemon/sample_placer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>

#include "base/time.h"
#include "daemon/describe_epoch.h"
#include "daemon/epoch_rows.h"
#include "daemon/silent_files.h"
#include "model/idle_time.h"
#include "model/profiler_path.h"
#include "records/callchain.h"

namespace culprit {

namespace {

constexpr std::string_view kBusy = "[unknown: its address space was locked]";
constexpr std::string_view kUnmapped = "[unknown: nothing is mapped there]";
// JIT compilers write their files in pieces: names of new code come some seconds late.
constexpr uint64_t kWaitNs = 12'000'000'000;
constexpr size_t kMostWaiting = 1 << 16;

std::string path_of(const image_record& record) {
  std::string path = record.is_cut != 0 ? "..." : "";
  for (uint32_t part = std::min<uint32_t>(record.parts, PATH_PARTS); part-- > 0;) {
    const char* name = record.path[part];
    path += '/' + std::string(name, ::strnlen(name, PATH_PART_BYTES));
  }
  return path + (record.is_deleted != 0 ? " (deleted)" : "");
}

}  // namespace

struct SamplePlacer::Who {
  who_key key{};
  std::array<ContextId, 2>
      contexts;  // of user and kernel, in the epoch of that serial; all: none yet
  uint64_t serial = 0;
};

/// What the numbers mean that the kernel gives to images and tasks, and the images themselves.
struct SamplePlacer::Names {
  struct Watched {
    uint64_t start_ns = 0;
    uint32_t execs = 0;
  };

  ProfileBuilder builder;  // of rows of images only
  LiveImages images{builder, [](uint32_t) {}};
  std::unordered_map<uint32_t, ImageId> files;  // all: it has no code of its own
  std::unordered_map<uint32_t, Who> whos;
  std::map<uint32_t, Watched> watched;   // processes with code that has no file
  std::map<FileKey, ImageId> untouched;  // files that are not opened
  std::map<ImageId, ImageFacts> facts;   // of code made at run time
  ImageId vdso;
  std::vector<ImageId> rows;  // in the epoch of that serial, by image; all: none yet
  uint64_t rows_serial = 0;

  void keep_facts() {
    for (auto& [image, its] : images.release_facts()) facts.insert_or_assign(image, std::move(its));
  }
};

SamplePlacer::SamplePlacer(bool by_process)
    : names_(std::make_shared<Names>()),
      nobody_(std::make_unique<Who>()),
      contexts_(epoch_, by_process) {}
SamplePlacer::~SamplePlacer() = default;

uint64_t SamplePlacer::Weight::take(uint64_t of_samples) {
  if (samples == 0) return 0;
  remainder += of_samples * (value % samples);
  const uint64_t part = of_samples * (value / samples) + remainder / samples;
  remainder %= samples;
  return part;
}

void SamplePlacer::begin_epoch(ProfileBuilder epoch) {
  epoch_ = std::move(epoch);
  const Profile& profile = epoch_.profile();
  weights_.assign(profile.events.size(), {});
  event_totals_.clear();
  for (size_t i = 1; i < profile.events.size(); ++i) {
    const Event& event = profile.events[i];
    event_totals_.push_back({std::string(profile.strings.text(event.name)), event.period, 0, 0, 0});
  }
  names_->builder.profile().machine = epoch_.profile().machine;
  totals_ = {};
  expected_ = 0;
  handled_clocks_ = 0;
  idle_ns_ = 0;
  ++epoch_serial_;
  reasons_.clear();
  contexts_.begin_epoch();
}

/// The file is opened at once.
void SamplePlacer::note_image(const image_record& record) {
  MmapRecord map;
  map.pid = record.pid;
  map.start = RunAddress(record.start);
  map.length = record.end - record.start;
  map.file_offset = record.file_offset;
  map.executable = true;
  map.device_major = record.key.device >> 20;
  map.device_minor = record.key.device & ((1u << 20) - 1);
  map.inode = record.key.inode;
  map.path = path_of(record);
  if (is_alive(record.pid, record.process_start_ns)) {
    if (const auto entry = mappings_.find_recorded(record)) map = to_record(record.pid, *entry);
  }
  const Location place = locate(map, map.start);
  names_->files.insert_or_assign(record.id, place.image);
  if (place.image.is_all()) anonymous_files_.push_back(record.key);
}

/// Where the address is in the mapped file, which is opened unless it may not answer.
Location SamplePlacer::locate(const MmapRecord& map, RunAddress address) {
  const Mapping mapping{map.start, RunAddress(map.start.value + map.length), map.file_offset,
                        names_->images.intern(map, false)};
  if (!may_be_silent(map.pid, map.device_major, map.device_minor)) {
    return names_->images.locate(map.pid, {address, Mode::user}, &mapping);
  }
  const auto [at, is_new] = names_->untouched.try_emplace(mapping.file);
  if (is_new) {
    Image image;
    image.path = names_->builder.intern(fmt::format("{}{}: not opened, {}]", kReasonPrefix,
                                                    map.path, "its file system may not answer"));
    image.inode = map.inode;
    at->second = ImageId(names_->builder.profile().images.size());
    names_->builder.profile().images.push_back(image);
  }
  return {at->second, FileOffset(mapping.file_offset + (address - mapping.start))};
}

void SamplePlacer::note_who(const who_record& record) {
  names_->whos.insert_or_assign(record.id, Who{record.key, {}, 0});
  if (record.key.has_own_code != 0) watch_process(record.key);
}

bool SamplePlacer::has_processes_to_ask() const {
  return !names_->watched.empty();
}

void SamplePlacer::begin_numbers_anew() {
  old_names_ = std::move(names_);
  names_ = std::make_shared<Names>();
  names_->builder.profile().machine = epoch_.profile().machine;
}

/// Numbers are not given out twice within two generations: the newer one is asked first.
SamplePlacer::Who& SamplePlacer::find_who(uint32_t number) {
  for (Names* const names : {names_.get(), old_names_.get()}) {
    if (names == nullptr) continue;
    const auto found = names->whos.find(number);
    if (found != names->whos.end()) return found->second;
  }
  return *nobody_;
}

/// Each entry of a drain asks for one: it is looked up once per epoch.
ContextId SamplePlacer::context_of(Who& who, Mode mode) {
  if (who.serial != epoch_serial_) who.contexts = {};
  who.serial = epoch_serial_;
  ContextId& known = who.contexts[mode == Mode::kernel ? 1 : 0];
  if (known.is_all()) known = contexts_.find(who.key, mode);
  return known;
}

/// The epoch's row of an image.
ImageId SamplePlacer::image_row(Names& names, ImageId image) {
  if (names.rows_serial != epoch_serial_) names.rows.clear();
  names.rows_serial = epoch_serial_;
  if (image.value >= names.rows.size()) names.rows.resize(image.value + 1);
  ImageId& found = names.rows[image.value];
  if (!found.is_all()) return found;
  const Profile& known = names.builder.profile();
  const Image& row = known.images[image.value];
  found = intern_image(epoch_, row, known.strings.text(row.path));
  return found;
}

ImageId SamplePlacer::image_of_reason(std::string_view reason) {
  const auto known = reasons_.find(reason);
  if (known != reasons_.end()) return known->second;
  const ImageId image = intern_image(epoch_, {}, reason);
  reasons_.emplace(reason, image);
  return image;
}

void SamplePlacer::add(ContextId context, Names& names, const Location& place,
                       const Amount& amount) {
  epoch_.add(context, {image_row(names, place.image), place.offset}, amount.event, amount.samples,
             amount.value);
}

/// All of a reason is one row: the addresses say nothing without what was there.
void SamplePlacer::add_unknown(const who_key& who, std::string_view reason, const Amount& amount) {
  epoch_.profile().ledger.add(ledger::kUnknownAddress, amount.samples);
  epoch_.add(contexts_.find(who, Mode::user), {image_of_reason(reason), FileOffset(0)},
             amount.event, amount.samples, amount.value);
}

/// The kernel's images count in their ledger what they could not place; such a place is offset 0.
void SamplePlacer::note_unknown_in_kernel(uint64_t samples) {
  const uint64_t now = names_->builder.profile().ledger.amount(ledger::kUnknownAddress);
  if (now == unknown_in_kernel_) return;
  unknown_in_kernel_ = now;
  totals_.unknown_kernel += samples;
  epoch_.profile().ledger.add(ledger::kUnknownAddress, samples);
}

void SamplePlacer::count(const sample_entry& entry) {
  ++totals_.entries;
  const uint32_t event = place_event(entry.place);
  CHECK(event < weights_.size());
  const uint32_t samples = entry_count(&entry);
  const Amount amount{EventId(event), samples, weights_[event].take(samples)};
  Who& who = find_who(entry_who(&entry));
  switch (place_kind_of(entry.place)) {
    case PLACE_KERNEL: {
      const CallFrame frame{RunAddress(place_address(entry.place)), Mode::kernel};
      const Location place = names_->images.locate(0, frame, nullptr);
      if (place.offset.value == 0) note_unknown_in_kernel(samples);
      add(context_of(who, Mode::kernel), *names_, place, amount);
      return;
    }
    case PLACE_FILE:
      count_in_file(who, entry.place, amount);
      return;
    case PLACE_PROCESS:
      count_in_process(who.key, place_address(entry.place), amount);
      return;
    case PLACE_UNKNOWN:
      count_unknown(who.key, place_address(entry.place), amount);
      return;
  }
}

void SamplePlacer::count_in_file(Who& who, uint64_t place, const Amount& amount) {
  const ContextId context = context_of(who, Mode::user);
  const uint32_t number = place_image(place);
  const FileOffset offset(place_offset(place));
  if (number == IMAGE_VDSO) {
    if (names_->vdso.is_all()) {
      MmapRecord map;
      map.path = "[vdso]";
      map.length = 1 << 16;
      const Mapping mapping{RunAddress(0), RunAddress(map.length), 0,
                            names_->images.intern(map, false)};
      names_->vdso = names_->images.locate(0, {RunAddress(0), Mode::user}, &mapping).image;
    }
    add(context, *names_, {names_->vdso, offset}, amount);
    return;
  }
  for (Names* const names : {names_.get(), old_names_.get()}) {
    if (names == nullptr) continue;
    const auto file = names->files.find(number);
    if (file == names->files.end()) continue;
    if (file->second.is_all()) {
      totals_.anonymous += amount.samples;
      add(context, *names, {names->images.image_of_unnamed(true), offset}, amount);
    } else {
      add(context, *names, {file->second, offset}, amount);
    }
    return;
  }
  totals_.unknown_busy += amount.samples;
  add_unknown(who.key, "[unknown: the name of its file was lost]", amount);
}

/// Follows what the compiler of a process tells of its code; it has some that no file is behind.
void SamplePlacer::watch_process(const who_key& who) {
  const auto [at, is_new] = names_->watched.try_emplace(who.pid);
  Names::Watched& watched = at->second;
  if (!is_new && (watched.start_ns != who.start_ns || watched.execs != who.execs)) {
    names_->images.forget(who.pid);
  }
  if (!is_new && watched.start_ns == who.start_ns && watched.execs == who.execs) return;
  watched = {who.start_ns, who.execs};
  if (!is_alive(who.pid, who.start_ns)) return;
  names_->images.jit().watch(who.pid);
  // A jitdump is announced by being mapped.
  for (const ProcMapping& entry : mappings_.of(who.pid, who.start_ns)) {
    if (entry.executable && entry.path.ends_with(".dump")) {
      names_->images.intern(to_record(who.pid, entry), false);
    }
  }
}

/// Code that no file is behind: its compiler may tell its names, now or later.
void SamplePlacer::count_in_process(const who_key& who, uint64_t address, const Amount& amount) {
  watch_process(who);
  waiting_.push_back({names_, who, address, amount, monotonic_ns()});
  if (waiting_.size() > kMostWaiting) end_waiting();
}

/// What the kernel could not say, its process may still tell.
void SamplePlacer::count_unknown(const who_key& who, uint64_t address, const Amount& amount) {
  if (is_alive(who.pid, who.start_ns)) {
    const ProcMapping* const entry = mappings_.find(who.pid, who.start_ns, RunAddress(address));
    if (entry == nullptr) {
      totals_.unknown_unmapped += amount.samples;
      add_unknown(who, kUnmapped, amount);
      return;
    }
    const Location place = locate(to_record(who.pid, *entry), RunAddress(address));
    if (place.image.is_all()) {
      count_in_process(who, address, amount);
    } else {
      add(contexts_.find(who, Mode::user), *names_, place, amount);
    }
    return;
  }
  totals_.unknown_busy += amount.samples;
  add_unknown(who, kBusy, amount);
}

/// Whether its compiler has named it by now.
bool SamplePlacer::place_code(Waiting& waiting) {
  JitCode& jit = waiting.names->images.jit();
  if (!jit.is_watched(waiting.who.pid)) return false;
  const auto place =
      jit.locate(waiting.who.pid, RunAddress(waiting.address), UINT64_MAX, waiting.names->builder);
  if (!place) return false;
  add(contexts_.find(waiting.who, Mode::user), *waiting.names, *place, waiting.amount);
  return true;
}

void SamplePlacer::begin_drain() {
  mappings_.forget();
}

void SamplePlacer::end_drain() {
  ++drains_;
  mappings_.forget();
  std::vector<uint32_t> refreshed;
  std::vector<Waiting> still;
  for (Waiting& waiting : waiting_) {
    const uint32_t pid = waiting.who.pid;
    if (std::find(refreshed.begin(), refreshed.end(), pid) == refreshed.end()) {
      if (waiting.names->images.jit().is_watched(pid)) waiting.names->images.jit().refresh(pid);
      refreshed.push_back(pid);
    }
    if (place_code(waiting)) continue;
    still.push_back(std::move(waiting));
  }
  waiting_ = std::move(still);
  count_nameless(kWaitNs);
  old_names_.reset();
  constexpr uint64_t kDrainsBetweenVisits = 16;
  if (drains_ % kDrainsBetweenVisits == 0) forget_dead();
  if (drains_ % kDrainsBetweenVisits == 0) contexts_.forget_failures();
}

/// Those that have waited that long stay without a name.
void SamplePlacer::count_nameless(uint64_t wait_ns) {
  const uint64_t now_ns = monotonic_ns();
  std::erase_if(waiting_, [&](Waiting& waiting) {
    if (now_ns - waiting.since_ns < wait_ns) return false;
    totals_.anonymous += waiting.amount.samples;
    const ImageId image = waiting.names->images.image_of_unnamed(true);
    add(contexts_.find(waiting.who, Mode::user), *waiting.names,
        {image, FileOffset(waiting.address)}, waiting.amount);
    return true;
  });
}

void SamplePlacer::end_waiting() {
  count_nameless(0);
}

void SamplePlacer::forget_dead() {
  std::erase_if(names_->watched, [&](const auto& one) {
    const auto& [pid, watched] = one;
    if (is_alive(pid, watched.start_ns)) return false;
    const bool is_waited_for = std::any_of(waiting_.begin(), waiting_.end(),
                                           [&](const Waiting& w) { return w.who.pid == pid; });
    if (is_waited_for) return false;
    names_->images.forget(pid);
    return true;
  });
}

/// No sample falls into the handlers themselves: their time is a row of its own, by those that were
/// timed, and what the samples stand for is less by it. Returns it.
uint64_t SamplePlacer::count_handlers(uint64_t handled, uint64_t clock_ns) {
  if (totals_.timed == 0 || handled == 0) return 0;
  const double ns = static_cast<double>(totals_.timed_ns) / static_cast<double>(totals_.timed) *
                    static_cast<double>(handled);
  const uint64_t all_ns = std::min(static_cast<uint64_t>(ns), clock_ns / 2);
  // Handlers are far from alike: a search takes ten times as long as a hit.
  const double variance = ns * ns / static_cast<double>(totals_.timed);
  who_key profiler{};
  kProfilerPath.copy(profiler.name, sizeof profiler.name);
  epoch_.add(contexts_.find(profiler, Mode::kernel),
             {image_of_reason(kProfilerPath), FileOffset(0)}, EventId(size_t{EVENT_TIME}), 0,
             all_ns, variance);
  return all_ns;
}

void SamplePlacer::begin_cpu(const sample_counters& counters,
                             std::span<const EventReading> events) {
  totals_.timed += counters.timed;
  totals_.timed_ns += counters.timed_ns;
  totals_.timed_misses += counters.timed_misses;
  totals_.timed_misses_ns += counters.timed_misses_ns;
  totals_.timed_searches += counters.timed_searches;
  totals_.timed_searches_ns += counters.timed_searches_ns;
  const size_t count = std::min({events.size(), weights_.size(), size_t{SAMPLE_EVENTS}});
  // A period that nobody handled is shared by those that were: they stand for all of the time.
  for (size_t i = 0; i < count; ++i) weights_[i] = {events[i].value, counters.event_handled[i], 0};
  const EventReading& clock = events[EVENT_TIME];
  for (size_t i = 1; i < count; ++i) {
    EventTotals& total = event_totals_[i - 1];
    total.value += events[i].value;
    total.enabled_ns += clock.enabled_ns;
    total.running_ns += std::min(events[i].running_ns, clock.enabled_ns);
  }
  totals_.handled += counters.handled;
  totals_.idle += counters.idle;
  totals_.hits += counters.hits;
  totals_.misses += counters.misses;
  totals_.lost += counters.lost;
  totals_.evicted += counters.evicted;
  totals_.range_hits += counters.range_hits;
  totals_.range_searches += counters.range_searches;
  totals_.range_refusals += counters.range_refusals;
  totals_.records_refused += counters.records_refused;
  totals_.enabled_ns += clock.enabled_ns;
  expected_ += clock.samples;
  handled_clocks_ += counters.event_handled[EVENT_TIME];
  weights_[EVENT_TIME].value -= count_handlers(counters.handled, clock.value);
  idle_ns_ += weights_[EVENT_TIME].take(counters.idle);
  totals_.skipped = expected_ > handled_clocks_ ? expected_ - handled_clocks_ : 0;
}

Recording SamplePlacer::end_epoch() {
  end_waiting();
  names_->keep_facts();
  epoch_.take_counts();
  add_event_totals(epoch_, event_totals_);
  Recording recording;
  recording.samples = totals_.hits + totals_.misses - totals_.lost;
  recording.lost = totals_.lost;
  Ledger& ledger = epoch_.profile().ledger;
  if (totals_.lost != 0) ledger.add(ledger::kLostSamples, totals_.lost);
  for (const std::string& note : names_->builder.profile().ledger.notes()) ledger.note(note);
  std::map<ImageId, Fd> held = names_->images.release_files();
  for (size_t i = 0; names_->rows_serial == epoch_serial_ && i < names_->rows.size(); ++i) {
    const ImageId row = names_->rows[i];
    if (row.is_all()) continue;
    const auto file = held.find(ImageId(i));
    if (file != held.end()) recording.held.emplace(row, std::move(file->second));
    const auto facts = names_->facts.find(ImageId(i));
    if (facts != names_->facts.end()) recording.jit_facts.emplace_back(row, facts->second);
  }
  if (totals_.enabled_ns != 0) {
    add_idle_time(epoch_.profile(), {std::min(idle_ns_, totals_.enabled_ns), totals_.enabled_ns});
  }
  recording.profile = std::move(epoch_.profile());
  return recording;
}

}  // namespace culprit
