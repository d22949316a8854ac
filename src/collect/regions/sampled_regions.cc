#include "collect/regions/sampled_regions.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <span>

#include "base/file.h"
#include "base/number.h"
#include "base/read_at.h"

namespace culprit {
namespace {

constexpr size_t kMostLogs = 4096;

template <class T>
bool pread_field(int fd, T& to, size_t offset) {
  return read_at(fd, &to, sizeof to, offset);
}

/// "100.42" of "100.42.3".
std::string without_last_part(const std::string& name) {
  const size_t dot = name.rfind('.');
  return dot == std::string::npos ? name : name.substr(0, dot);
}

uint64_t to_ns(uint64_t ticks, const ClockMoment& start, const ClockMoment& now) {
  const double tick_ns = compute_tick_ns(start, now);
  const double ns = (static_cast<double>(ticks) - static_cast<double>(start.ticks)) * tick_ns;
  if (ticks <= start.ticks) return start.monotonic_ns;
  if (ticks >= now.ticks) return now.monotonic_ns;
  return start.monotonic_ns + static_cast<uint64_t>(ns);
}

uint64_t to_ticks(uint64_t time_ns, const ClockMoment& start, const ClockMoment& now) {
  if (time_ns <= start.monotonic_ns) return start.ticks;
  const double tick_ns = compute_tick_ns(start, now);
  return start.ticks +
         static_cast<uint64_t>(static_cast<double>(time_ns - start.monotonic_ns) / tick_ns);
}

}  // namespace

/// What is there by now. Files that are not whole yet are read the next time.
void SampledRegions::take() {
  for (const RegionLoaded& one : read_region_loaded(folder_, &loaded_bytes_)) {
    loaded_ns_[one.pid] = one.time_ns;
  }
  take_programs();
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, ignored)) {
    const std::filesystem::path& path = entry.path();
    if (path.extension() != CULPRIT_LOG_SUFFIX || logs_.size() >= kMostLogs) continue;
    const auto program = program_of_.find(without_last_part(path.stem().string()));
    if (program == program_of_.end()) continue;
    logs_.try_emplace(path.string(), Log{0, program->second, false});
  }
  const ClockMoment now = read_both_clocks();
  last_take_ = now;
  for (auto& [file, log] : logs_) {
    if (!log.is_damaged) take_log(file, log, now);
  }
}

void SampledRegions::take_programs() {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, ignored)) {
    if (entry.path().extension() != CULPRIT_PATHS_SUFFIX) continue;
    const std::string name = entry.path().stem().string();
    if (program_of_.contains(name) || programs_.size() >= kMostLogs) continue;
    const Result<Fd> file = open_readable(entry.path().string());
    uint64_t magic = 0;
    Program program;
    uint32_t uses_tsc = 0;
    if (!file || !pread_field(file->get(), magic, offsetof(culprit_region_paths, magic)) ||
        magic != CULPRIT_PATHS_MAGIC ||
        !pread_field(file->get(), program.pid, offsetof(culprit_region_paths, pid)) ||
        !pread_field(file->get(), uses_tsc, offsetof(culprit_region_paths, uses_tsc))) {
      continue;
    }
    program.name = name;
    program.uses_tsc = uses_tsc != 0;
    program_of_[name] = static_cast<uint32_t>(programs_.size());
    programs_.push_back(std::move(program));
  }
  for (Program& program : programs_) {
    const Result<Fd> file = open_readable(folder_ + "/" + program.name + CULPRIT_PATHS_SUFFIX);
    uint64_t lost = 0;
    uint32_t flags = 0;
    program.is_complete =
        file && pread_field(file->get(), lost, offsetof(culprit_region_paths, lost_threads)) &&
        pread_field(file->get(), flags, offsetof(culprit_region_paths, flags)) && lost == 0 &&
        (flags & CULPRIT_NO_LOG) == 0;
  }
}

void SampledRegions::take_log(const std::string& name, Log& log, const ClockMoment& now) {
  const Result<Fd> file = open_readable(name);
  uint64_t magic = 0;
  uint64_t count = 0;
  if (!file || !pread_field(file->get(), magic, offsetof(culprit_region_log, magic)) ||
      magic != CULPRIT_LOG_MAGIC ||
      !pread_field(file->get(), count, offsetof(culprit_region_log, count)) || count == log.taken) {
    return;
  }
  log.is_damaged = count < log.taken;
  if (log.is_damaged) return;
  const uint64_t oldest = count > CULPRIT_LOG_CHANGES ? count - CULPRIT_LOG_CHANGES : 0;
  const uint64_t from = std::max(log.taken, oldest);
  std::vector<culprit_region_change> raw(count - from);
  const uint64_t first = from % CULPRIT_LOG_CHANGES;
  const uint64_t before_end = std::min<uint64_t>(raw.size(), CULPRIT_LOG_CHANGES - first);
  constexpr size_t kBegin = offsetof(culprit_region_log, changes);
  constexpr size_t kSize = sizeof(culprit_region_change);
  uint64_t count_after = 0;
  if (!read_at(file->get(), raw.data(), before_end * kSize, kBegin + first * kSize) ||
      !read_at(file->get(), raw.data() + before_end, (raw.size() - before_end) * kSize, kBegin) ||
      !pread_field(file->get(), count_after, offsetof(culprit_region_log, count)) ||
      count_after < count) {
    log.is_damaged = true;
    return;
  }
  // Those that may have been written over meanwhile; one more is being written.
  const uint64_t safe =
      count_after >= CULPRIT_LOG_CHANGES ? count_after - CULPRIT_LOG_CHANGES + 1 : 0;
  const uint64_t begin = std::min(std::max(from, safe), count);
  bool follows_gap = begin > log.taken;
  const Program& program = programs_[log.program];
  for (uint64_t i = begin; i < count; ++i) {
    const culprit_region_change& one = raw[i - from];
    Change change;
    change.program = log.program;
    change.path = one.path;
    change.state = one.path < CULPRIT_MAX_PATHS && one.state < CULPRIT_STATES
                       ? one.state
                       : uint16_t{CULPRIT_STATE_UNKNOWN};
    change.time_ns =
        program.uses_tsc ? to_ns(one.ticks, start_, now) : std::min(one.ticks, now.monotonic_ns);
    add({program.pid, one.tid}, change, follows_gap);
    follows_gap = false;
  }
  log.taken = count;
}

void SampledRegions::add(const Task& task, const Change& change, bool follows_gap) {
  std::deque<Change>& changes = changes_[task];
  const uint64_t last_ns = changes.empty() ? 0 : changes.back().time_ns;
  if (follows_gap) changes.push_back({last_ns, change.program, 0, CULPRIT_STATE_UNKNOWN});
  changes.push_back(change);
  changes.back().time_ns = std::max(change.time_ns, last_ns);
}

bool SampledRegions::is_loaded(uint32_t pid, uint64_t time_ns) const {
  const auto loaded = loaded_ns_.find(pid);
  if (loaded == loaded_ns_.end()) return false;
  const auto began = exec_ns_.find(pid);
  return began == exec_ns_.end() || began->second > time_ns || began->second <= loaded->second;
}

RegionId SampledRegions::find(uint32_t pid, uint32_t tid, uint64_t time_ns, const Locate& locate,
                              ProfileBuilder& builder) {
  const RegionId region = find_in_changes({pid, tid}, time_ns, locate, builder);
  const bool is_known = !region.is_all() || is_loaded(pid, time_ns);
  return is_known ? region : rows_.find_not_known(builder.profile());
}

RegionId SampledRegions::find_in_changes(const Task& who, uint64_t time_ns, const Locate& locate,
                                         ProfileBuilder& builder) {
  const uint32_t pid = who.first;
  const auto task = changes_.find(who);
  if (task == changes_.end()) {  // it has met no construct
    const bool is_sure = std::all_of(
        programs_.begin(), programs_.end(),
        [pid](const Program& program) { return program.pid != pid || program.is_complete; });
    return is_sure ? RegionId() : rows_.find_not_known(builder.profile());
  }
  const std::deque<Change>& changes = task->second;
  const auto next =
      std::upper_bound(changes.begin(), changes.end(), time_ns,
                       [](uint64_t time, const Change& change) { return time < change.time_ns; });
  if (next == changes.begin()) return {};
  return find_row(*std::prev(next), locate, builder);
}

RegionId SampledRegions::find_row(const Change& change, const Locate& locate,
                                  ProfileBuilder& builder) {
  Profile& profile = builder.profile();
  if (change.state == CULPRIT_STATE_UNKNOWN) return rows_.find_not_known(profile);
  if (change.path == 0) return {};
  Program& program = programs_[change.program];
  if (change.path >= program.process.paths.size()) {
    const std::string name = folder_ + "/" + program.name + CULPRIT_PATHS_SUFFIX;
    const Result<Fd> file = open_readable(name);
    const Result<std::string> text = file ? read_fd(file->get(), name, sizeof(culprit_region_paths))
                                          : Result<std::string>(file.error());
    Result<RegionProcess> process =
        text ? parse_region_paths(std::as_bytes(std::span(text->data(), text->size())))
             : Result<RegionProcess>(text.error());
    if (!process || change.path >= process->paths.size()) return rows_.find_not_known(profile);
    program.process = *std::move(process);
    program.process.name = program.name;
  }
  const RegionId region = rows_.find(program.process, change.path, locate, profile);
  return change.state == CULPRIT_STATE_WAITING ? rows_.find_waiting(region, profile) : region;
}

void SampledRegions::exec(uint32_t pid, uint64_t time_ns) {
  exec_ns_[pid] = time_ns;
  began_ns_.emplace(pid, time_ns);
  for (auto at = changes_.lower_bound({pid, 0}); at != changes_.end() && at->first.first == pid;
       ++at) {
    std::deque<Change>& changes = at->second;
    const auto next =
        std::upper_bound(changes.begin(), changes.end(), time_ns,
                         [](uint64_t time, const Change& change) { return time < change.time_ns; });
    changes.insert(next, Change{time_ns, 0, 0, CULPRIT_STATE_INSIDE});
  }
}

void SampledRegions::exit(uint32_t pid, uint64_t time_ns) {
  exit_ns_[pid] = std::max(exit_ns_[pid], time_ns);
}

uint64_t SampledRegions::find_end_ticks(const RegionProcess& process) const {
  const uint64_t start_ns =
      process.uses_tsc ? to_ns(process.start_ticks, start_, last_take_) : process.start_ticks;
  uint64_t end_ns = last_take_.monotonic_ns;
  const auto exit = exit_ns_.find(process.pid);
  if (exit != exit_ns_.end() && exit->second > start_ns) end_ns = std::min(end_ns, exit->second);
  const auto [first, last] = began_ns_.equal_range(process.pid);
  for (auto next = first; next != last; ++next) {
    if (next->second > start_ns) end_ns = std::min(end_ns, next->second);
  }
  return process.uses_tsc ? to_ticks(end_ns, start_, last_take_) : end_ns;
}

void SampledRegions::forget_before(uint64_t time_ns) {
  for (auto& [task, changes] : changes_) {
    while (changes.size() > 1 && changes[1].time_ns <= time_ns) changes.pop_front();
  }
}

}  // namespace culprit
