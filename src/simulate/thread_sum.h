#pragma once

// What threads have counted, added up core by core of a counts file: executions of instructions
// from those of blocks, and what is counted, or modelled, at each.
//
//     ThreadSum threads(...);
//     RETURN_IF_ERROR(threads.add_core(number, core));  // of each core that the thread was on
//     RETURN_IF_ERROR(threads.complete());
//     visit(threads.sum());
//     threads.clear();

#include <cstdint>
#include <string>
#include <vector>

#include "simulate/counts_reader.h"
#include "simulate/counts_tables.h"

namespace culprit {

/// Errors of its functions: the file is shorter than it says, or contradicts itself.
class ThreadSum {
 public:
  ThreadSum(int fd, const std::string& name, const ProcessCounts& process,
            const std::vector<counts_file::Block>& blocks, const std::vector<uint32_t>& block_sites,
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
    if (process.sample_classes != 0) {
      sum_.certain.resize(process.sites.size());
      sum_.access_variance.resize(process.sites.size());
    }
    if (windows != nullptr) {
      sum_.beginning.resize(process.sites.size());
      sum_.is_not_covered.resize(process.sites.size());
    }
  }

  Result<void> add_core(uint32_t number, const counts_file::CoreHeader& core);
  /// Adds what follows from executions.
  Result<void> complete();
  void clear();
  ThreadCounts& sum() { return sum_; }

 private:
  Error damaged(const char* what) const { return damaged_file(name_, what); }
  void add_runs(size_t number, const counts_file::BlockRuns& runs);
  Result<void> add_beginning(uint32_t core, bool is_all);
  void add_window_value(const counting::WindowValue& value);
  template <class Row>
  bool takes(size_t site, const Row& row);
  template <class Row>
  void note_at_object(uint32_t site, const Row& row);
  void add_known_accesses();
  void add_accesses_at_objects();
  using Variance = double ThreadCounts::AccessVariance::*;
  void share_accesses(counts_file::Counter counter, uint8_t counts_file::Site::* bytes,
                      Variance variance);
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
  const std::vector<counts_file::Block>& blocks_;
  const std::vector<uint32_t>& block_sites_;
  std::vector<uint64_t> runs_;          // by block
  std::vector<uint32_t> blocks_run_{};  // that have any
  std::vector<bool> is_noted_;          // by site: in sum_.at_objects, or one of `at_edges_`
  std::vector<uint32_t> at_edges_{};    // sites in sum_.ran that have counts and no executions
  ThreadCounts sum_;
};

}  // namespace culprit
