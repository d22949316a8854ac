#include "daemon/sample_placer.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

#include "base/file.h"
#include "base/number.h"
#include "base/text.h"
#include "daemon/describe_epoch.h"
#include "daemon/epoch_rows.h"
#include "model/idle_time.h"
#include "model/profiler_path.h"
#include "records/callchain.h"

namespace culprit {

namespace {

constexpr std::string_view kBusy = "[unknown: its address space was locked]";
constexpr std::string_view kUnmapped = "[unknown: nothing is mapped there]";
// JIT compilers write their files in pieces: names of new code come some seconds late.
constexpr int kDrainsToWait = 3;  // mostly of four seconds each
constexpr size_t kMostWaiting = 1 << 16;

/// Field 22 of /proc/PID/stat: when it started, in ticks since boot; 0: it is gone.
uint64_t read_start_ticks(uint32_t pid) {
  const std::string text = read_file(fmt::format("/proc/{}/stat", pid), 4096).value_or("");
  const size_t name_end = text.rfind(')');  // names may hold anything
  if (name_end == std::string::npos) return 0;
  const std::vector<std::string_view> fields = split(std::string_view(text).substr(name_end), ' ');
  return fields.size() > 20 ? find_number(fields[20], 10).value_or(0) : 0;
}

/// Whether the process that began then still has this number.
bool is_alive(uint32_t pid, uint64_t start_ns) {
  static const auto kTicks = static_cast<uint64_t>(::sysconf(_SC_CLK_TCK));
  return read_start_ticks(pid) == start_ns / (1'000'000'000 / kTicks);
}

std::string path_of(const image_record& record) {
  std::string path = record.is_cut != 0 ? "..." : "";
  for (uint32_t part = std::min<uint32_t>(record.parts, PATH_PARTS); part-- > 0;) {
    const char* name = record.path[part];
    path += '/' + std::string(name, ::strnlen(name, PATH_PART_BYTES));
  }
  return path + (record.is_deleted != 0 ? " (deleted)" : "");
}

std::vector<ProcMapping> read_mappings(uint32_t pid) {
  constexpr uint64_t kMostBytes = 16 << 20;  // of a process that maps a hundred thousand files
  return parse_proc_maps(read_file(fmt::format("/proc/{}/maps", pid), kMostBytes).value_or(""));
}

MmapRecord to_record(uint32_t pid, const ProcMapping& entry) {
  MmapRecord map;
  map.pid = pid;
  map.start = entry.start;
  map.length = entry.end - entry.start;
  map.file_offset = entry.file_offset;
  map.executable = true;
  map.device_major = entry.device_major;
  map.device_minor = entry.device_minor;
  map.inode = entry.inode;
  map.path = entry.path;
  return map;
}

}  // namespace

/// What the numbers mean that the kernel gives to images and tasks, and the images themselves.
struct SamplePlacer::Names {
  struct Watched {
    uint64_t start_ns = 0;
    uint32_t execs = 0;
  };

  ProfileBuilder builder;  // of rows of images only
  LiveImages images{builder, [](uint32_t) {}};
  std::unordered_map<uint32_t, ImageId> files;  // all: it has no code of its own
  std::unordered_map<uint32_t, who_key> whos;
  std::map<uint32_t, Watched> watched;  // processes with code that has no file
  std::map<ImageId, ImageFacts> facts;  // of code made at run time
  ImageId vdso;
  std::vector<ImageId> rows;  // in the epoch of that serial, by image; all: none yet
  uint64_t rows_serial = 0;

  void keep_facts() {
    for (auto& [image, its] : images.release_facts()) facts.insert_or_assign(image, std::move(its));
  }
};

/// Hashes the name and the cgroup: reports tell nothing else of a process apart.
size_t SamplePlacer::WhoHash::operator()(const std::pair<who_key, Mode>& who) const noexcept {
  const std::string_view name(who.first.name, sizeof who.first.name);
  return std::hash<std::string_view>()(name) ^ (who.first.cgroup * 0x9e3779b97f4a7c15u) ^
         static_cast<size_t>(who.second);
}
bool SamplePlacer::WhoEqual::operator()(const std::pair<who_key, Mode>& a,
                                        const std::pair<who_key, Mode>& b) const noexcept {
  return a.second == b.second && a.first.cgroup == b.first.cgroup &&
         std::memcmp(a.first.name, b.first.name, sizeof a.first.name) == 0;
}

SamplePlacer::SamplePlacer() : names_(std::make_shared<Names>()) {}
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
  contexts_.clear();
}

/// The file is opened at once. /proc has its path and inode as its process sees them, which
/// differ from the kernel's own where file systems lie over each other.
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
    for (const ProcMapping& entry : read_mappings(record.pid)) {
      if (entry.start != map.start || entry.file_offset != map.file_offset) continue;
      map = to_record(record.pid, entry);
      break;
    }
  }
  const Mapping mapping{map.start, RunAddress(map.start.value + map.length), map.file_offset,
                        names_->images.intern(map, false)};
  const CallFrame frame{map.start, Mode::user};
  const Location place = names_->images.locate(record.pid, frame, &mapping);
  names_->files.insert_or_assign(record.id, place.image);
  if (place.image.is_all()) anonymous_files_.push_back(record.key);
}

void SamplePlacer::note_who(const who_record& record) {
  names_->whos.insert_or_assign(record.id, record.key);
  if (record.key.pid != 0) watch_process(record.key);
}

void SamplePlacer::begin_numbers_anew() {
  old_names_ = std::move(names_);
  names_ = std::make_shared<Names>();
  names_->builder.profile().machine = epoch_.profile().machine;
}

/// Numbers are not given out twice within two generations: the newer one is asked first.
const who_key* SamplePlacer::find_who(uint32_t number) const {
  for (const Names* names : {names_.get(), old_names_.get()}) {
    if (names == nullptr) continue;
    const auto found = names->whos.find(number);
    if (found != names->whos.end()) return &found->second;
  }
  return nullptr;
}

ContextId SamplePlacer::context_of(const who_key& who, Mode mode) {
  const auto [at, is_new] = contexts_.try_emplace({who, mode});
  if (is_new) at->second = make_context(who, mode);
  return at->second;
}

ContextId SamplePlacer::make_context(const who_key& who, Mode mode) {
  const std::string_view name(who.name, ::strnlen(who.name, sizeof who.name));
  Context context;
  context.run = epoch_.run_id();
  context.mode = mode;
  const std::string& cgroup = cgroups_.find(who.cgroup);
  if (!cgroup.empty()) context.cgroup = epoch_.intern(cgroup);
  if (!label_.empty()) context.label = epoch_.intern(label_);
  context.process = intern_process(epoch_, name);
  return epoch_.intern_context(context);
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
  epoch_.add(context_of(who, Mode::user), {image_of_reason(reason), FileOffset(0)}, amount.event,
             amount.samples, amount.value);
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
  static const who_key kNobody{};
  const who_key* const found = find_who(entry_who(&entry));
  const who_key& who = found != nullptr ? *found : kNobody;
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
      count_in_process(who, place_address(entry.place), amount);
      return;
    case PLACE_UNKNOWN:
      count_unknown(who, place_address(entry.place), amount);
      return;
  }
}

void SamplePlacer::count_in_file(const who_key& who, uint64_t place, const Amount& amount) {
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
  add_unknown(who, "[unknown: the name of its file was lost]", amount);
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
  for (const ProcMapping& entry : read_mappings(who.pid)) {
    if (entry.executable && entry.path.ends_with(".dump")) {
      names_->images.intern(to_record(who.pid, entry), false);
    }
  }
}

/// Code that no file is behind: its compiler may tell its names, now or later.
void SamplePlacer::count_in_process(const who_key& who, uint64_t address, const Amount& amount) {
  watch_process(who);
  waiting_.push_back({names_, who, address, amount, 0});
  if (waiting_.size() > kMostWaiting) end_waiting();
}

/// The mappings of a process are read once for all that is asked of it in a drain: a process may
/// have tens of thousands, and as many addresses in a drain.
const ProcMapping* SamplePlacer::find_mapping(const who_key& who, RunAddress address) {
  constexpr size_t kMostProcesses = 16;
  const std::pair key{who.pid, who.start_ns};
  auto known = mappings_.find(key);
  if (known == mappings_.end()) {
    if (mappings_.size() == kMostProcesses) mappings_.clear();
    known = mappings_.emplace(key, read_mappings(who.pid)).first;
  }
  const std::vector<ProcMapping>& entries = known->second;
  // The kernel lists them by address.
  const auto above =
      std::upper_bound(entries.begin(), entries.end(), address,
                       [](RunAddress at, const ProcMapping& entry) { return at < entry.start; });
  if (above == entries.begin()) return nullptr;
  const ProcMapping& entry = *std::prev(above);
  return address < entry.end ? &entry : nullptr;
}

/// What the kernel could not say, its process may still tell.
void SamplePlacer::count_unknown(const who_key& who, uint64_t address, const Amount& amount) {
  if (is_alive(who.pid, who.start_ns)) {
    const ProcMapping* const entry = find_mapping(who, RunAddress(address));
    if (entry == nullptr) {
      totals_.unknown_unmapped += amount.samples;
      add_unknown(who, kUnmapped, amount);
      return;
    }
    const MmapRecord map = to_record(who.pid, *entry);
    const Mapping mapping{map.start, RunAddress(map.start.value + map.length), map.file_offset,
                          names_->images.intern(map, false)};
    const CallFrame frame{RunAddress(address), Mode::user};
    const Location place = names_->images.locate(who.pid, frame, &mapping);
    if (place.image.is_all()) {
      count_in_process(who, address, amount);
    } else {
      add(context_of(who, Mode::user), *names_, place, amount);
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
  add(context_of(waiting.who, Mode::user), *waiting.names, *place, waiting.amount);
  return true;
}

void SamplePlacer::end_drain() {
  ++drains_;
  mappings_.clear();
  std::vector<uint32_t> refreshed;
  std::vector<Waiting> still;
  for (Waiting& waiting : waiting_) {
    const uint32_t pid = waiting.who.pid;
    if (std::find(refreshed.begin(), refreshed.end(), pid) == refreshed.end()) {
      if (waiting.names->images.jit().is_watched(pid)) waiting.names->images.jit().refresh(pid);
      refreshed.push_back(pid);
    }
    if (place_code(waiting)) continue;
    ++waiting.drains;
    still.push_back(std::move(waiting));
  }
  waiting_ = std::move(still);
  count_nameless(kDrainsToWait);
  old_names_.reset();
  constexpr uint64_t kDrainsBetweenVisits = 16;
  if (drains_ % kDrainsBetweenVisits == 0) forget_dead();
  if (drains_ % kDrainsBetweenVisits == 0) cgroups_.forget_failures();
}

/// Those that have waited that long stay without a name.
void SamplePlacer::count_nameless(int drains) {
  std::erase_if(waiting_, [&](Waiting& waiting) {
    if (waiting.drains < drains) return false;
    totals_.anonymous += waiting.amount.samples;
    const ImageId image = waiting.names->images.image_of_unnamed(true);
    add(context_of(waiting.who, Mode::user), *waiting.names, {image, FileOffset(waiting.address)},
        waiting.amount);
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
  epoch_.add(context_of(profiler, Mode::kernel), {image_of_reason(kProfilerPath), FileOffset(0)},
             EventId(size_t{EVENT_TIME}), 0, all_ns, variance);
  return all_ns;
}

void SamplePlacer::begin_cpu(const sample_counters& counters,
                             std::span<const EventReading> events) {
  totals_.timed += counters.timed;
  totals_.timed_ns += counters.timed_ns;
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
  expected_ += static_cast<double>(clock.value) / static_cast<double>(clock.period);
  handled_clocks_ += counters.event_handled[EVENT_TIME];
  weights_[EVENT_TIME].value -= count_handlers(counters.handled, clock.value);
  idle_ns_ += weights_[EVENT_TIME].take(counters.idle);
  const auto all = static_cast<uint64_t>(expected_);
  totals_.skipped = all > handled_clocks_ ? all - handled_clocks_ : 0;
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
