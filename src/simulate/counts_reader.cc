#include "simulate/counts_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "openmp/region_kinds.h"

#include "base/read_at.h"
#include "base/text.h"
#include "simulate/objects/data_objects.h"

namespace culprit {

namespace file = counts_file;

namespace {

template <class T>
bool read_table(int fd, uint64_t start, size_t count, std::vector<T>* table) {
  table->resize(count);
  return read_at(fd, table->data(), count * sizeof(T), start);
}

/// Calls visit(index, row) for the rows of a table. Rows in holes of the file are left out: they
/// are zero, and most are, of a thread that runs little of the program's code. False: the file ends
/// before.
template <class T, class Visit>
bool visit_rows(int fd, uint64_t start, size_t count, Visit visit) {
  constexpr size_t kMostAtOnce = (size_t{1} << 16) / sizeof(T);
  struct stat status{};
  if (::fstat(fd, &status) != 0) return false;
  if (static_cast<uint64_t>(status.st_size) < start + count * sizeof(T)) return false;
  std::vector<T> rows(std::min(kMostAtOnce, count));
  for (size_t first = 0; first < count; first += rows.size()) {
    const uint64_t wanted = start + first * sizeof(T);
    const off_t data = ::lseek(fd, static_cast<off_t>(wanted), SEEK_DATA);
    if (data < 0 && errno == ENXIO) return true;
    if (data > 0) first += (static_cast<uint64_t>(data) - wanted) / sizeof(T);
    if (first >= count) return true;
    rows.resize(std::min(kMostAtOnce, count - first));
    if (!read_at(fd, rows.data(), rows.size() * sizeof(T), start + first * sizeof(T))) {
      return false;
    }
    for (size_t i = 0; i < rows.size(); ++i) visit(first + i, rows[i]);
  }
  return true;
}

Error damaged_file(const std::string& name, const char* what) {
  return Error{"the counts in " + in_quotes(name) + " are damaged (" + what + ")"};
}

/// Which sites each block has, in the order of execution.
struct BlockTable {
  std::vector<file::Block> blocks;
  std::vector<uint32_t> sites;
};

/// One counts file while it is read.
class Reader {
 public:
  Reader(int fd, const std::string& name) : fd_(fd), name_(name) {}

  Result<void> read_header();
  Result<void> read_mappings(std::vector<file::MappedRange>* mappings,
                             std::vector<std::string>* paths);
  Result<void> read_sites(size_t mappings, std::vector<file::Site>* sites, BlockTable* blocks);
  Result<void> read_objects(ProcessCounts& process);
  Result<void> read_regions(ProcessCounts& process);
  Result<void> read_cores(ProcessCounts& process);
  void look_at_cores(CountsGlance& glance);
  Result<std::string> read_messages();
  const file::Header& header() const { return header_; }

 private:
  Error damaged(const char* what) const { return damaged_file(name_, what); }
  Result<void> add_misses(uint64_t core_start, ProcessCounts& process);
  [[nodiscard]] uint64_t estimate_ticks(const file::CoreHeader& core) const;

  int fd_;
  const std::string& name_;
  file::Header header_{};
};

Result<void> Reader::read_header() {
  if (!read_at(fd_, static_cast<void*>(&header_), sizeof header_, 0)) return damaged("header");
  if (header_.magic != file::kMagic || header_.layout != file::kLayout) {
    return Error{in_quotes(name_) +
                 " was not written by this version of culprit's plugin for QEMU"};
  }
  const bool is_sane =
      header_.sites <= file::kMaxSites && header_.blocks <= file::kMaxBlocks &&
      header_.block_sites <= file::kMaxBlockSites && header_.mappings <= file::kMaxMappings &&
      header_.text_bytes <= file::kMaxTextBytes &&
      header_.message_bytes <= file::kMaxMessageBytes && header_.cores <= file::kMaxCores &&
      header_.sample_classes <= file::kMostSampleClasses && header_.sample_classes != 1;
  return is_sane ? Result<void>() : damaged("sizes of tables");
}

Result<void> Reader::read_mappings(std::vector<file::MappedRange>* mappings,
                                   std::vector<std::string>* paths) {
  std::vector<char> text;
  if (!read_table(fd_, file::kMappingsStart, header_.mappings, mappings) ||
      !read_table(fd_, file::kTextStart, header_.text_bytes, &text)) {
    return damaged("mappings");
  }
  text.push_back('\0');
  for (const file::MappedRange& mapping : *mappings) {
    if (mapping.path >= text.size()) return damaged("path of a mapping");
    paths->emplace_back(&text[mapping.path]);
  }
  return {};
}

Result<void> Reader::read_sites(size_t mappings, std::vector<file::Site>* sites,
                                BlockTable* blocks) {
  if (!read_table(fd_, file::kSitesStart, header_.sites, sites) ||
      !read_table(fd_, file::kBlocksStart, header_.blocks, &blocks->blocks) ||
      !read_table(fd_, file::kBlockSitesStart, header_.block_sites, &blocks->sites)) {
    return damaged("blocks");
  }
  for (const file::Site& site : *sites) {
    if (site.mapping >= mappings || site.size > sizeof site.code) return damaged("site");
  }
  // Blocks lie one behind the other: what overlaps could be any amount of work.
  constexpr uint32_t kMostInBlock = 1 << 16;
  uint64_t end = 0;
  for (const file::Block& block : blocks->blocks) {
    const bool fits = block.first >= end && block.first <= blocks->sites.size() &&
                      block.sites <= blocks->sites.size() - block.first;
    if (block.sites == 0) continue;  // the place holder
    if (!fits || block.sites > kMostInBlock) return damaged("block");
    end = uint64_t{block.first} + block.sites;
  }
  const bool is_any_wrong = std::any_of(blocks->sites.begin(), blocks->sites.end(),
                                        [&](uint32_t site) { return site >= sites->size(); });
  return is_any_wrong ? damaged("site of a block") : Result<void>();
}

Result<void> Reader::read_objects(ProcessCounts& process) {
  process.has_objects = header_.has_objects != 0;
  process.has_sizes = header_.has_objects == 2;
  process.has_allocators = header_.has_allocators != 0;
  process.unseen_allocations = header_.unseen_allocations;
  if (!process.has_objects) return {};
  std::vector<char> text;
  std::vector<file::Object> rows;
  std::vector<uint32_t> paths;
  if (header_.objects > file::kMaxObjects || header_.object_paths > file::kMaxObjectPaths ||
      !read_table(fd_, file::kTextStart, header_.text_bytes, &text) ||
      !read_table(fd_, file::kObjectsStart, header_.objects, &rows) ||
      !read_table(fd_, file::kObjectPathsStart, header_.object_paths, &paths) ||
      !read_table(fd_, file::kSiteObjectsStart, header_.sites, &process.site_objects)) {
    return damaged("data objects");
  }
  text.push_back('\0');
  for (const file::SiteObject& site : process.site_objects) {
    const bool is_plain = site.instruction == 0;
    if (is_plain) continue;
    // An instruction's own site is before those of its objects, and of none itself.
    const bool fits = site.instruction < process.site_objects.size() && site.object < rows.size() &&
                      process.site_objects[site.instruction].instruction == 0;
    if (!fits) return damaged("site of a data object");
  }
  const auto is_site = [&](uint32_t site) { return site < process.sites.size(); };
  for (size_t number = 0; number < rows.size(); ++number) {
    const file::Object& row = rows[number];
    const bool fits =
        row.kind <= static_cast<uint8_t>(objects::kLastKind) && row.name < text.size() &&
        row.mapping < process.mappings.size() && row.path_first <= paths.size() &&
        row.path_sites <= paths.size() - row.path_first && (row.parent == 0 || row.parent < number);
    if (!fits) return damaged("data object");
    const auto first = paths.begin() + row.path_first;
    CountedObject object{row, &text[row.name], {first, first + row.path_sites}};
    if (!std::all_of(object.path.begin(), object.path.end(), is_site)) {
      return damaged("path of a data object");
    }
    process.objects.push_back(std::move(object));
  }
  if (process.objects.empty()) process.objects.emplace_back();
  return {};
}

Result<void> Reader::read_regions(ProcessCounts& process) {
  process.has_regions = header_.has_regions != 0;
  process.lost_region_paths = header_.lost_region_paths;
  process.lost_region_parts = header_.lost_region_parts;
  if (!process.has_regions) return {};
  if (header_.region_paths == 0 || header_.region_paths > file::kMaxRegionPaths ||
      !read_table(fd_, file::kRegionPathsStart, header_.region_paths, &process.region_paths)) {
    return damaged("regions");
  }
  process.region_paths.front() = {};
  for (size_t number = 1; number < process.region_paths.size(); ++number) {
    const file::RegionPath& row = process.region_paths[number];
    const bool fits = row.parent < number && row.mapping < process.mappings.size() &&
                      row.end_mapping < process.mappings.size() && row.kind < CULPRIT_KINDS &&
                      row.detail < CULPRIT_DETAILS;
    if (!fits) return damaged("region");
  }
  return {};
}

Result<void> Reader::add_misses(uint64_t core_start, ProcessCounts& process) {
  const auto add = [&](size_t site, const file::SampledMisses& row) {
    for (size_t i = 0; i < header_.sample_classes; ++i) {
      process.misses[site].misses[i] += row.misses[i];
    }
  };
  const bool is_whole =
      visit_rows<file::SampledMisses>(fd_, core_start + file::kMissesInCore, header_.sites, add);
  return is_whole ? Result<void>() : damaged("misses of a core");
}

Result<void> Reader::read_cores(ProcessCounts& process) {
  if (header_.sample_classes != 0) process.misses.resize(process.sites.size());
  process.estimated_ticks = header_.estimated_ticks;
  process.lost_windows = header_.lost_windows;
  for (uint32_t number = 0; number < header_.cores; ++number) {
    const uint64_t start = file::core_start(number);
    const auto core = std::make_unique<file::CoreHeader>();
    if (!read_at(fd_, static_cast<void*>(core.get()), sizeof *core, start)) continue;
    const bool is_thread = core->region_path == 0;
    const bool has_run = core->instructions + core->outside_instructions != 0;
    process.threads += is_thread && has_run ? 1 : 0;
    process.outside_instructions += core->outside_instructions;
    process.system_calls += core->system_calls;
    process.system_call_ns += core->system_call_ns;
    if (header_.has_cycles != 0) process.clock_ticks += core->ticks;
    process.estimated_ticks += estimate_ticks(*core);
    if (header_.sample_classes != 0) RETURN_IF_ERROR(add_misses(start, process));
  }
  return {};
}

/// What the header has not yet: with windows the beginning.
uint64_t Reader::estimate_ticks(const file::CoreHeader& core) const {
  const bool is_in_header = header_.has_windows != 0 && core.is_beginning == 0;
  return header_.has_cycles == 0 || is_in_header ? 0 : core.ticks;
}

void Reader::look_at_cores(CountsGlance& glance) {
  glance.estimated_ticks = header_.estimated_ticks;
  const auto core = std::make_unique<file::CoreHeader>();
  for (uint32_t number = 0; number < header_.cores; ++number) {
    const uint64_t start = file::core_start(number);
    if (!read_at(fd_, static_cast<void*>(core.get()), sizeof *core, start)) continue;
    glance.instructions += core->instructions;
    glance.estimated_ticks += estimate_ticks(*core);
  }
}

Result<std::string> Reader::read_messages() {
  std::string text(header_.message_bytes, '\0');
  if (!read_at(fd_, text.data(), text.size(), file::kMessagesStart)) return damaged("messages");
  return text;
}

/// What threads have counted, added up core by core.
class ThreadSum {
 public:
  ThreadSum(int fd, const std::string& name, const ProcessCounts& process,
            const std::vector<file::Block>& blocks, const std::vector<uint32_t>& block_sites,
            bool has_cycles, const counting::WindowsFile* windows)
      : fd_(fd),
        name_(name),
        process_(process),
        windows_(windows),
        blocks_(blocks),
        block_sites_(block_sites),
        runs_(blocks.size()) {
    is_noted_.resize(process.sites.size());
    sum_.executions.resize(process.sites.size());
    sum_.counts.resize(process.sites.size());
    if (has_cycles) {
      sum_.ticks.resize(process.sites.size());
      sum_.replays.resize(process.sites.size());
    }
    if (windows != nullptr) {
      sum_.beginning.resize(process.sites.size());
      sum_.is_not_covered.resize(process.sites.size());
    }
  }

  Result<void> add_core(uint32_t number, const file::CoreHeader& core);
  /// Adds what follows from executions.
  Result<void> complete();
  void clear();
  ThreadCounts& sum() { return sum_; }

 private:
  Error damaged(const char* what) const { return damaged_file(name_, what); }
  void add_runs(size_t number, const file::BlockRuns& runs);
  Result<void> add_beginning(uint32_t core, bool is_all);
  void add_window_value(const counting::WindowValue& value);
  template <class Row>
  bool takes(size_t site, const Row& row);
  template <class Row>
  void note_at_object(uint32_t site, const Row& row);
  void add_known_accesses();
  void add_accesses_at_objects();
  /// The instruction's site, of the site of a data object.
  [[nodiscard]] uint32_t instruction_of(size_t site) const {
    if (site >= process_.site_objects.size()) return static_cast<uint32_t>(site);
    const uint32_t instruction = process_.site_objects[site].instruction;
    return instruction == 0 ? static_cast<uint32_t>(site) : instruction;
  }
  Result<void> add_targets(uint64_t core_start, uint32_t rows);
  void merge_targets();
  Result<void> add_block_ticks();

  int fd_;
  const std::string& name_;
  const ProcessCounts& process_;
  const counting::WindowsFile* windows_;  // nullptr: all was modelled
  const std::vector<file::Block>& blocks_;
  const std::vector<uint32_t>& block_sites_;
  std::vector<uint64_t> runs_;          // by block
  std::vector<uint32_t> blocks_run_{};  // that have any
  std::vector<bool> is_noted_;          // by site: in sum_.at_objects, or one of `at_edges_`
  std::vector<uint32_t> at_edges_{};    // sites in sum_.ran that have counts and no executions
  ThreadCounts sum_;
};

Result<void> ThreadSum::add_targets(uint64_t core_start, uint32_t rows) {
  if (rows > file::kMaxTargets) return damaged("targets of branches");
  std::vector<file::Target> targets;
  if (!read_table(fd_, core_start + file::kTargetsInCore, rows, &targets)) {
    return damaged("targets of branches");
  }
  if (rows > 0) targets.front() = {};  // the place holder
  const size_t sites = process_.sites.size();
  for (const file::Target& row : targets) {
    if (row.from >= sites || row.to >= sites) return damaged("target of a branch");
  }
  sum_.targets.insert(sum_.targets.end(), targets.begin(), targets.end());
  return {};
}

/// Those of several threads become one.
void ThreadSum::merge_targets() {
  std::vector<file::Target>& targets = sum_.targets;
  const auto key = [](const file::Target& row) { return std::pair(row.from, row.to); };
  std::sort(targets.begin(), targets.end(),
            [&](const file::Target& a, const file::Target& b) { return key(a) < key(b); });
  size_t kept = 0;
  for (const file::Target& row : targets) {
    if (row.count == 0) continue;
    if (kept > 0 && key(targets[kept - 1]) == key(row)) {
      targets[kept - 1].count += row.count;
    } else {
      targets[kept++] = row;
    }
  }
  targets.resize(kept);
}

/// Whether what was counted at the site is to be added. In the part of a region there may be some
/// of what ran just before the thread came into it: a misprediction, a load that was under way.
template <class Row>
bool ThreadSum::takes(size_t site, const Row& row) {
  if (sum_.executions[instruction_of(site)] != 0) return true;
  static const Row kNone{};
  if (!process_.has_regions || std::memcmp(&row, &kNone, sizeof row) == 0) return false;
  if (is_noted_[site]) return true;
  is_noted_[site] = true;
  const bool is_of_object = instruction_of(site) != site;
  if (!is_of_object) at_edges_.push_back(static_cast<uint32_t>(site));
  (is_of_object ? sum_.at_objects : sum_.ran).push_back(static_cast<uint32_t>(site));
  return true;
}

void ThreadSum::add_runs(size_t number, const file::BlockRuns& runs) {
  const file::Block& block = blocks_[number];
  if (runs.runs == 0 || block.sites == 0) return;
  if (runs_[number] == 0) blocks_run_.push_back(static_cast<uint32_t>(number));
  runs_[number] += runs.runs;
  for (uint32_t i = 0; i < block.sites; ++i) {
    const uint32_t site = block_sites_[block.first + i];
    if (sum_.executions[site] == 0) sum_.ran.push_back(site);
    sum_.executions[site] += runs.runs;
  }
  const uint32_t last = block_sites_[block.first + block.sites - 1];
  sum_.counts[last].value[static_cast<size_t>(file::Counter::taken)] += runs.taken;
}

void ThreadSum::add_window_value(const counting::WindowValue& value) {
  if (sum_.executions[value.site] == 0) return;  // of a damaged file, as others here
  if (value.which < counting::kStallsInWindow) {
    sum_.counts[value.site].value[value.which] += value.amount;
  } else if (sum_.ticks.empty()) {
    return;
  } else if (value.which < counting::kBusyInWindow) {
    sum_.ticks[value.site].stalls.ticks[value.which - counting::kStallsInWindow] += value.amount;
  } else if (value.which < counting::kReplaysInWindow) {
    const auto condition = simulate::kBusyValues[value.which - counting::kBusyInWindow];
    sum_.ticks[value.site].busy.*condition += value.amount;
  } else {
    sum_.replays[value.site].ticks[value.which - counting::kReplaysInWindow] += value.amount;
  }
}

/// What the core's threads measured in the beginning, as far as it was over. `is_all`: it was not,
/// for the last of them, and all runs are of it.
Result<void> ThreadSum::add_beginning(uint32_t core, bool is_all) {
  for (size_t i = 0; i < windows_->size() && windows_->header(i).window == 0; ++i) {
    if (windows_->header(i).core != core) continue;
    ASSIGN_OR_RETURN(const counting::Window window,
                     windows_->window(i, blocks_.size(), process_.sites.size()));
    for (const counting::WindowValue& value : window.values) add_window_value(value);
    if (is_all) continue;
    for (const counting::WindowRuns& runs : window.runs) {
      for (uint32_t site = 0; site < blocks_[runs.block].sites; ++site) {
        sum_.beginning[block_sites_[blocks_[runs.block].first + site]] += runs.runs;
      }
    }
  }
  return {};
}

template <class Row>
void ThreadSum::note_at_object(uint32_t site, const Row& row) {
  const bool is_empty = std::all_of(std::begin(row.value), std::end(row.value),
                                    [](uint64_t one) { return one == 0; });
  if (is_empty || is_noted_[site]) return;
  is_noted_[site] = true;
  sum_.at_objects.push_back(site);
}

Result<void> ThreadSum::add_core(uint32_t number, const file::CoreHeader& core) {
  const uint64_t start = file::core_start(number);
  sum_.other_targets += core.other_targets;
  RETURN_IF_ERROR(add_targets(start, core.targets));
  // With windows what is left here of what is modelled is of one that has no end, unless it is the
  // beginning.
  const bool has_model = windows_ == nullptr || core.is_beginning != 0;
  const auto add_block = [&](size_t block, const file::BlockRuns& runs) {
    add_runs(block, runs);
    if (windows_ == nullptr || !has_model) return;
    for (uint32_t i = 0; i < blocks_[block].sites; ++i) {
      sum_.beginning[block_sites_[blocks_[block].first + i]] += runs.runs;
    }
  };
  if (!visit_rows<file::BlockRuns>(fd_, start + file::kRunsInCore, blocks_.size(), add_block)) {
    return damaged("runs of blocks");
  }
  if (windows_ != nullptr) RETURN_IF_ERROR(add_beginning(number, has_model));
  const auto add_repeats = [&](size_t site, const file::SiteCounts& row) {
    constexpr auto kRepeats = static_cast<size_t>(file::Counter::repeats);
    sum_.counts[site].value[kRepeats] += row.value[kRepeats];
  };
  const auto add = [&](size_t site, const auto& row) {
    if (!takes(site, row)) return;
    const uint32_t instruction = instruction_of(site);
    if (instruction != site) note_at_object(static_cast<uint32_t>(site), row);
    uint64_t* const sums = sum_.counts[site].value;
    for (size_t i = 0; i < std::size(row.value); ++i) sums[i] += row.value[i];
  };
  const size_t sites = process_.sites.size();
  const uint64_t counts = start + file::kCountsInCore;
  if (!visit_rows<file::SiteAccesses>(fd_, start + file::kAccessesInCore, sites, add) ||
      !(has_model ? visit_rows<file::SiteCounts>(fd_, counts, sites, add)
                  : visit_rows<file::SiteCounts>(fd_, counts, sites, add_repeats))) {
    return damaged("counts of a core");
  }
  if (sum_.ticks.empty() || !has_model) return {};
  const auto add_stalls = [&](size_t site, const simulate::SiteTicks& row) {
    if (!takes(site, row)) return;
    sum_.ticks[site].stalls.add(row.stalls);
    sum_.ticks[site].busy.add(row.busy);
  };
  const auto add_replays = [&](size_t site, const simulate::ReplayTicks& row) {
    if (process_.has_regions && !takes(site, row)) return;
    for (size_t i = 0; i < row.ticks.size(); ++i) sum_.replays[site].ticks[i] += row.ticks[i];
  };
  const bool is_whole =
      visit_rows<simulate::SiteTicks>(fd_, start + file::kTicksInCore, sites, add_stalls) &&
      visit_rows<simulate::ReplayTicks>(fd_, start + file::kReplaysInCore, sites, add_replays);
  return is_whole ? Result<void>() : damaged("cycles of a core");
}

/// What known accesses have of bytes follows from their number; those at objects are counted, and
/// the instruction keeps the others.
void ThreadSum::add_accesses_at_objects() {
  for (const uint32_t site : sum_.at_objects) {
    const file::Site& facts = process_.sites[site];
    if ((facts.flags & file::kKnownAccesses) == 0) continue;
    uint64_t* const own = sum_.counts[site].value;
    uint64_t* const others = sum_.counts[instruction_of(site)].value;
    const auto share = [&](file::Counter first, uint8_t bytes) {
      const auto at = static_cast<size_t>(first);
      own[at + 1] = own[at] * bytes;
      for (size_t i = at; i <= at + 1; ++i) others[i] -= std::min(others[i], own[i]);
    };
    share(file::Counter::loads, facts.load_bytes);
    share(file::Counter::stores, facts.store_bytes);
  }
}

void ThreadSum::add_known_accesses() {
  for (const uint32_t number : sum_.ran) {
    const file::Site& site = process_.sites[number];
    if ((site.flags & file::kKnownAccesses) == 0) continue;
    uint64_t* const sums = sum_.counts[number].value;
    const uint64_t executions = sum_.executions[number];
    const auto add = [&](file::Counter first, uint8_t bytes) {
      sums[static_cast<size_t>(first)] += bytes != 0 ? executions : 0;
      sums[static_cast<size_t>(first) + 1] += bytes * executions;
    };
    add(file::Counter::loads, site.load_bytes);
    add(file::Counter::stores, site.store_bytes);
  }
}

/// What each execution of an instruction takes by itself depends on its block.
Result<void> ThreadSum::add_block_ticks() {
  std::vector<file::StaticTicks> rows;
  for (const uint32_t number : blocks_run_) {
    const file::Block& block = blocks_[number];
    const uint64_t start = file::kStaticStart + uint64_t{block.first} * sizeof(file::StaticTicks);
    if (!read_table(fd_, start, block.sites, &rows)) return damaged("cycles of a block");
    for (uint32_t i = 0; i < block.sites; ++i) {
      const uint32_t site = block_sites_[block.first + i];
      if (windows_ != nullptr && sum_.is_not_covered[site]) continue;
      auto& sums = sum_.ticks[site].stalls.ticks;
      for (size_t kind = 0; kind < sums.size(); ++kind) {
        sums[kind] += runs_[number] * rows[i].ticks[kind];
      }
    }
  }
  return {};
}

Result<void> ThreadSum::complete() {
  merge_targets();
  add_known_accesses();
  add_accesses_at_objects();
  return sum_.ticks.empty() ? Result<void>() : add_block_ticks();
}

/// All is zero again, in a time that does not grow with what has not run.
void ThreadSum::clear() {
  for (const uint32_t block : blocks_run_) runs_[block] = 0;
  for (const uint32_t site : sum_.ran) {
    sum_.executions[site] = 0;
    sum_.counts[site] = {};
    if (!sum_.ticks.empty()) sum_.ticks[site] = {};
    if (!sum_.replays.empty()) sum_.replays[site] = {};
    if (windows_ == nullptr) continue;
    sum_.beginning[site] = 0;
    sum_.is_not_covered[site] = false;
  }
  for (const uint32_t site : sum_.at_objects) {
    sum_.counts[site] = {};
    if (!sum_.ticks.empty()) sum_.ticks[site] = {};
    if (!sum_.replays.empty()) sum_.replays[site] = {};
    is_noted_[site] = false;
  }
  for (const uint32_t site : at_edges_) is_noted_[site] = false;
  at_edges_.clear();
  blocks_run_.clear();
  sum_.ran.clear();
  sum_.at_objects.clear();
  sum_.targets.clear();
  sum_.other_targets = 0;
}

}  // namespace

Result<CountsFile> CountsFile::read(int fd, std::string name) {
  CountsFile result(fd, std::move(name));
  Reader reader(fd, result.name_);
  RETURN_IF_ERROR(reader.read_header());
  const file::Header& header = reader.header();
  ProcessCounts& counts = result.process_;
  counts.pid = header.pid;
  counts.parent_pid = header.parent_pid;
  counts.is_fork = header.is_fork != 0;
  counts.is_stopped = header.is_stopped != 0;
  counts.sample_classes = header.sample_classes;
  counts.is_interleaved = header.is_interleaved != 0;
  counts.start_ns = header.start_ns;
  counts.program.assign(header.program, ::strnlen(header.program, sizeof header.program));
  counts.native_execs = header.native_execs;
  counts.uncounted_blocks = header.uncounted_blocks;
  counts.uncounted_cores = header.uncounted_cores;
  counts.threads_begun = header.threads;
  result.has_cycles_ = header.has_cycles != 0;
  result.cores_ = header.cores;
  result.has_windows_ = header.has_windows != 0;
  if (result.has_windows_) {
    ASSIGN_OR_RETURN(result.windows_,
                     counting::WindowsFile::read(counting::windows_file_path(result.name_)));
  }
  ASSIGN_OR_RETURN(counts.messages, reader.read_messages());
  RETURN_IF_ERROR(reader.read_mappings(&counts.mappings, &counts.paths));
  BlockTable table;
  RETURN_IF_ERROR(reader.read_sites(counts.mappings.size(), &counts.sites, &table));
  counts.displacements.resize(counts.sites.size());
  for (const file::Block& block : table.blocks) {
    if (block.sites == 0) continue;
    counts.displacements[table.sites[block.first + block.sites - 1]] = block.displacement;
  }
  result.blocks_ = std::move(table.blocks);
  result.block_sites_ = std::move(table.sites);
  RETURN_IF_ERROR(reader.read_objects(counts));
  RETURN_IF_ERROR(reader.read_regions(counts));
  RETURN_IF_ERROR(reader.read_cores(counts));
  return result;
}

Result<void> CountsFile::visit_threads(const std::function<void(const ThreadCounts&)>& visit,
                                       const std::function<void(ThreadCounts&)>& estimate) const {
  ThreadSum threads(fd_, name_, process_, blocks_, block_sites_, has_cycles_,
                    has_windows_ ? &windows_ : nullptr);
  ThreadCounts& sum = threads.sum();
  const auto is_of_region = [](uint32_t number) {
    return number >= file::kThreadsApart && number < file::shared_core(0);
  };
  for (uint32_t number = 0; number < cores_; ++number) {
    if (is_of_region(number)) continue;
    const auto core = std::make_unique<file::CoreHeader>();
    const uint64_t start = file::core_start(number);
    // Numbers may be skipped.
    if (!read_at(fd_, static_cast<void*>(core.get()), sizeof *core, start)) continue;
    RETURN_IF_ERROR(threads.add_core(number, *core));
    if (number >= file::kThreadsApart) continue;
    sum.number = number;
    sum.tid = core->tid;
    sum.name.assign(core->name, ::strnlen(core->name, sizeof core->name));
    if (sum.ran.empty()) {
      threads.clear();
      continue;
    }
    if (estimate) estimate(sum);
    RETURN_IF_ERROR(threads.complete());
    visit(sum);
    threads.clear();
  }
  if (!sum.ran.empty()) {
    sum.number = file::kThreadsApart;
    sum.tid = 0;
    sum.name = kOtherThreads;
    if (estimate) estimate(sum);
    RETURN_IF_ERROR(threads.complete());
    visit(sum);
    threads.clear();
  }
  if (!process_.has_regions) return {};
  for (uint32_t number = file::kThreadsApart; number < cores_ && is_of_region(number); ++number) {
    const auto core = std::make_unique<file::CoreHeader>();
    if (!read_at(fd_, static_cast<void*>(core.get()), sizeof *core, file::core_start(number))) {
      continue;
    }
    if (core->region_path == 0) continue;
    if (core->region_path >= process_.region_paths.size() ||
        core->of_thread > file::kThreadsApart) {
      return damaged_file(name_, "region of a thread");
    }
    RETURN_IF_ERROR(threads.add_core(number, *core));
    RETURN_IF_ERROR(threads.complete());
    sum.number = core->of_thread;
    sum.tid = 0;
    sum.name = kOtherThreads;
    sum.region = {core->region_path, core->is_waiting != 0, core->executions, core->pieces};
    visit(sum);
    sum.region = {};
    threads.clear();
  }
  return {};
}

Result<CountsGlance> glance_at_counts(int fd, const std::string& name) {
  Reader reader(fd, name);
  RETURN_IF_ERROR(reader.read_header());
  CountsGlance glance;
  glance.pid = reader.header().pid;
  glance.parent_pid = reader.header().parent_pid;
  glance.start_ns = reader.header().start_ns;
  glance.is_fork = reader.header().is_fork != 0;
  glance.has_made_code = reader.header().sites_without_file != 0;
  reader.look_at_cores(glance);
  RETURN_IF_ERROR(reader.read_mappings(&glance.mappings, &glance.paths));
  return glance;
}

}  // namespace culprit
