#include "simulate/counts_reader.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "openmp/region_kinds.h"
#include "simulate/counts_tables.h"
#include "simulate/objects/data_objects.h"
#include "simulate/thread_sum.h"

namespace culprit {

namespace file = counts_file;

namespace {

/// The sites of each block, in the order of execution.
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
  void add_cores(CountsSummary& summary);
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
  process.has_instances = header_.has_objects == 3;
  process.blocks_not_apart = header_.blocks_not_apart;
  process.has_allocators = header_.has_allocators != 0;
  process.unseen_allocations = header_.unseen_allocations;
  process.lost_ranges = header_.lost_ranges;
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
  const uint32_t groups = std::min(header_.sample_groups.load(), file::kMostGroups);
  process.strata.assign(header_.strata, header_.strata + groups);
  process.sampled_accesses.resize(groups);
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
    for (size_t group = 0; group < process.sampled_accesses.size(); ++group) {
      process.sampled_accesses[group] += core->sampled_accesses[group];
    }
  }
  return {};
}

/// What the header has not yet: with windows the beginning.
uint64_t Reader::estimate_ticks(const file::CoreHeader& core) const {
  const bool is_in_header = header_.has_windows != 0 && core.is_beginning == 0;
  return header_.has_cycles == 0 || is_in_header ? 0 : core.ticks;
}

void Reader::add_cores(CountsSummary& summary) {
  summary.estimated_ticks = header_.estimated_ticks;
  const auto core = std::make_unique<file::CoreHeader>();
  for (uint32_t number = 0; number < header_.cores; ++number) {
    const uint64_t start = file::core_start(number);
    if (!read_at(fd_, static_cast<void*>(core.get()), sizeof *core, start)) continue;
    const uint64_t executions = core->instructions;
    summary.executions += executions;
    summary.instructions += executions - std::min<uint64_t>(core->repeats, executions);
    summary.estimated_ticks += estimate_ticks(*core);
  }
}

Result<std::string> Reader::read_messages() {
  std::string text(header_.message_bytes, '\0');
  if (!read_at(fd_, text.data(), text.size(), file::kMessagesStart)) return damaged("messages");
  return text;
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
  counts.sample_weight = std::max(header.sample_weight.load(), 1U);
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

Result<CountsSummary> read_counts_summary(int fd, const std::string& name) {
  Reader reader(fd, name);
  RETURN_IF_ERROR(reader.read_header());
  CountsSummary summary;
  summary.pid = reader.header().pid;
  summary.parent_pid = reader.header().parent_pid;
  summary.start_ns = reader.header().start_ns;
  summary.is_fork = reader.header().is_fork != 0;
  summary.has_made_code = reader.header().sites_without_file != 0;
  reader.add_cores(summary);
  RETURN_IF_ERROR(reader.read_mappings(&summary.mappings, &summary.paths));
  return summary;
}

}  // namespace culprit
