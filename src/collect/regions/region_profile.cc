#include "collect/regions/region_profile.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <tuple>

#include "base/file.h"
#include "base/text.h"
#include "model/region_words.h"
#include "records/elf_identity.h"

namespace culprit {
namespace {

constexpr std::string_view kPartWords[] = {region::kEnter, region::kBody, region::kExit,
                                           region::kExitBarrier, region::kWait};
static_assert(std::size(kPartWords) == CULPRIT_PARTS);

bool is_unfinished(const RegionProcess& process) {
  return std::ranges::any_of(process.threads, [](const RegionThread& thread) {
    return std::ranges::any_of(thread.counters,
                               [](const RegionCounter& one) { return one.unfinished_ticks > 0; });
  });
}

class RegionAdder {
 public:
  RegionAdder(Profile& profile, double tick_ns, const RegionsAsked& asked, RegionRows& rows)
      : profile_(profile),
        run_(profile.runs.size() - 1),
        tick_ns_(tick_ns),
        asked_(asked),
        rows_(rows) {}

  void add(const RegionProcess& process);

 private:
  ImageId find_image(const RegionFile& file);
  Location locate(const RegionProcess& process, RunAddress address);
  ProcessId find_process(const RegionProcess& process);
  std::vector<RegionId> add_paths(const RegionProcess& process);
  ContextId find_context(ProcessId process, const RegionThread& thread, uint32_t ordinal);
  void add_thread(const RegionThread& thread, ContextId context, double tick_ns,
                  const std::vector<RegionId>& regions);
  void add_counts(const RegionThread& thread, ContextId context,
                  const std::vector<RegionId>& regions);
  void add_losses(const RegionProcess& process);

  Profile& profile_;
  RunId run_;
  double tick_ns_;
  const RegionsAsked& asked_;
  RegionRows& rows_;
};

/// The row of the file: the recording's own, or a new one.
ImageId RegionAdder::find_image(const RegionFile& file) {
  for (size_t i = 0; i < profile_.images.size(); ++i) {
    if (profile_.strings.text(profile_.images[i].path) == file.path) return ImageId(i);
  }
  Image image;
  image.path = profile_.strings.intern(file.path);
  image.kind = ImageKind::library;
  image.inode = file.inode;
  const Result<Fd> fd = open_readable(file.path);
  struct stat status{};
  if (fd && ::fstat(fd->get(), &status) == 0 && status.st_ino == file.inode) {
    image.size_bytes = static_cast<uint64_t>(status.st_size);
    image.mtime_ns = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
    const Result<MappedFile> bytes = MappedFile::map(fd->get(), file.path);
    if (bytes) {
      if (const Result<ElfIdentity> elf = parse_elf_identity(bytes->bytes())) {
        image.kind = elf->is_program ? ImageKind::program : ImageKind::library;
        image.build_id = elf->build_id;
      }
    }
  }
  profile_.images.push_back(image);
  return ImageId(profile_.images.size() - 1);
}

Location RegionAdder::locate(const RegionProcess& process, RunAddress address) {
  for (const RegionFile& file : process.files) {
    if (address < file.start || address >= file.end || !file.path.starts_with('/')) continue;
    return {find_image(file), FileOffset(file.file_offset + (address - file.start))};
  }
  return {};
}

ProcessId RegionAdder::find_process(const RegionProcess& process) {
  for (size_t i = profile_.processes.size(); i > 0; --i) {
    const Process& row = profile_.processes[i - 1];
    if (row.run == run_ && row.pid == process.pid) return ProcessId(i - 1);
  }
  profile_.processes.push_back({run_, process.pid, process.parent_pid, {}});
  return ProcessId(profile_.processes.size() - 1);
}

/// The regions of its paths, by their numbers.
std::vector<RegionId> RegionAdder::add_paths(const RegionProcess& process) {
  const auto locate_here = [&](RunAddress address) { return locate(process, address); };
  std::vector<RegionId> ids(process.paths.size());
  for (size_t i = 1; i < process.paths.size(); ++i) {
    const RegionPath& path = process.paths[i];
    ids[i] = rows_.find(process, static_cast<uint32_t>(i), locate_here, profile_);
    Region& kept = profile_.regions[ids[i].value];
    if (kept.site == Location{}) kept.site = locate(process, path.site);
    if (kept.end == Location{} && path.end.value != 0) kept.end = locate(process, path.end);
  }
  return ids;
}

ContextId RegionAdder::find_context(ProcessId process, const RegionThread& thread,
                                    uint32_t ordinal) {
  ThreadId id;
  for (size_t i = profile_.threads.size(); i > 0 && id == ThreadId(); --i) {
    const Thread& row = profile_.threads[i - 1];
    if (row.process == process && row.tid == thread.tid) id = ThreadId(i - 1);
  }
  if (id == ThreadId()) {
    id = ThreadId(profile_.threads.size());
    profile_.threads.push_back(
        {process, thread.tid, profile_.processes[process.value].name, ordinal});
  }
  Context context;
  context.run = run_;
  context.process = process;
  context.thread = id;
  const auto found = std::find(profile_.contexts.begin(), profile_.contexts.end(), context);
  if (found != profile_.contexts.end()) {
    return ContextId(static_cast<size_t>(found - profile_.contexts.begin()));
  }
  profile_.contexts.push_back(context);
  return ContextId(profile_.contexts.size() - 1);
}

void RegionAdder::add_thread(const RegionThread& thread, ContextId context, double tick_ns,
                             const std::vector<RegionId>& regions) {
  const auto add = [&](const RegionCounter& counter, std::string_view part, uint64_t value) {
    RegionValue row;
    row.context = context;
    row.region = regions[counter.path];
    row.part = profile_.strings.intern(part);
    row.executions = counter.executions;
    row.value = value;
    profile_.region_values.push_back(row);
  };
  for (const RegionCounter& counter : thread.counters) {
    const auto add_time = [&](std::string_view part, uint64_t ticks) {
      const double ns = static_cast<double>(ticks) * tick_ns;
      add(counter, part, ns < 9e18 ? static_cast<uint64_t>(std::llround(ns)) : 0);
    };
    for (size_t part = 0; part < CULPRIT_PARTS; ++part) {
      const bool is_main = part == CULPRIT_PART_BODY;
      if (counter.ticks[part] > 0 || is_main) add_time(kPartWords[part], counter.ticks[part]);
    }
    if (counter.behind_single > 0) add_time(region::kBehindSingle, counter.behind_single);
    if (counter.inner_tasks > 0) add_time(region::kInnerTasks, counter.inner_tasks);
    if (counter.pieces > 0) add(counter, region::kPieces, counter.pieces);
    if (counter.unfinished > 0 || counter.unfinished_ticks > 0) {
      add_time(region::kUnfinished, counter.unfinished_ticks);
      profile_.region_values.back().executions = counter.unfinished;
    }
  }
}

void RegionAdder::add_counts(const RegionThread& thread, ContextId context,
                             const std::vector<RegionId>& regions) {
  for (const RegionCount& count : thread.counts) {
    const auto counter = std::ranges::find(thread.counters, count.path, &RegionCounter::path);
    for (size_t i = 0; i < std::min(asked_.counters.size(), count.values.size()); ++i) {
      RegionValue row;
      row.context = context;
      row.region = regions[count.path];
      row.part =
          profile_.strings.intern(count.is_waiting ? region::kCountedWaiting : region::kCounted);
      row.event = asked_.counters[i];
      row.executions = counter == thread.counters.end() ? 0 : counter->executions;
      row.value = count.values[i];
      profile_.region_values.push_back(row);
    }
  }
}

void RegionAdder::add_losses(const RegionProcess& process) {
  Ledger& ledger = profile_.ledger;
  const auto add = [&](const LedgerKind& kind, uint64_t amount) {
    if (amount > 0) ledger.add(kind, amount);
  };
  const auto has = [&](uint32_t flag) { return (process.flags & flag) != 0; };
  add(ledger::kRegionsLost, process.lost_paths);
  add(ledger::kRegionThreadsLost, process.lost_threads);
  for (const RegionThread& thread : process.threads) {
    add(ledger::kRegionsOpen, thread.still_open);
    add(ledger::kRegionsDropped, thread.dropped);
    add(ledger::kRegionsUnmatched, thread.unmatched);
    add(ledger::kRegionsTooDeep, thread.too_deep);
    add(ledger::kRegionClockBackwards, thread.backwards);
  }
  if (is_unfinished(process)) {
    ledger.note(
        "processes ended inside constructs of OpenMP: their time until then is in the report, as "
        "unfinished");
  }
  if (has(CULPRIT_SAW_UNTOLD)) {
    ledger.note(
        has(CULPRIT_OTHER_TOOL)
            ? "OMP_TOOL_LIBRARIES names another tool, which LLVM's OpenMP runtime told of its "
              "constructs in place of Culprit"
        : has(CULPRIT_TOOL_DISABLED)
            ? "OMP_TOOL=disabled: LLVM's OpenMP runtime told nobody of its constructs"
            : "an OpenMP runtime without tool interface was loaded: its constructs were not seen");
  }
  if (has(CULPRIT_COUNTERS_LOST)) {
    ledger.note(
        "counters of some threads were refused by the kernel, or closed by the program: what they "
        "counted in constructs from then on is not covered");
  }
  if (has(CULPRIT_COUNTERS_TURNS)) {
    ledger.note(
        "counters took turns on the CPU: what constructs counted is too low; ask for fewer events");
  }
  if (has(CULPRIT_OLD_RUNTIME)) {
    ledger.note("the OpenMP runtime does not tell of all constructs: some are missing");
  }
  if (has(CULPRIT_SAW_GOMP) && has(CULPRIT_SAW_OMPT)) {
    ledger.note("two OpenMP runtimes worked in one process: their teams share its CPUs");
  }
  if (has(CULPRIT_SAW_GOMP)) {
    ledger.note(
        "of GCC's code are not seen: static loops (their time is the region's, their barrier a "
        "barrier), master, lock-free atomics");
  }
  if (has(CULPRIT_SAW_OMPT)) {
    ledger.note(
        "of LLVM's runtime are not seen: atomics, what leaving a critical section takes, who ran "
        "which section (how many each thread ran is by the runtime's usual schedule)");
  }
  if (has(CULPRIT_SAW_SINGLE_OPEN)) {
    ledger.note(
        "where a single without barrier ends is not seen in GCC's code: it counts up to the next "
        "work-sharing construct or the end of its region");
  }
}

void RegionAdder::add(const RegionProcess& process) {
  add_losses(process);
  if (process.threads.empty()) return;
  const ProcessId id = find_process(process);
  const std::vector<RegionId> regions = add_paths(process);
  std::vector<const RegionThread*> threads;
  for (const RegionThread& thread : process.threads) threads.push_back(&thread);
  std::stable_sort(threads.begin(), threads.end(), [](const auto* a, const auto* b) {
    return std::tuple(a->number == 0, a->number, a->tid) <
           std::tuple(b->number == 0, b->number, b->tid);
  });
  uint32_t ordinal = 0;
  for (const RegionThread* thread : threads) {
    const ContextId context = find_context(id, *thread, ++ordinal);
    add_thread(*thread, context, process.uses_tsc ? tick_ns_ : 1, regions);
    add_counts(*thread, context, regions);
  }
}

/// What became of functions that were to be regions, where none of their calls were seen.
std::vector<std::string> describe_unseen(const RegionFiles& files,
                                         const std::vector<std::string>& functions) {
  uint64_t seen = 0;
  uint64_t refused = 0;
  for (const RegionProcess& process : files.processes) {
    seen |= process.functions_seen;
    refused |= process.functions_refused;
  }
  std::vector<std::string> remarks;
  for (size_t i = 0; i < std::min<size_t>(functions.size(), CULPRIT_MAX_FUNCTIONS); ++i) {
    if ((seen >> i & 1) != 0) continue;
    remarks.push_back(fmt::format(
        "calls of {} are not covered: {}", in_quotes(functions[i]),
        (refused >> i & 1) != 0
            ? "its code could not be changed (other code than in its file, or not permitted)"
            : "its file was in no process as that began (a library that is loaded later?)"));
  }
  return remarks;
}

/// Processes that were met, and in which the shim was not. Names tell the programs apart that a
/// process runs one after the other.
class UncoveredProcesses {
 public:
  UncoveredProcesses(const RegionFiles& files, const Profile& profile)
      : files_(files), profile_(profile) {}

  [[nodiscard]] std::vector<std::string> find() const {
    std::vector<std::string> names;
    for (const Process& process : profile_.processes) {
      if (process.run.value + 1 != profile_.runs.size() || process.pid == 0) continue;
      if (!is_covered(process)) names.push_back(name_of(process));
    }
    return names;
  }

 private:
  [[nodiscard]] const std::string& name_of(const Process& process) const {
    return profile_.strings.text(process.name);
  }
  [[nodiscard]] bool is_loaded(uint32_t pid, const std::string& name) const {
    return std::ranges::any_of(
        files_.loaded, [&](const RegionLoaded& one) { return one.pid == pid && one.name == name; });
  }
  [[nodiscard]] bool is_row(uint32_t pid, const std::string& name) const {
    return std::ranges::any_of(profile_.processes, [&](const Process& one) {
      return one.pid == pid && name_of(one) == name;
    });
  }
  [[nodiscard]] bool is_covered(const Process& process) const {
    const std::string& name = name_of(process);
    if (is_loaded(process.pid, name)) return true;
    // Between fork and exec it is what its parent was.
    if (is_loaded(process.parent_pid, name)) return true;
    // It has called itself something else meanwhile.
    return std::ranges::any_of(files_.loaded, [&](const RegionLoaded& one) {
      return one.pid == process.pid && !is_row(one.pid, one.name);
    });
  }

  const RegionFiles& files_;
  const Profile& profile_;
};

}  // namespace

size_t count_constructs(const Profile& profile) {
  const auto is_one = [&](const Region& region) {
    return region::is_construct(profile.strings.text(region.kind));
  };
  return static_cast<size_t>(std::count_if(profile.regions.begin(), profile.regions.end(), is_one));
}

std::vector<std::string> add_regions(const RegionFiles& files, double tick_ns,
                                     const RegionsAsked& asked, RegionRows& rows,
                                     Profile& profile) {
  if (profile.runs.empty()) return {};
  std::vector<std::string> uncovered = UncoveredProcesses(files, profile).find();
  RegionAdder adder(profile, tick_ns, asked, rows);
  for (const RegionProcess& process : files.processes) adder.add(process);
  Ledger& ledger = profile.ledger;
  if (files.damaged > 0) ledger.add(ledger::kRegionFilesDamaged, files.damaged);
  if (!uncovered.empty()) {
    ledger.add(ledger::kRegionProcessesNotCovered, uncovered.size());
    std::ranges::sort(uncovered);
    const auto repeated = std::ranges::unique(uncovered);
    uncovered.erase(repeated.begin(), repeated.end());
    constexpr size_t kMostNames = 8;
    uncovered.resize(std::min(uncovered.size(), kMostNames));
    ledger.note(fmt::format("regions of these programs are not covered: {}",
                            printable(fmt::format("{}", fmt::join(uncovered, ", ")))));
  }
  std::vector<std::string> remarks = describe_unseen(files, asked.functions);
  for (const std::string& remark : remarks) ledger.note(remark);
  return remarks;
}

}  // namespace culprit
