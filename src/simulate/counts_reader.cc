#include "simulate/counts_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace culprit {

namespace file = counts_file;

namespace {

/// Reads into what `to` points to; what lies beyond the file's end stays as it is.
bool pread_all(int fd, void* to, size_t bytes, uint64_t offset) {
  char* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = ::pread(fd, at, bytes, static_cast<off_t>(offset));
    if (got <= 0) return false;
    at += got;
    bytes -= static_cast<size_t>(got);
    offset += static_cast<uint64_t>(got);
  }
  return true;
}

template <class T>
bool read_table(int fd, uint64_t start, size_t count, std::vector<T>* table) {
  table->resize(count);
  return pread_all(fd, table->data(), count * sizeof(T), start);
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
    if (!pread_all(fd, rows.data(), rows.size() * sizeof(T), start + first * sizeof(T))) {
      return false;
    }
    for (size_t i = 0; i < rows.size(); ++i) visit(first + i, rows[i]);
  }
  return true;
}

/// One counts file while it is read.
class Reader {
 public:
  Reader(int fd, const std::string& name) : fd_(fd), name_(name) {}

  Result<void> read_header();
  Result<void> read_mappings(std::vector<file::Mapping>* mappings, std::vector<std::string>* paths);
  Result<void> read_sites(ProcessCounts& counts);
  Result<void> add_cores(ProcessCounts& counts);
  Result<void> add_counts(uint64_t core_start, ProcessCounts& counts);
  Result<uint64_t> count_instructions();
  Result<std::string> read_messages();
  const file::Header& header() const { return header_; }

 private:
  Error damaged(const char* what) const {
    return Error{"the counts in '" + name_ + "' are damaged (" + what + ")"};
  }
  void add_known_accesses(ProcessCounts& counts) const;
  void add_runs(size_t number, const file::BlockRuns& runs, ProcessCounts& counts);
  Result<void> add_stalls(uint64_t core_start, ProcessCounts& counts);
  Result<void> add_misses(uint64_t core_start, ProcessCounts& counts);
  Result<void> add_targets(uint64_t core_start, uint32_t rows, ProcessCounts& counts);
  Result<void> add_block_ticks(const std::vector<uint64_t>& runs, ProcessCounts& counts);

  int fd_;
  const std::string& name_;
  file::Header header_{};
  std::vector<file::Block> blocks_;
  std::vector<uint32_t> block_sites_;
};

Result<void> Reader::read_header() {
  if (!pread_all(fd_, static_cast<void*>(&header_), sizeof header_, 0)) return damaged("header");
  if (header_.magic != file::kMagic || header_.layout != file::kLayout) {
    return Error{"'" + name_ + "' was not written by this version of culprit's plugin for QEMU"};
  }
  const bool is_sane =
      header_.sites <= file::kMaxSites && header_.blocks <= file::kMaxBlocks &&
      header_.block_sites <= file::kMaxBlockSites && header_.mappings <= file::kMaxMappings &&
      header_.text_bytes <= file::kMaxTextBytes &&
      header_.message_bytes <= file::kMaxMessageBytes && header_.cores <= file::kMaxCores &&
      header_.sample_classes <= file::kMostSampleClasses && header_.sample_classes != 1;
  return is_sane ? Result<void>() : damaged("sizes of tables");
}

Result<void> Reader::read_mappings(std::vector<file::Mapping>* mappings,
                                   std::vector<std::string>* paths) {
  std::vector<char> text;
  if (!read_table(fd_, file::kMappingsStart, header_.mappings, mappings) ||
      !read_table(fd_, file::kTextStart, header_.text_bytes, &text)) {
    return damaged("mappings");
  }
  text.push_back('\0');
  for (const file::Mapping& mapping : *mappings) {
    if (mapping.path >= text.size()) return damaged("path of a mapping");
    paths->emplace_back(&text[mapping.path]);
  }
  return {};
}

Result<void> Reader::read_sites(ProcessCounts& counts) {
  if (!read_table(fd_, file::kSitesStart, header_.sites, &counts.sites) ||
      !read_table(fd_, file::kBlocksStart, header_.blocks, &blocks_) ||
      !read_table(fd_, file::kBlockSitesStart, header_.block_sites, &block_sites_)) {
    return damaged("blocks");
  }
  const size_t sites = counts.sites.size();
  for (const file::Site& site : counts.sites) {
    if (site.mapping >= counts.mappings.size() || site.size > sizeof site.code) {
      return damaged("site");
    }
  }
  // Blocks lie one behind the other: what overlaps could be any amount of work.
  constexpr uint32_t kMostInBlock = 1 << 16;
  uint64_t end = 0;
  for (const file::Block& block : blocks_) {
    const bool fits = block.first >= end && block.first <= block_sites_.size() &&
                      block.sites <= block_sites_.size() - block.first;
    if (block.sites == 0) continue;  // the place holder
    if (!fits || block.sites > kMostInBlock) return damaged("block");
    end = uint64_t{block.first} + block.sites;
  }
  if (std::any_of(block_sites_.begin(), block_sites_.end(),
                  [&](uint32_t site) { return site >= sites; })) {
    return damaged("site of a block");
  }
  counts.displacements.resize(sites);
  for (const file::Block& block : blocks_) {
    if (block.sites == 0) continue;
    counts.displacements[block_sites_[block.first + block.sites - 1]] = block.displacement;
  }
  counts.executions.resize(sites);
  counts.counts.resize(sites);
  if (header_.has_cycles != 0) counts.ticks.resize(sites);
  if (header_.sample_classes != 0) counts.misses.resize(sites);
  return {};
}

void Reader::add_runs(size_t number, const file::BlockRuns& runs, ProcessCounts& counts) {
  const file::Block& block = blocks_[number];
  if (runs.runs == 0 || block.sites == 0) return;
  for (uint32_t i = 0; i < block.sites; ++i) {
    counts.executions[block_sites_[block.first + i]] += runs.runs;
  }
  const uint32_t last = block_sites_[block.first + block.sites - 1];
  counts.counts[last].value[static_cast<size_t>(file::Counter::taken)] += runs.taken;
}

Result<void> Reader::add_counts(uint64_t core_start, ProcessCounts& counts) {
  const auto add = [&](size_t site, const auto& row) {
    uint64_t* const sums = counts.counts[site].value;
    for (size_t i = 0; i < std::size(row.value); ++i) sums[i] += row.value[i];
  };
  const bool is_whole =
      visit_rows<file::SiteAccesses>(fd_, core_start + file::kAccessesInCore, header_.sites, add) &&
      visit_rows<file::SiteCounts>(fd_, core_start + file::kCountsInCore, header_.sites, add);
  return is_whole ? Result<void>() : damaged("counts of a core");
}

/// Those that follow from executions.
void Reader::add_known_accesses(ProcessCounts& counts) const {
  for (size_t number = 0; number < counts.sites.size(); ++number) {
    const file::Site& site = counts.sites[number];
    if ((site.flags & file::kKnownAccesses) == 0) continue;
    uint64_t* const sums = counts.counts[number].value;
    const uint64_t executions = counts.executions[number];
    const auto add = [&](file::Counter first, uint8_t bytes) {
      sums[static_cast<size_t>(first)] += bytes != 0 ? executions : 0;
      sums[static_cast<size_t>(first) + 1] += bytes * executions;
    };
    add(file::Counter::loads, site.load_bytes);
    add(file::Counter::stores, site.store_bytes);
  }
}

Result<void> Reader::add_stalls(uint64_t core_start, ProcessCounts& counts) {
  const auto add = [&](size_t site, const simulate::SiteTicks& row) {
    counts.ticks[site].stalls.add(row.stalls);
    counts.ticks[site].busy.add(row.busy);
  };
  const bool is_whole =
      visit_rows<simulate::SiteTicks>(fd_, core_start + file::kTicksInCore, header_.sites, add);
  return is_whole ? Result<void>() : damaged("cycles of a core");
}

Result<void> Reader::add_misses(uint64_t core_start, ProcessCounts& counts) {
  if (header_.sample_classes == 0) return {};
  const auto add = [&](size_t site, const file::SampledMisses& row) {
    for (size_t i = 0; i < header_.sample_classes; ++i) {
      counts.misses[site].misses[i] += row.misses[i];
    }
  };
  const bool is_whole =
      visit_rows<file::SampledMisses>(fd_, core_start + file::kMissesInCore, header_.sites, add);
  return is_whole ? Result<void>() : damaged("misses of a core");
}

Result<void> Reader::add_targets(uint64_t core_start, uint32_t rows, ProcessCounts& counts) {
  if (rows > file::kMaxTargets) return damaged("targets of branches");
  std::vector<file::Target> targets;
  if (!read_table(fd_, core_start + file::kTargetsInCore, rows, &targets)) {
    return damaged("targets of branches");
  }
  if (rows > 0) targets.front() = {};  // the place holder
  for (const file::Target& row : targets) {
    if (row.from >= header_.sites || row.to >= header_.sites) return damaged("target of a branch");
  }
  counts.targets.insert(counts.targets.end(), targets.begin(), targets.end());
  return {};
}

/// Those of several threads become one.
void merge_targets(std::vector<file::Target>& targets) {
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

/// What each execution of an instruction takes by itself depends on its block.
Result<void> Reader::add_block_ticks(const std::vector<uint64_t>& runs, ProcessCounts& counts) {
  std::vector<file::StaticTicks> rows;
  for (size_t number = 0; number < runs.size(); ++number) {
    if (runs[number] == 0) continue;
    const file::Block& block = blocks_[number];
    const uint64_t start = file::kStaticStart + uint64_t{block.first} * sizeof(file::StaticTicks);
    if (!read_table(fd_, start, block.sites, &rows)) return damaged("cycles of a block");
    for (uint32_t i = 0; i < block.sites; ++i) {
      auto& sums = counts.ticks[block_sites_[block.first + i]].stalls.ticks;
      for (size_t kind = 0; kind < sums.size(); ++kind) {
        sums[kind] += runs[number] * rows[i].ticks[kind];
      }
    }
  }
  return {};
}

Result<void> Reader::add_cores(ProcessCounts& counts) {
  std::vector<uint64_t> all_runs(header_.blocks);
  for (uint32_t number = 0; number < header_.cores; ++number) {
    const uint64_t start = file::core_start(number);
    const auto core = std::make_unique<file::CoreHeader>();
    // A number may be skipped; a child's file ends before the cores of its parent's threads.
    if (!pread_all(fd_, static_cast<void*>(core.get()), sizeof *core, start)) continue;
    const auto add = [&](size_t block, const file::BlockRuns& runs) {
      add_runs(block, runs, counts);
      all_runs[block] += runs.runs;
    };
    if (!visit_rows<file::BlockRuns>(fd_, start + file::kRunsInCore, header_.blocks, add)) {
      return damaged("runs of blocks");
    }
    counts.threads += core->instructions + core->outside_instructions != 0 ? 1 : 0;
    counts.outside_instructions += core->outside_instructions;
    counts.system_calls += core->system_calls;
    counts.system_call_ns += core->system_call_ns;
    counts.other_targets += core->other_targets;
    RETURN_IF_ERROR(add_targets(start, core->targets, counts));
    RETURN_IF_ERROR(add_counts(start, counts));
    RETURN_IF_ERROR(add_misses(start, counts));
    if (header_.has_cycles != 0) {
      counts.clock_ticks += core->ticks;
      RETURN_IF_ERROR(add_stalls(start, counts));
    }
  }
  merge_targets(counts.targets);
  add_known_accesses(counts);
  return header_.has_cycles != 0 ? add_block_ticks(all_runs, counts) : Result<void>();
}

Result<uint64_t> Reader::count_instructions() {
  uint64_t instructions = 0;
  for (uint32_t number = 0; number < header_.cores; ++number) {
    uint64_t of_core = 0;
    static_assert(offsetof(file::CoreHeader, instructions) == 0);
    if (pread_all(fd_, &of_core, sizeof of_core, file::core_start(number))) instructions += of_core;
  }
  return instructions;
}

Result<std::string> Reader::read_messages() {
  std::string text(header_.message_bytes, '\0');
  if (!pread_all(fd_, text.data(), text.size(), file::kMessagesStart)) return damaged("messages");
  return text;
}

}  // namespace

Result<ProcessCounts> read_counts(int fd, const std::string& name) {
  Reader reader(fd, name);
  RETURN_IF_ERROR(reader.read_header());
  const file::Header& header = reader.header();
  ProcessCounts counts;
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
  ASSIGN_OR_RETURN(counts.messages, reader.read_messages());
  RETURN_IF_ERROR(reader.read_mappings(&counts.mappings, &counts.paths));
  RETURN_IF_ERROR(reader.read_sites(counts));
  RETURN_IF_ERROR(reader.add_cores(counts));
  return counts;
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
  ASSIGN_OR_RETURN(glance.instructions, reader.count_instructions());
  RETURN_IF_ERROR(reader.read_mappings(&glance.mappings, &glance.paths));
  return glance;
}

}  // namespace culprit
