#include "compare/causes.h"

#include <algorithm>
#include <cmath>

namespace culprit {
namespace {

constexpr double kLeastShare = 0.05;        // of the largest change, which a branch must have
constexpr double kLeastEventChange = 0.02;  // of an event, which is worth a word
constexpr size_t kMostEvents = 2;           // of a branch

/// Useful work is what unstalled cycles no branch has.
constexpr const char* kWork = "useful_work";
constexpr const char* kUnexplained = "unexplained";

/// A number in the tree of one run.
struct Entry {
  std::string branch;  // key
  std::string group;
  std::string label;  // "": the whole branch
  bool is_cycles = false;
  Provenance provenance = Provenance::counted;
  Estimate value;

  [[nodiscard]] bool is_same(const Entry& other) const {
    return branch == other.branch && group == other.group && label == other.label &&
           is_cycles == other.is_cycles;
  }
};

bool counts_cycles(const CostNode& event) {
  return event.cycles && event.row->penalty.unit == PenaltyUnit::cycles &&
         event.row->penalty.value == 1;
}

void add_parts(const CostNode& node, const std::string& branch, std::vector<Entry>& entries) {
  for (const CostNode& part : node.parts) {
    const std::string group = part.row != nullptr       ? part.row->group
                              : part.formula != nullptr ? part.formula->group
                                                        : "";
    if (part.kind != NodeKind::group && part.in_sum && part.cycles) {
      entries.push_back({branch, group, part.label, true, part.provenance, *part.cycles});
    }
    if (part.kind == NodeKind::event && part.amount && !counts_cycles(part)) {
      entries.push_back(
          {branch, group, part.label, false, part.amount->provenance, part.amount->events});
    }
    add_parts(part, branch, entries);
  }
}

/// The branches, what no branch has, and what is in them.
std::vector<Entry> list_entries(const CostTree& tree) {
  std::vector<Entry> entries;
  Estimate unstalled_branches;
  for (const CostNode& level : tree.unhalted.parts) {
    for (const CostNode& node : level.parts) {
      if (node.kind != NodeKind::branch || !node.cycles) continue;
      const std::string key(branch_key(node.branch));
      entries.push_back({key, "", "", true, node.provenance, *node.cycles});
      if (level.branch == CostBranch::unstalled) {
        unstalled_branches = unstalled_branches + *node.cycles;
      }
      add_parts(node, key, entries);
    }
  }
  const CostNode* const unstalled = tree.find(CostBranch::unstalled);
  if (unstalled != nullptr && unstalled->cycles) {
    const Estimate work = *unstalled->cycles + unstalled_branches * -1;
    entries.push_back({kWork, "", "", true, unstalled->provenance, work});
  }
  if (tree.unexplained && tree.overlap) {
    const Estimate rest{tree.unexplained->value - tree.overlap->value,
                        tree.unexplained->standard_error};
    entries.push_back({kUnexplained, "", "", true, Provenance::modelled, rest});
  }
  return entries;
}

std::string describe_branch(const std::string& key) {
  if (key == kWork) return "useful work";
  if (key == kUnexplained) return "stalled, by no branch";
  for (const BranchName& name : kBranchNames) {
    if (name.key == key) return std::string(name.words);
  }
  return key;
}

/// The mean of a group. Runs scatter by more than their errors, or exact ones by nothing.
Estimate find_mean(std::span<const Estimate> runs) {
  const auto count = static_cast<double>(runs.size());
  Estimate sum;
  for (const Estimate& run : runs) sum = sum + run;
  const Estimate mean = sum * (1 / count);
  double squares = 0;
  for (const Estimate& run : runs) squares += (run.value - mean.value) * (run.value - mean.value);
  const double scatter = runs.size() > 1 ? std::sqrt(squares / (count - 1) / count) : 0;
  return {mean.value, std::max(mean.standard_error, scatter)};
}

CauseAmount compare_means(std::string label, bool is_cycles, std::span<const Estimate> runs,
                          size_t base_runs) {
  const Estimate base = find_mean(runs.first(base_runs));
  const Estimate now = find_mean(runs.subspan(base_runs));
  return {std::move(label), is_cycles, base.value, now.value,
          std::hypot(base.standard_error, now.standard_error)};
}

bool is_certain(const CauseAmount& amount) {
  return amount.change() != 0 && std::abs(amount.change()) > kNormal95 * amount.error;
}

double relative_change(const CauseAmount& amount) {
  const double larger = std::max(std::abs(amount.base), std::abs(amount.now));
  return larger > 0 ? std::abs(amount.change()) / larger : 0;
}

std::optional<CauseAmount> compare_instructions(std::span<const CostTree> trees, size_t base_runs) {
  std::vector<Estimate> runs;
  for (const CostTree& tree : trees) {
    const auto found = std::find_if(
        tree.general.begin(), tree.general.end(),
        [](const CostNode& node) { return node.label == kInstructionsLabel && node.amount; });
    if (found == tree.general.end()) return std::nullopt;
    runs.push_back(found->amount->events);
  }
  return compare_means("instructions", false, runs, base_runs);
}

std::optional<CauseAmount> compare_cycles(std::span<const CostTree> trees, size_t base_runs) {
  std::vector<Estimate> runs;
  for (const CostTree& tree : trees) {
    if (!tree.unhalted.cycles) return std::nullopt;
    runs.push_back(*tree.unhalted.cycles);
  }
  return compare_means("cycles", true, runs, base_runs);
}

/// The numbers of a row in all runs, side by side.
struct ComparedEntry {
  Entry entry;  // of the first run
  CauseAmount amount;
};

/// What only some runs know cannot be compared.
std::vector<ComparedEntry> compare_entries(std::span<const CostTree> trees, size_t base_runs) {
  std::vector<std::vector<Entry>> runs;
  runs.reserve(trees.size());
  for (const CostTree& tree : trees) runs.push_back(list_entries(tree));
  std::vector<ComparedEntry> compared;
  for (const Entry& entry : runs.front()) {
    std::vector<Estimate> values;
    Provenance weakest = entry.provenance;
    for (const std::vector<Entry>& run : runs) {
      const auto found = std::find_if(run.begin(), run.end(),
                                      [&](const Entry& one) { return one.is_same(entry); });
      if (found == run.end()) break;
      values.push_back(found->value);
      weakest = std::max(weakest, found->provenance);
    }
    if (values.size() != runs.size()) continue;
    ComparedEntry& one = compared.emplace_back(
        entry, compare_means(entry.label.empty() ? describe_branch(entry.branch) : entry.label,
                             entry.is_cycles, values, base_runs));
    one.entry.provenance = weakest;
  }
  return compared;
}

/// The part of a branch that changed most, and the events of its group that changed with it.
void add_events(std::span<const ComparedEntry> entries, CauseBranch& branch) {
  const auto is_inside = [&](const ComparedEntry& one) {
    return one.entry.branch == branch.key && !one.entry.label.empty();
  };
  const ComparedEntry* most = nullptr;
  const double direction = branch.cycles.change() > 0 ? 1 : -1;
  for (const ComparedEntry& one : entries) {
    if (!is_inside(one) || !one.entry.is_cycles || one.amount.change() * direction <= 0) continue;
    if (most == nullptr || one.amount.change() * direction > most->amount.change() * direction) {
      most = &one;
    }
  }
  if (most == nullptr) return;
  branch.most = most->entry.label;
  for (const ComparedEntry& one : entries) {
    if (is_inside(one) && !one.entry.is_cycles && one.entry.group == most->entry.group &&
        is_certain(one.amount) && relative_change(one.amount) >= kLeastEventChange) {
      branch.events.push_back(one.amount);
    }
  }
  std::ranges::stable_sort(branch.events, [](const CauseAmount& a, const CauseAmount& b) {
    return relative_change(a) > relative_change(b);
  });
  if (branch.events.size() > kMostEvents) branch.events.resize(kMostEvents);
}

Cause find_cause(std::span<const CostTree> trees, size_t base_runs) {
  Cause cause;
  cause.tree = compare_cycles(trees, base_runs);
  cause.instructions = compare_instructions(trees, base_runs);
  const std::vector<ComparedEntry> entries = compare_entries(trees, base_runs);
  double largest = 0;
  for (const ComparedEntry& one : entries) {
    if (one.entry.label.empty()) largest = std::max(largest, std::abs(one.amount.change()));
  }
  for (const ComparedEntry& one : entries) {
    const bool is_named = one.entry.label.empty() && is_certain(one.amount) &&
                          std::abs(one.amount.change()) >= kLeastShare * largest;
    if (!is_named) continue;
    CauseBranch branch{one.entry.branch, one.amount, one.entry.provenance, "", {}};
    add_events(entries, branch);
    cause.branches.push_back(std::move(branch));
  }
  std::ranges::stable_sort(cause.branches, [](const CauseBranch& a, const CauseBranch& b) {
    return std::abs(a.cycles.change()) > std::abs(b.cycles.change());
  });
  cause.state = cause.branches.empty() ? Cause::State::none : Cause::State::found;
  if (cause.branches.empty()) cause.reason = "no branch of the tree of cycles changed";
  return cause;
}

bool has_changed(const RowChange& row) {
  switch (row.verdict) {
    case ChangeVerdict::more:
    case ChangeVerdict::less:
      return true;
    case ChangeVerdict::not_tested:
      return row.interval95 && (row.interval95->low > 0 || row.interval95->high < 0);
    case ChangeVerdict::same:
    case ChangeVerdict::too_few:
    case ChangeVerdict::fresh:
    case ChangeVerdict::gone:
      return false;
  }
  return false;
}

/// Why causes cannot be told; "": they can.
std::string find_obstacle(std::span<const RunCosts> costs, size_t base_runs) {
  const auto lacks_tree = [](const RunCosts& run) { return run.cpu == nullptr; };
  const bool base = std::ranges::any_of(costs.first(base_runs), lacks_tree);
  const bool now = std::ranges::any_of(costs.subspan(base_runs), lacks_tree);
  if (!base && !now) {
    const std::string& name = costs.front().cpu->name;
    const bool is_one =
        std::ranges::all_of(costs, [&](const RunCosts& run) { return run.cpu->name == name; });
    return is_one ? "" : "the runs are of different CPUs";
  }
  if (base && now) return std::ranges::find_if(costs, lacks_tree)->missing;
  return base ? "only the new runs have counts" : "only the base runs have counts";
}

}  // namespace

void add_causes(std::span<const RunCosts> costs, size_t base_runs, Difference& difference) {
  const std::string obstacle = find_obstacle(costs, base_runs);
  const auto explain = [&](RowChange& row, const auto& make_tree) {
    if (!has_changed(row)) return;
    Cause& cause = row.cause.emplace();
    cause.reason = obstacle;
    if (!obstacle.empty()) return;
    std::vector<CostTree> trees;
    trees.reserve(costs.size());
    for (const RunCosts& run : costs) trees.push_back(make_tree(run));
    cause = find_cause(trees, base_runs);
  };
  for (RowChange& row : difference.rows) {
    explain(row, [&](const RunCosts& run) { return run.make_tree(row.key); });
  }
  explain(difference.total, [](const RunCosts& run) { return run.make_total(); });
}

}  // namespace culprit
