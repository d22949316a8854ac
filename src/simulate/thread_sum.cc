#include "simulate/thread_sum.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <unordered_map>
#include <utility>

namespace culprit {

namespace file = counts_file;

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
  // A run in windows leaves here only what is modelled of a window without an end, which counts for
  // nothing but in the beginning.
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
  const auto add_whole = [&](size_t site, const file::SiteCounts& row) {
    for (size_t i = 0; i < file::kCounters; ++i) {
      if (file::is_of_whole_run(i)) sum_.counts[site].value[i] += row.value[i];
    }
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
                  : visit_rows<file::SiteCounts>(fd_, counts, sites, add_whole))) {
    return damaged("counts of a core");
  }
  const auto add_certain = [&](size_t site, const file::CertainMisses& row) {
    if (!takes(site, row)) return;
    for (size_t i = 0; i < std::size(row.value); ++i) sum_.certain[site].value[i] += row.value[i];
  };
  if (!sum_.certain.empty() &&
      !visit_rows<file::CertainMisses>(fd_, start + file::kCertainInCore, sites, add_certain)) {
    return damaged("misses of a core");
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

namespace {

/// What is left of an instruction's accesses, shared by those at its objects that were looked at.
struct Shared {
  uint64_t all = 0;      // that are to be shared
  uint64_t weights = 0;  // of all shares
  uint64_t given = 0;    // of these

  /// A file may say anything: the sum of its numbers is kept from becoming 0.
  void add(uint64_t weight) { weights = std::max(weights, weights + weight); }

  /// The next one's; those of all add up to all.
  uint64_t take(uint64_t weight) {
    const uint64_t before = up_to(given);
    given = std::min(given + weight, weights);
    return up_to(given) - before;
  }

 private:
  [[nodiscard]] uint64_t up_to(uint64_t weight) const {
    return static_cast<uint64_t>(static_cast<__uint128_t>(all) * weight / weights);
  }
};

/// The variance of a share of `all`, of which some were looked at, `weight` of `weights`. It is
/// not 0 where all of these were alike: others may differ.
/// Source: A. Agresti and B. A. Coull, Approximate is better than "exact" for interval estimation
///         of binomial proportions, The American Statistician 52 (1998)
double estimate_share_variance(const Shared& shared, uint64_t weight) {
  constexpr double kAdded = 2;  // of each kind
  const double looked_at = static_cast<double>(shared.weights) / file::kLookedAtPeriod + 2 * kAdded;
  const double share = (static_cast<double>(weight) / file::kLookedAtPeriod + kAdded) / looked_at;
  const auto all = static_cast<double>(shared.all);
  return all * all * share * (1 - share) / looked_at;
}

}  // namespace

/// Known accesses at objects are counted, or looked at so that the others can be shared among the
/// objects; the instruction keeps the rest. Their bytes follow from their number.
void ThreadSum::share_accesses(file::Counter counter, uint8_t file::Site::* bytes,
                               Variance variance) {
  const auto at = static_cast<size_t>(counter);
  std::unordered_map<uint32_t, Shared> shared;  // by instruction
  for (const uint32_t site : sum_.at_objects) {
    if ((process_.sites[site].flags & file::kKnownAccesses) == 0) continue;
    uint64_t* const own = sum_.counts[site].value;
    uint64_t* const others = sum_.counts[instruction_of(site)].value + at;
    const uint64_t looked_at = std::min(own[at + 1], own[at]);
    own[at] -= looked_at;
    own[at + 1] = looked_at;
    others[0] -= std::min(others[0], own[at]);
    others[1] = others[0] * process_.sites[site].*bytes;
    if (looked_at != 0) shared[instruction_of(site)].add(looked_at);
  }
  for (auto& [instruction, one] : shared) {
    uint64_t* const others = sum_.counts[instruction].value + at;
    one.all = std::exchange(others[0], 0);
    others[1] = 0;
  }
  for (const uint32_t site : sum_.at_objects) {
    if ((process_.sites[site].flags & file::kKnownAccesses) == 0) continue;
    uint64_t* const own = sum_.counts[site].value;
    if (const uint64_t weight = own[at + 1]; weight != 0) {
      Shared& among = shared[instruction_of(site)];
      own[at] += among.take(weight);
      if (!sum_.access_variance.empty()) {
        sum_.access_variance[site].*variance = estimate_share_variance(among, weight);
      }
    }
    own[at + 1] = own[at] * process_.sites[site].*bytes;
  }
}

void ThreadSum::add_accesses_at_objects() {
  share_accesses(file::Counter::loads, &file::Site::load_bytes,
                 &ThreadCounts::AccessVariance::loads);
  share_accesses(file::Counter::stores, &file::Site::store_bytes,
                 &ThreadCounts::AccessVariance::stores);
}

void ThreadSum::add_known_accesses() {
  for (const uint32_t number : sum_.ran) {
    const file::Site& site = process_.sites[number];
    if ((site.flags & file::kKnownAccesses) == 0) continue;
    uint64_t* const sums = sum_.counts[number].value;
    const uint64_t executions = sum_.executions[number];
    if (executions == 0 || instruction_of(number) != number) continue;
    // What was counted of the instruction itself, where a further object found no room, is of
    // these.
    const auto add = [&](file::Counter first, uint8_t bytes) {
      if (bytes == 0) return;
      sums[static_cast<size_t>(first)] = executions;
      sums[static_cast<size_t>(first) + 1] = bytes * executions;
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
    if (!sum_.certain.empty()) sum_.certain[site] = {};
    if (!sum_.ticks.empty()) sum_.ticks[site] = {};
    if (!sum_.replays.empty()) sum_.replays[site] = {};
    if (windows_ == nullptr) continue;
    sum_.beginning[site] = 0;
    sum_.is_not_covered[site] = false;
  }
  for (const uint32_t site : sum_.at_objects) {
    sum_.counts[site] = {};
    if (!sum_.certain.empty()) sum_.certain[site] = {};
    if (!sum_.access_variance.empty()) sum_.access_variance[site] = {};
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

}  // namespace culprit
