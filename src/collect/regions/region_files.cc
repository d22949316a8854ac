#include "collect/regions/region_files.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>

#include "base/file.h"
#include "base/read_at.h"

namespace culprit {
namespace {

Error damaged(const std::string& what) {
  return Error{"cannot read what the program told of its regions: " + what};
}

/// A struct of the protocol, on the heap: they are large.
template <class T>
Result<std::unique_ptr<T>> copy_struct(std::span<const std::byte> file, uint64_t magic) {
  if (file.size() != sizeof(T)) return damaged("a file has another size than agreed");
  auto copy = std::make_unique<T>();
  std::memcpy(copy.get(), file.data(), sizeof(T));
  if (copy->magic != magic) return damaged("a file does not begin as agreed");
  return copy;
}

bool is_valid(const culprit_region_path& path, uint32_t number) {
  return path.parent < number && path.kind < CULPRIT_KINDS && path.kind != CULPRIT_KIND_NONE &&
         path.detail < CULPRIT_DETAILS;
}

std::optional<RegionOpen> parse_wait(const culprit_region_wait& raw, uint16_t part,
                                     size_t path_count) {
  if (raw.path == 0 || raw.path >= path_count) return {};
  return RegionOpen{raw.path, CULPRIT_KIND_NONE, true, part, raw.begin, raw.tasks};
}

/// What the thread is in.
void parse_open(const culprit_region_thread& raw, size_t path_count, RegionThread& thread) {
  const auto known = [&](uint32_t path) { return path < path_count ? path : 0; };
  for (const culprit_region_frame& one :
       std::span(raw.frames, std::min<uint32_t>(raw.open, CULPRIT_DEEPEST))) {
    const bool is_wait = one.is_wait != 0 && one.part < CULPRIT_PARTS;
    const uint16_t part = is_wait ? one.part : uint16_t{CULPRIT_PART_BODY};
    // A single that another thread runs begins, for this one, where it ends.
    const uint32_t path = is_wait || one.part == CULPRIT_PART_BODY ? known(one.path) : 0;
    thread.open.push_back({path, one.kind, is_wait, part, one.begin, one.tasks});
  }
  for (const culprit_region_lock& one :
       std::span(raw.locks, std::min<uint32_t>(raw.held, CULPRIT_HELD_LOCKS))) {
    thread.held.push_back(
        {known(one.path), CULPRIT_KIND_LOCK, false, CULPRIT_PART_BODY, one.since, 0});
  }
  thread.asked = parse_wait(raw.asked, CULPRIT_PART_ENTER, path_count);
  thread.barrier = parse_wait(raw.barrier, CULPRIT_PART_EXIT_BARRIER, path_count);
}

}  // namespace

Result<RegionProcess> parse_region_paths(std::span<const std::byte> file) {
  ASSIGN_OR_RETURN(const auto raw, copy_struct<culprit_region_paths>(file, CULPRIT_PATHS_MAGIC));
  if (raw->path_count == 0 || raw->path_count > CULPRIT_MAX_PATHS ||
      raw->file_count > CULPRIT_MAX_FILES) {
    return damaged("it counts more than there is room for");
  }
  RegionProcess process;
  process.pid = raw->pid;
  process.parent_pid = raw->parent_pid;
  process.uses_tsc = raw->uses_tsc != 0;
  process.flags = raw->flags;
  process.start_ticks = raw->start_ticks;
  process.lost_paths = raw->lost_paths;
  process.lost_threads = raw->lost_threads;
  process.functions_seen = raw->functions_seen;
  process.functions_refused = raw->functions_refused;
  for (const culprit_region_file& one : std::span(raw->files, raw->file_count)) {
    if (one.start >= one.end) return damaged("a mapping ends before it begins");
    const size_t length = ::strnlen(one.name, sizeof one.name);
    process.files.push_back({RunAddress(one.start), RunAddress(one.end), one.file_offset, one.inode,
                             std::string(one.name, length)});
  }
  process.paths.emplace_back();
  for (uint32_t i = 1; i < raw->path_count; ++i) {
    const culprit_region_path& one = raw->paths[i];
    if (!is_valid(one, i)) return damaged("a construct is of no known kind, or inside a later one");
    if (one.name >= CULPRIT_NAMES_BYTES) return damaged("a name lies outside of its room");
    const char* name = raw->names + one.name;
    const size_t length = one.name == 0
                              ? 0
                              : ::strnlen(name, std::min<size_t>(CULPRIT_LONGEST_NAME,
                                                                 CULPRIT_NAMES_BYTES - one.name));
    process.paths.push_back({one.parent, one.kind, one.detail, std::string(name, length),
                             RunAddress(one.site), RunAddress(one.end)});
  }
  return process;
}

Result<RegionThread> parse_region_thread(std::span<const std::byte> file, size_t path_count) {
  ASSIGN_OR_RETURN(const auto raw, copy_struct<culprit_region_thread>(file, CULPRIT_THREAD_MAGIC));
  RegionThread thread{.tid = raw->tid,
                      .number = raw->number,
                      .threads = raw->threads,
                      .dropped = raw->dropped,
                      .unmatched = raw->unmatched,
                      .too_deep = raw->too_deep,
                      .backwards = raw->backwards,
                      .counters = {}};
  parse_open(*raw, std::min<size_t>(path_count, CULPRIT_MAX_PATHS), thread);
  for (uint32_t path = 1; path < std::min<size_t>(path_count, CULPRIT_MAX_PATHS); ++path) {
    const culprit_region_counter& one = raw->counters[path];
    RegionCounter counter{.path = path,
                          .executions = one.executions,
                          .pieces = one.pieces,
                          .behind_single = one.behind_single,
                          .inner_tasks = one.inner_tasks};
    std::copy(std::begin(one.ticks), std::end(one.ticks), counter.ticks.begin());
    const bool is_empty = counter.executions == 0 && counter.pieces == 0 &&
                          std::all_of(counter.ticks.begin(), counter.ticks.end(),
                                      [](uint64_t ticks) { return ticks == 0; });
    if (!is_empty) thread.counters.push_back(counter);
  }
  return thread;
}

std::vector<RegionCount> parse_region_counts(std::span<const std::byte> file, size_t path_count) {
  const auto raw = copy_struct<culprit_region_counts>(file, CULPRIT_COUNTS_MAGIC);
  std::vector<RegionCount> counts;
  if (!raw) return counts;
  for (uint32_t path = 1; path < std::min<size_t>(path_count, CULPRIT_MAX_PATHS); ++path) {
    for (const bool is_waiting : {false, true}) {
      const auto& values = (*raw)->values[path][is_waiting ? 1 : 0];
      RegionCount count{path, is_waiting, {}};
      std::copy(std::begin(values), std::end(values), count.values.begin());
      if (count.values != RegionCount().values) counts.push_back(count);
    }
  }
  return counts;
}

std::vector<RegionLoaded> read_region_loaded(const std::string& folder, uint64_t* from) {
  constexpr size_t kMost = 1 << 16;  // at a time: more is the next time's
  std::vector<RegionLoaded> loaded;
  const Result<Fd> file = open_readable(folder + "/" + CULPRIT_LOADED_FILE);
  culprit_region_loaded row;
  while (file && loaded.size() < kMost && read_at(file->get(), &row, sizeof row, *from)) {
    *from += sizeof row;
    loaded.push_back({row.time_ns, row.pid, {row.name, ::strnlen(row.name, sizeof row.name)}});
  }
  return loaded;
}

RegionFiles read_region_files(const std::string& folder) {
  RegionFiles files;
  uint64_t from = 0;
  for (auto more = read_region_loaded(folder, &from); !more.empty();
       more = read_region_loaded(folder, &from)) {
    std::ranges::move(more, std::back_inserter(files.loaded));
  }
  std::vector<std::filesystem::path> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    names.push_back(entry.path());
  }
  std::sort(names.begin(), names.end());
  const auto read = [](const std::filesystem::path& path) -> Result<std::string> {
    ASSIGN_OR_RETURN(const Fd fd, open_readable(path.string()));
    return read_fd(fd.get(), path.string(), sizeof(culprit_region_thread) * 4);
  };
  const auto bytes_of = [](const std::string& text) {
    return std::as_bytes(std::span(text.data(), text.size()));
  };
  for (const std::filesystem::path& name : names) {
    if (name.extension() != CULPRIT_PATHS_SUFFIX) continue;
    const Result<std::string> text = read(name);
    Result<RegionProcess> process = text ? parse_region_paths(bytes_of(*text)) : text.error();
    if (!process) {
      ++files.damaged;
      continue;
    }
    const std::string stem = name.stem().string() + ".";
    for (const std::filesystem::path& other : names) {
      if (other.extension() != CULPRIT_THREAD_SUFFIX) continue;
      if (!other.filename().string().starts_with(stem)) continue;
      const Result<std::string> its = read(other);
      Result<RegionThread> thread =
          its ? parse_region_thread(bytes_of(*its), process->paths.size()) : its.error();
      if (thread) {
        std::filesystem::path counts = other;
        counts.replace_extension(CULPRIT_COUNTS_SUFFIX);
        if (const Result<std::string> counted = read(counts)) {
          thread->counts = parse_region_counts(bytes_of(*counted), process->paths.size());
        }
        process->threads.push_back(*std::move(thread));
      } else {
        ++files.damaged;
      }
    }
    process->name = name.stem().string();
    files.processes.push_back(*std::move(process));
  }
  std::stable_sort(files.processes.begin(), files.processes.end(),
                   [](const auto& a, const auto& b) { return a.pid < b.pid; });
  return files;
}

}  // namespace culprit
