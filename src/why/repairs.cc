#include "why/repairs.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "accounting/advice.h"
#include "accounting/formulas.h"
#include "model/forecast_events.h"
#include "report/measured_cycles.h"
#include "why/gain.h"
#include "why/own_code.h"
#include "why/places.h"

namespace culprit {
namespace {

constexpr double kMuchOfAll = 0.1;      // of the explained cycles: worth a look wherever they are
constexpr double kLeastOfLabel = 0.15;  // of a repair's cycles, that its label names
constexpr double kAsMuch = 0.8;         // of the largest gain: which is larger cannot be told

class RepairFinder {
 public:
  RepairFinder(const RepairInput& input, const WhyReport& why)
      : input_(input),
        why_(why),
        places_(input, why),
        runs_(find_two_runs(input.profile)),
        replayed_(find_event(kReplayedCycles)) {
    unhalted_ = why.tree.unhalted.cycles->value;
  }

  std::vector<PlacedAdvice> find();

 private:
  [[nodiscard]] double find_explained() const;
  std::vector<PlacedAdvice> find_of(const CostNode& branch, bool is_first);
  [[nodiscard]] PlacedAdvice describe_cost(const CostNode& branch, const CostNode& node) const;
  PlacedAdvice describe(const Place& place, const CostNode& branch, const CostNode& of_place);
  [[nodiscard]] PlacedAdvice describe_spread(const CostNode& branch, const Place& largest) const;
  void bound_gain(PlacedAdvice& placed) const;
  void add_redirected(const Place& place, double period, PlaceTime& time) const;
  void forecast_gain(const Place& place, PlacedAdvice& placed) const;
  [[nodiscard]] std::optional<size_t> find_event(std::string_view name) const;
  [[nodiscard]] double find_saved(const Place& place, const TriedChange& tried) const;
  [[nodiscard]] bool may_save(const Place& place, Experiment experiment) const;
  [[nodiscard]] std::vector<PlacedAdvice> find_tried(const TriedChange& tried) const;
  [[nodiscard]] const TriedChange* find_tried_of(CostBranch branch) const;

  const RepairInput& input_;
  const WhyReport& why_;
  Places places_;
  std::optional<TwoRuns> runs_;
  std::optional<size_t> replayed_;
  double unhalted_ = 0;
};

std::optional<size_t> RepairFinder::find_event(std::string_view name) const {
  const Profile& profile = input_.profile;
  for (size_t event = 0; event < profile.events.size(); ++event) {
    if (profile.strings.text(profile.events[event].name) == name) return event;
  }
  return std::nullopt;
}

/// Parts of a branch that say what to do, the largest first.
void collect_causes(const CostNode& node, std::vector<const CostNode*>& causes) {
  for (const CostNode& part : node.parts) collect_causes(part, causes);
  if (!node.cycles || !node.in_sum || !(node.cycles->value > 0)) return;
  const bool has_advice = (node.row != nullptr && !node.row->advice.empty()) ||
                          (node.formula != nullptr && !node.formula->advice.empty());
  if (has_advice) causes.push_back(&node);
}

std::vector<const CostNode*> find_causes(const CostNode& branch) {
  std::vector<const CostNode*> causes;
  collect_causes(branch, causes);
  std::ranges::stable_sort(causes, std::greater(),
                           [](const CostNode* one) { return one->cycles->value; });
  return causes;
}

std::string join_labels(const std::vector<const CostNode*>& causes, double cycles) {
  std::vector<std::string> labels;
  for (const CostNode* const cause : causes) {
    const bool is_large = cause->cycles->value >= kLeastOfLabel * cycles;
    if (labels.empty() || is_large) labels.push_back(cause->label);
  }
  return fmt::format("{}", fmt::join(labels, " + "));
}

void copy_advice(const CostNode& cause, PlacedAdvice& placed) {
  placed.problem = cause.row != nullptr ? cause.row->problem : cause.formula->problem;
  placed.advice = cause.row != nullptr ? cause.row->advice : cause.formula->advice;
}

double least_share_of(const CostNode& branch) {
  const bool is_formula =
      std::any_of(branch.parts.begin(), branch.parts.end(), [](const CostNode& part) {
        return part.formula != nullptr && part.formula->formula == Formula::port_saturation;
      });
  return is_formula ? kPortAttention : kWorthALook;
}

/// What `node` costs, of a branch whose place is still to be told.
PlacedAdvice RepairFinder::describe_cost(const CostNode& branch, const CostNode& node) const {
  PlacedAdvice placed;
  placed.branch = branch.branch;
  placed.cycles = *node.cycles;
  placed.unhalted = placed.cycles.value / unhalted_;
  placed.share = branch.cycles->value > 0 ? placed.cycles.value / branch.cycles->value : 0;
  const std::vector<const CostNode*> causes = find_causes(node);
  placed.label = join_labels(causes, placed.cycles.value);
  copy_advice(*causes.front(), placed);
  bound_gain(placed);
  return placed;
}

PlacedAdvice RepairFinder::describe(const Place& place, const CostNode& branch,
                                    const CostNode& of_place) {
  PlacedAdvice placed = describe_cost(branch, of_place);
  placed.function = place.function;
  placed.line = place.line;
  placed.words = place.words;
  if (placed.line.empty() && !placed.function.empty()) {
    const CostNode& cause = *find_causes(of_place).front();
    const auto index = static_cast<size_t>(cause.row - input_.cpu.rows.data());
    const bool is_row = cause.row != nullptr && !input_.match.parts(index).empty();
    const std::optional<LargestRow> line =
        is_row ? places_.rows().find_line_within(place.function,
                                                 input_.match.parts(index).front().event)
               : std::nullopt;
    if (line) placed.line = name_line(line->file, line->line);
  }
  forecast_gain(place, placed);
  return placed;
}

/// Cycles that a branch or the kernel has: what a repair's are compared with.
double RepairFinder::find_explained() const {
  return unhalted_ + (why_.measured ? std::max(0.0, why_.measured->kernel.value) : 0);
}

/// The repairs of one branch. Of the first branch, the largest however small it is.
std::vector<PlacedAdvice> RepairFinder::find_of(const CostNode& branch, bool is_first) {
  const double least = least_share_of(branch);
  std::vector<std::pair<const Place*, const CostNode*>> found;
  for (const Place& place : places_.choose(branch.branch)) {
    const CostNode* const node = place.tree.find(branch.branch);
    if (node != nullptr && node->cycles && !find_causes(*node).empty()) {
      found.emplace_back(&place, node);
    }
  }
  std::ranges::stable_sort(found, std::greater(),
                           [](const auto& one) { return one.second->cycles->value; });
  std::vector<PlacedAdvice> repairs;
  for (const auto& [place, node] : found) {
    PlacedAdvice repair = describe(*place, branch, *node);
    const bool is_worth_it = node->cycles->value >= least * find_explained() ||
                             (repair.gain && repair.gain->expected >= kWorthALook);
    const bool is_something = node->cycles->value >= kLeastOfEvent * find_explained();
    if (is_worth_it || (is_first && repairs.empty() && is_something))
      repairs.push_back(std::move(repair));
  }
  const bool is_much_of_all = branch.cycles->value >= kMuchOfAll * find_explained();
  const bool is_spread =
      !found.empty() && found.front().second->cycles->value < kWorthALook * find_explained();
  if (is_much_of_all && is_spread && !find_causes(branch).empty()) {
    repairs = {describe_spread(branch, *found.front().first)};
  }
  return repairs;
}

/// Advice for all of the code: no place has enough of the branch to be worth a look, not even the
/// one that has most.
PlacedAdvice RepairFinder::describe_spread(const CostNode& branch, const Place& largest) const {
  PlacedAdvice placed = describe_cost(branch, branch);
  const std::string& name = largest.function.empty() ? largest.line : largest.function;
  placed.here = fmt::format(
      "it is spread over all of the code; {} has most of it, {:.1f} % of the cycles. What changes "
      "all of the code reaches it: flags, profile-guided optimization, layout.",
      name.empty() ? "code without a name" : name,
      100 * cycles_of(largest.tree, branch.branch) / unhalted_);
  return placed;
}

std::vector<const CostNode*> branches_by_cycles(const CostTree& tree, const CostNode* first) {
  std::vector<const CostNode*> branches;
  for (const CostNode& level : tree.unhalted.parts) {
    for (const CostNode& branch : level.parts) {
      if (branch.kind == NodeKind::branch && branch.cycles) branches.push_back(&branch);
    }
  }
  std::ranges::stable_sort(branches, std::greater(), [&](const CostNode* one) {
    return std::pair(one == first, one->cycles->value);
  });
  return branches;
}

std::vector<PlacedAdvice> RepairFinder::find() {
  std::vector<PlacedAdvice> all;
  const CostNode* const first = find_largest_branch(why_.tree);
  for (const TriedChange& tried : why_.tried) {
    for (PlacedAdvice& one : find_tried(tried)) all.push_back(std::move(one));
  }
  for (const CostNode* const branch : branches_by_cycles(why_.tree, first)) {
    if (find_tried_of(branch->branch) != nullptr) continue;
    for (PlacedAdvice& one : find_of(*branch, branch == first)) all.push_back(std::move(one));
  }
  return all;
}

/// The experiment that tells what a branch costs, whatever a model says: it saves something, or
/// nothing at all where that is all there is to the branch.
const TriedChange* RepairFinder::find_tried_of(CostBranch branch) const {
  for (const TriedChange& tried : why_.tried) {
    if (branch_of(tried.kind->experiment) != branch) continue;
    const bool is_whole_branch = tried.kind->experiment == Experiment::one_cpu;
    if (tried.saves() || (is_whole_branch && tried.saves_nothing())) return &tried;
  }
  return nullptr;
}

/// Cycles that the change saves there, of those measured: what it saves of the whole program,
/// shared out by samples of runs with and without it.
double RepairFinder::find_saved(const Place& place, const TriedChange& tried) const {
  const std::optional<size_t> as_it_is = find_event(kAsItIsTime);
  const std::optional<size_t> changed = find_event(experiment_event(*tried.kind));
  if (!why_.measured || !as_it_is || !changed) return 0;
  const auto saved_of = [&](const std::vector<Value>& values) {  // of a run
    return values[*as_it_is].value / static_cast<double>(tried.runs_as_it_is) -
           values[*changed].value / static_cast<double>(tried.pairs);
  };
  const double all = saved_of(places_.totals());
  const double here = saved_of(place.values);
  if (!(all > 0) || here <= 0) return 0;
  return std::min(1.0, here / all) * tried.saved.expected * why_.measured->everything.value;
}

/// Threads are faster on one CPU where they shared a core or its caches, too: only where the
/// simulated threads took lines from each other is it for these.
bool RepairFinder::may_save(const Place& place, Experiment experiment) const {
  constexpr double kMuch = 0.05;  // of the whole program's
  if (experiment != Experiment::one_cpu) return true;
  double here = 0;
  double all = 0;
  for (const char* name : {"other-core-modified-loads", "other-core-modified-stores"}) {
    const std::optional<size_t> event = find_event(name);
    if (!event) continue;
    here += place.values[*event].value;
    all += places_.totals()[*event].value;
  }
  return here > kMuch * all;
}

/// The functions that a change makes faster, which no model need explain.
std::vector<PlacedAdvice> RepairFinder::find_tried(const TriedChange& tried) const {
  std::vector<PlacedAdvice> found;
  if (!tried.saves() || !why_.measured || !(why_.measured->measured.value > 0)) return found;
  const double whole = why_.measured->measured.value;
  const Experiment experiment = tried.kind->experiment;
  const TriedAdvice& words = advice_of(experiment);
  const double all = tried.saved.expected * why_.measured->everything.value;
  for (const Place& place : places_.functions()) {
    const double cycles = find_saved(place, tried);
    if (cycles < kWorthALook * whole || !may_save(place, experiment)) continue;
    PlacedAdvice& one = found.emplace_back();
    one.branch = branch_of(experiment);
    one.tried = &tried;
    one.label = words.label;
    one.problem = words.problem;
    one.advice = words.advice;
    one.cycles = {cycles, 0};
    one.unhalted = cycles / unhalted_;
    one.share = cycles / all;
    one.function = place.function;
    one.words = place.words;
    if (const auto line =
            places_.rows().find_line_within(place.function, *find_event(kAsItIsTime))) {
      one.line = name_line(line->file, line->line);
    }
    const double expected = std::min(1.0, cycles / whole);
    const auto scaled = [&](double end) {
      return std::clamp(expected * end / tried.saved.expected, 0.0, 1.0);
    };
    one.gain = GainForecast{expected, scaled(tried.saved.low), scaled(tried.saved.high)};
    one.at_most = expected;
    one.upper_end = one.gain->high;
  }
  std::ranges::stable_sort(found, std::greater(), &PlacedAdvice::worth);
  return found;
}

/// What a repair of it saves at most, by what was measured.
void RepairFinder::bound_gain(PlacedAdvice& placed) const {
  placed.at_most = placed.upper_end = placed.unhalted;
  if (!why_.measured || !(why_.measured->measured.value > 0)) return;
  const MeasuredCycles& measured = *why_.measured;
  const double cycles = placed.cycles.value;
  const double chance = kNormal95 * measured.unexplained.standard_error;
  const double whole = measured.measured.value;
  placed.at_most = std::min(1.0, cycles / whole);
  placed.upper_end = std::min(1.0, (cycles + measured.fit.missing + chance) / whole);
}

/// Calls by pointer, and what they call: what the model lacks of both may be of either.
void RepairFinder::add_redirected(const Place& place, double period, PlaceTime& time) const {
  const auto find_function = [&](const std::string& name) -> const Place* {
    const auto found = std::ranges::find_if(places_.functions(), [&](const Place& one) {
      return one.function == name && !one.is_inlined && one.tree.unhalted.cycles;
    });
    return found == places_.functions().end() ? nullptr : &*found;
  };
  for (const auto& [caller, callees] : input_.redirected.beyond) {
    double all = 0;
    for (const auto& [callee, beyond] : callees) all += beyond;
    const auto own = callees.find(place.function);
    if (own != callees.end()) {
      // Its mispredictions are as wrong in each callee as that has of what is missing.
      const Place* const other = find_function(caller);
      if (other == nullptr) continue;
      const double deviation =
          find_deviation(other->tree, CostBranch::branch_misprediction, PlaceTime{});
      time.others_variance += std::pow(deviation * own->second / all, 2);
    }
    if (caller != place.function) continue;
    const double chance = period * runs_->cycles_per_ns * all;  // of so many samples
    time.measured->value += all;
    time.measured->standard_error = std::hypot(time.measured->standard_error, std::sqrt(chance));
    for (const auto& [callee, beyond] : callees) {
      const Place* const other = find_function(callee);
      if (other == nullptr) continue;
      PlaceTime of_callee;
      of_callee.modelled = other->tree.unhalted.cycles->value;
      time.others_variance += std::pow(find_deviation(other->tree, of_callee), 2);
    }
  }
}

void RepairFinder::forecast_gain(const Place& place, PlacedAdvice& placed) const {
  const std::optional<size_t> without = find_event(without_event(branch_key(placed.branch)));
  const bool was_replayed = replayed_ && without && place.values[*replayed_].value > 0;
  if (!was_replayed || !place.tree.unhalted.cycles) return;
  const double ratio = place.values[*without].value / place.values[*replayed_].value;
  const auto exposure = [&](std::string_view name) {
    const std::optional<size_t> slow = find_event(name);
    if (!slow) return 0.0;
    const double more = place.values[*slow].value / place.values[*replayed_].value - 1;
    return std::max(0.0, more) * place.tree.unhalted.cycles->value;
  };
  PlaceTime time;
  time.modelled = place.tree.unhalted.cycles->value;
  time.slow_latency = exposure(kSlowLatencyCycles);
  time.slow_bandwidth = exposure(kSlowBandwidthCycles);
  time.whole = unhalted_;
  if (runs_ && why_.measured && why_.measured->measured.value > 0) {
    Value measured = place.values[runs_->time];
    const double period = measured.samples > 0 ? measured.value / double(measured.samples)
                                               : double(input_.profile.events[runs_->time].period);
    const auto redirected = input_.redirected.moved.find(place.function);
    if (redirected != input_.redirected.moved.end() && !place.is_inlined && place.line.empty()) {
      measured.value = std::max(0.0, measured.value + redirected->second / runs_->cycles_per_ns);
      measured.samples = static_cast<uint64_t>(std::lround(measured.value / period));
    }
    time.measured = Estimate{measured.value, period * std::sqrt(double(measured.samples) + 1)} *
                    runs_->cycles_per_ns;
    time.whole = why_.measured->measured.value;
    if (!place.is_inlined && place.line.empty()) add_redirected(place, period, time);
    if (place.is_inlined) {
      time.measured->value =
          allow_for_skid(time.measured->value, time.modelled, why_.measured->fit.excess);
    }
    for (const TriedChange& tried : why_.tried) {
      if (tried.saves()) time.measured->value -= find_saved(place, tried);
    }
  }
  placed.gain = culprit::forecast_gain(place.tree, placed.branch, 1 - ratio, time);
  placed.upper_end = std::max(placed.upper_end, placed.gain->high);
}

}  // namespace

std::vector<PlacedAdvice> find_repairs(const RepairInput& input, const WhyReport& why) {
  const std::optional<Estimate>& unhalted = why.tree.unhalted.cycles;
  if (!unhalted || !(unhalted->value > 0)) return {};
  return RepairFinder(input, why).find();
}

std::optional<BranchGain> find_branch_by_gain(const std::vector<PlacedAdvice>& repairs,
                                              const CostTree& tree) {
  constexpr double kMuch = 0.1;      // of the time
  constexpr double kByItself = 2.0;  // of the cycles of the branch with that gain
  std::map<CostBranch, GainForecast> gains;
  std::set<CostBranch> were_tried;
  for (const PlacedAdvice& one : repairs) {
    if (!one.gain) continue;
    if (one.tried != nullptr) were_tried.insert(one.branch);
    GainForecast& sum = gains[one.branch];
    sum.expected += one.gain->expected;
    sum.low += one.gain->low;
    sum.high = std::min(1.0, sum.high + one.gain->high);
  }
  if (gains.empty()) return std::nullopt;
  const auto& [branch, most] =
      *std::ranges::max_element(gains, {}, [](const auto& one) { return one.second.expected; });
  if (most.expected < kMuch) {
    const CostNode* const largest = find_largest_branch(tree);
    const auto found = largest == nullptr ? gains.end() : gains.find(largest->branch);
    if (found == gains.end()) return std::nullopt;
    const GainForecast& of_largest = found->second;
    const bool hides = of_largest.expected < kLeastForecast && most.expected >= kLeastForecast;
    if (!hides) return BranchGain{largest, of_largest};
  }
  // Each hides the other where both save about as much: then it is the one that has more by itself.
  const double own = cycles_of(tree, branch);
  for (const auto& [other, gain] : gains) {
    const bool is_wait = other != CostBranch::port_saturation;  // ports are busy in good programs
    const bool is_as_much = gain.expected >= kAsMuch * most.expected;
    const double rival = cycles_of(tree, other);
    if (is_wait && is_as_much && rival > 0 && rival >= kByItself * own &&
        !were_tried.contains(branch)) {
      return BranchGain{tree.find(other), gain, were_tried.contains(other)};
    }
  }
  return BranchGain{tree.find(branch), most, were_tried.contains(branch)};
}

void forget_what_saves_nothing(const CostNode* named, std::vector<PlacedAdvice>& repairs) {
  std::erase_if(repairs, [&](const PlacedAdvice& one) {
    const bool is_named = named != nullptr && named->branch == one.branch;
    const bool saves_nothing = one.gain && one.gain->high < kLeastForecast;
    return one.is_of_branch() && one.tried == nullptr && saves_nothing && !is_named;
  });
}

void sort_advice(const CostNode* named, std::vector<PlacedAdvice>& advice) {
  std::ranges::stable_sort(advice, std::greater(), &PlacedAdvice::worth);
  const auto own = std::ranges::find_if(advice, [&](const PlacedAdvice& one) {
    return named != nullptr && one.is_of_branch() && one.branch == named->branch;
  });
  if (own == advice.end() || own->worth() < kAsMuch * advice.front().worth()) return;
  std::rotate(advice.begin(), own, own + 1);
}

std::vector<PlacedAdvice> advise_on_counts(const CostTree& tree) {
  std::vector<PlacedAdvice> all;
  for (const Advice& advice : find_advice(tree)) {
    PlacedAdvice& placed = all.emplace_back();
    placed.branch = advice.node->branch;
    placed.label = advice.node->label;
    placed.problem = advice.problem;
    placed.advice = advice.advice;
    placed.cycles = advice.cycles;
    placed.unhalted = placed.at_most = placed.upper_end = advice.share;
  }
  return all;
}

}  // namespace culprit
