#include "simulate/simulated_branches.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>
#include <vector>

namespace culprit {
namespace {

using counts_file::ControlFlow;
using counts_file::Counter;
using counts_file::Site;

/// Straight runs under way that began at one place.
struct OpenRuns {
  Location from;
  FileOffset last;  // that they have come to
  uint64_t count = 0;
};

class Branches {
 public:
  Branches(const ProcessCounts& counts, const ThreadCounts& thread,
           std::span<const Location> locations, ContextId context, ProfileBuilder& builder)
      : counts_(counts),
        thread_(thread),
        locations_(locations),
        context_(context),
        builder_(builder),
        ran_(thread.ran) {
    std::sort(ran_.begin(), ran_.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  }

  uint64_t add_taken() {
    for (const uint32_t site : ran_) add_direct(site);
    for (const counts_file::Target& target : thread_.targets) {
      if (target.to == 0 || !has_run(target.from) || !has_run(target.to)) {
        unknown_ += target.count;
      } else {
        add(target.from, target.to, target.count);
      }
    }
    return unknown_ + thread_.other_targets;
  }

  void add_runs() {
    for (const uint32_t site : ran_) go_on(site);
    for (auto& [address, runs] : under_way_) end_runs(runs, UINT64_MAX);
  }

 private:
  [[nodiscard]] std::pair<uint64_t, uint32_t> key(uint32_t site) const {
    return {counts_.sites[site].address, site};
  }
  [[nodiscard]] bool has_run(uint32_t site) const { return thread_.executions[site] != 0; }

  /// Executions without the further rounds of string instructions.
  [[nodiscard]] uint64_t executions(uint32_t site) const {
    const uint64_t repeats = thread_.counts[site].value[static_cast<size_t>(Counter::repeats)];
    return thread_.executions[site] - std::min(thread_.executions[site], repeats);
  }

  [[nodiscard]] uint64_t taken(uint32_t site) const {
    switch (counts_.sites[site].branch) {
      case ControlFlow::none:
      case ControlFlow::system_call:
        return 0;
      case ControlFlow::conditional:
        return std::min(executions(site),
                        thread_.counts[site].value[static_cast<size_t>(Counter::taken)]);
      case ControlFlow::jump:
      case ControlFlow::indirect_jump:
      case ControlFlow::call:
      case ControlFlow::indirect_call:
      case ControlFlow::returns:
        break;
    }
    return executions(site);
  }

  void add(uint32_t from, uint32_t to, uint64_t count) {
    BranchCount row;
    row.context = context_;
    row.from = locations_[from];
    row.to = locations_[to];
    row.count = count;
    builder_.add_branch(row);
  }

  void add_direct(uint32_t site) {
    const ControlFlow branch = counts_.sites[site].branch;
    const bool is_direct = branch == ControlFlow::conditional || branch == ControlFlow::jump ||
                           branch == ControlFlow::call;
    const uint64_t count = is_direct ? taken(site) : 0;
    if (count == 0) return;
    const auto displacement = static_cast<uint64_t>(int64_t{counts_.displacements[site]});
    const uint32_t to = find(counts_.sites[site].address + displacement, site);
    if (to != 0) {
      add(site, to, count);
    } else {
      unknown_ += count;
    }
  }

  /// The site that ran at the address: if several did, in the mapping that `near` is in, and the
  /// last. 0: none.
  [[nodiscard]] uint32_t find(uint64_t address, uint32_t near) const {
    uint32_t found = 0;
    auto at = std::lower_bound(
        ran_.begin(), ran_.end(), address,
        [&](uint32_t one, uint64_t wanted) { return counts_.sites[one].address < wanted; });
    for (; at != ran_.end() && counts_.sites[*at].address == address; ++at) {
      const uint32_t mapping = counts_.sites[near].mapping;
      const bool is_other = found != 0 && counts_.sites[*at].mapping != mapping &&
                            counts_.sites[found].mapping == mapping;
      if (!is_other) found = *at;
    }
    return found;
  }

  /// `count` of the runs, the oldest first, were no longer than to what they have come to.
  void end_runs(std::deque<OpenRuns>& runs, uint64_t count) {
    while (count > 0 && !runs.empty()) {
      OpenRuns& oldest = runs.front();
      const uint64_t ended = std::min(count, oldest.count);
      FallThrough row;
      row.context = context_;
      row.image = oldest.from.image;
      row.from = oldest.from.offset;
      row.to = oldest.last;
      row.count = ended;
      builder_.add_fall_through(row);
      count -= ended;
      oldest.count -= ended;
      if (oldest.count == 0) runs.pop_front();
    }
  }

  void go_on(uint32_t site) {
    const Site& facts = counts_.sites[site];
    const Location& at = locations_[site];
    std::deque<OpenRuns> runs;
    if (const auto here = under_way_.extract(facts.address)) runs = std::move(here.mapped());
    if (!runs.empty() && runs.front().from.image != at.image) end_runs(runs, UINT64_MAX);
    uint64_t arrived = 0;
    for (const OpenRuns& one : runs) arrived += one.count;
    if (arrived > executions(site)) end_runs(runs, arrived - executions(site));
    if (arrived < executions(site)) runs.push_back({at, at.offset, executions(site) - arrived});
    for (OpenRuns& one : runs) one.last = at.offset;
    end_runs(runs, taken(site));
    std::deque<OpenRuns>& next = under_way_[facts.address + facts.size];
    next.insert(next.end(), runs.begin(), runs.end());
  }

  const ProcessCounts& counts_;
  const ThreadCounts& thread_;
  std::span<const Location> locations_;
  ContextId context_;
  ProfileBuilder& builder_;
  std::vector<uint32_t> ran_;  // sites, by address
  uint64_t unknown_ = 0;
  std::map<uint64_t, std::deque<OpenRuns>> under_way_;  // by where they go on
};

}  // namespace

uint64_t add_branches(const ProcessCounts& counts, const ThreadCounts& thread,
                      std::span<const Location> locations, ContextId context,
                      ProfileBuilder& builder) {
  Branches branches(counts, thread, locations, context, builder);
  branches.add_runs();
  return branches.add_taken();
}

}  // namespace culprit
