// Profile and template → WhyReport: sums of the part, its tree, advice with places.

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "attribute/variant_family.h"
#include "base/names.h"
#include "base/text.h"
#include "model/counts.h"
#include "model/cut_short.h"
#include "model/engine.h"
#include "model/experiment_events.h"
#include "model/forecast_events.h"
#include "model/idle_time.h"
#include "print/event_display.h"
#include "print/others_time.h"
#include "print/values.h"
#include "report/measured_cycles.h"
#include "report/row_estimates.h"
#include "report/row_filter.h"
#include "why/callers.h"
#include "why/dispatch.h"
#include "why/redirected_time.h"
#include "why/repairs.h"
#include "why/why.h"
#include "why/why_parts.h"

namespace culprit {
namespace {

/// Counts of whole runs: means of the repetitions, times shared counters made up for elsewhere.
std::vector<Estimate> run_counts(const Profile& profile) {
  std::vector<Estimate> totals(profile.events.size());
  uint32_t repetitions = 1;
  for (const Count& count : profile.counts) {
    if (count.event.value >= totals.size()) continue;
    totals[count.event.value].value +=
        static_cast<double>(count.value) * profile.events[count.event.value].scale;
    repetitions = std::max(repetitions, count.repetition + 1);
  }
  for (Estimate& total : totals) total = total * (1.0 / repetitions);
  return totals;
}

bool has_histograms(const Profile& profile) {
  return std::any_of(profile.histograms.begin(), profile.histograms.end(),
                     [](const Histogram& one) { return !one.offsets.empty(); });
}

/// Of all events with these names, together.
double sum_events(const Profile& profile, const std::vector<Value>& values,
                  std::initializer_list<std::string_view> names) {
  double all = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string& name = profile.strings.text(profile.events[i].name);
    if (std::find(names.begin(), names.end(), name) != names.end()) all += values[i].value;
  }
  return all;
}

/// Threads that fight for lines do so all the time on CPUs, and in a simulation where the kernel
/// switches between them, unless they take turns: that may be what the model lacks. "" if not.
std::string describe_contention(const Profile& profile, const std::vector<Value>& values,
                                const WhyReport& why) {
  constexpr double kMuchMissing = 0.25;  // of the measured time
  constexpr double kWorthSaying = 1000;
  if (profile.environment.contains("simulate.deterministic")) return "";
  const MeasuredCycles& measured = *why.measured;
  const auto has_told = [](const TriedChange& one) {
    return one.kind->experiment == Experiment::one_cpu;
  };
  if (std::ranges::any_of(why.tried, has_told)) return "";
  if (measured.fit.missing < kMuchMissing * measured.measured.value) return "";
  const double taken =
      sum_events(profile, values, {"other-core-modified-loads", "other-core-modified-stores"});
  if (taken < kWorthSaying) return "";
  return fmt::format(
      "threads took lines that another had written, {} times; CPUs that really run at once do so "
      "more "
      "often, which may be what the model lacks: culprit record --engine timer+simulate "
      "--deterministic counts it",
      format_si(taken));
}

/// "412 M loads, 8.1 M stores, 3.36 GB; 24.1 % of the accesses miss L1D, 9.8 % L2, 0.2 % L3".
std::string describe_accesses(const Profile& profile, const std::vector<Value>& values) {
  const auto sum = [&](std::initializer_list<std::string_view> names) {
    return sum_events(profile, values, names);
  };
  const double loads = sum({"L1-dcache-loads"});
  const double stores = sum({"L1-dcache-stores"});
  if (!(loads + stores > 0)) return "";
  const auto percent = [&](double misses) { return 100 * misses / (loads + stores); };
  return fmt::format(
      "its accesses: {} loads, {} stores, {}; of them miss L1D {:.1f} %, L2 {:.1f} %, L3 {:.1f} %, "
      "and the TLBs {:.1f} %",
      format_si(loads), format_si(stores),
      format_bytes(static_cast<uint64_t>(sum({"load-bytes", "store-bytes"}))),
      percent(sum({"L1-dcache-load-misses", "L1-dcache-store-misses"})),
      percent(sum({"LLC-loads", "LLC-stores"})),
      percent(sum({"LLC-load-misses", "LLC-store-misses"})),
      percent(sum({"dTLB-load-misses", "dTLB-store-misses"})));
}

bool is_of_objects(const std::vector<Filter>& filters) {
  return std::any_of(filters.begin(), filters.end(),
                     [](const Filter& one) { return one.level == RowLevel::object; });
}

std::optional<double> find_hertz(const Profile& profile) {
  const ClockCalibration* clock = find_clock(profile.machine);
  return clock == nullptr ? std::nullopt : std::optional(clock->hertz);
}

/// What the kernel does for the program is a cost like those of branches, and told by time alone.
void add_kernel_advice(const KernelTime& kernel, WhyReport& why) {
  const double whole = whole_of(why);
  for (const KernelPart& part : kernel.parts) {
    if (part.share.value < kWorthALook || part.kind->advice.empty()) continue;
    // What the function that makes a call waits for is the call.
    std::erase_if(why.advice, [&](const PlacedAdvice& one) {
      return one.is_of_branch() && one.tried == nullptr &&
             std::ranges::find(part.entries, one.function) != part.entries.end();
    });
    PlacedAdvice& one = why.advice.emplace_back();
    one.kernel = part.kind->key;
    one.label = part.kind->title;
    one.problem = part.kind->problem;
    const std::string use = describe_use(kernel, part);
    if (!use.empty()) one.problem += " (" + use + ".)";
    one.advice = part.hint.empty() ? std::string(part.kind->advice)
                                   : part.hint + " " + std::string(part.kind->advice);
    one.cycles = {part.share.value * whole, part.share.standard_error * whole};
    one.unhalted = one.at_most = part.share.value;
    one.upper_end = find_upper_end(kernel, part);
    one.gain = estimate_block_gain(kernel, part);
    one.function = part.function;
    one.line = part.line;
    one.share = part.place_share;
  }
}

/// A library's work takes the place of what its own instructions wait for, which only its authors
/// can change.
void add_library_advice(const std::vector<LibraryPart>& parts, WhyReport& why) {
  const double whole = whole_of(why);
  for (const LibraryPart& part : parts) {
    if (part.share.value < kWorthALook) continue;
    std::erase_if(why.advice, [&](const PlacedAdvice& one) {
      const bool is_of_data =
          one.branch == CostBranch::load_latency || one.branch == CostBranch::bandwidth_saturation;
      return one.is_of_branch() && one.tried == nullptr &&
             !(is_of_data && part.kind->reads_callers_data) &&
             part.all_functions.contains(one.function);
    });
    PlacedAdvice& one = why.advice.emplace_back();
    one.library = part.kind->key;
    one.label = part.kind->title;
    one.problem = part.kind->problem;
    one.advice = part.kind->advice;
    one.cycles = {part.share.value * whole, part.share.standard_error * whole};
    one.unhalted = one.at_most = part.share.value;
    one.upper_end = std::min(1.0, part.share.value + kNormal95 * part.share.standard_error);
    one.function = part.function;
    one.share = part.function_share;
  }
}

/// Copies and searches in a variant for this CPU have its widest instructions already.
void advise_callers(PlacedAdvice& one) {
  const bool is_of_instructions = one.branch == CostBranch::port_saturation ||
                                  one.branch == CostBranch::instruction_serialization;
  const bool is_variant = !find_variant_family(one.function).empty();
  if (!one.is_of_branch() || one.tried != nullptr || !is_of_instructions || !is_variant) return;
  one.advice =
      "A library's code for this CPU: call it less often, or with less to do (insert at the end, "
      "not at the front, which moves all that is behind; hand over pointers, not copies).";
}

/// A library's function is changed by calling it less, or with less to do.
void add_callers(const Profile& profile, const FactsLookup& facts, WhyReport& why) {
  constexpr double kLeastOfCalls = 0.1;
  CodeIndex code(profile, facts);
  std::optional<Callers> callers;
  for (PlacedAdvice& one : why.advice) {
    if (one.function.empty() || !one.kernel.empty()) continue;
    if (!callers) callers.emplace(code);
    for (Caller& caller : callers->find(one.function)) {
      if (caller.share >= kLeastOfCalls) one.callers.push_back(std::move(caller));
    }
    if (!one.callers.empty()) advise_callers(one);
  }
}

/// "" where it is next to nothing.
std::string describe_redirected(const std::map<std::string, double>& redirected, double whole) {
  constexpr double kWorthSaying = 0.05;
  double moved = 0;
  for (const auto& [function, cycles] : redirected) moved += std::max(0.0, cycles);
  if (!(moved > kWorthSaying * whole)) return "";
  return fmt::format(
      "where calls by pointer are mispredicted samples land in what is called: {:.0f} % of the "
      "time counts as the callers', whose mispredictions the model has it for",
      100 * moved / whole);
}

/// What a first user does not know, each only where it matters.
void add_hints(const Profile& profile, const Template& cpu, WhyReport& why) {
  const auto machine = profile.environment.find("simulate.machine");
  const bool is_of_kind = machine != profile.environment.end() && machine->second == "host" &&
                          !profile.environment.contains("simulate.calibrated");
  if (cpu.is_simulated && is_of_kind) {
    why.remarks.emplace_back(
        "this machine was not calibrated, the model is one of its kind: culprit calibrate, once, "
        "then record again");
  }
  if (std::string words = describe_others(profile); !words.empty()) {
    why.remarks.push_back(std::move(words));
  }
  const Run* const run = profile.runs.empty() ? nullptr : &profile.runs.front();
  const bool has_times = run != nullptr && run->cpu_time_ns && run->use.system_time_ns &&
                         *run->cpu_time_ns > 0 && !is_simulated(profile, *run);
  constexpr double kMuch = 0.1;
  const double in_kernel = has_times ? static_cast<double>(*run->use.system_time_ns) /
                                           static_cast<double>(*run->cpu_time_ns)
                                     : 0;
  if (why.part.empty() && !why.kernel && in_kernel > kMuch) {
    why.remarks.push_back(
        fmt::format("{:.0f} % of the CPU time is in the kernel, which was not sampled: culprit "
                    "doctor says what would let it be",
                    100 * in_kernel));
  }
  const auto waits_for_data = [](const PlacedAdvice& one) {
    constexpr double kWorthAnotherRun = 0.1;
    return one.at_most >= kWorthAnotherRun && (one.branch == CostBranch::load_latency ||
                                               one.branch == CostBranch::bandwidth_saturation);
  };
  if (cpu.is_simulated && profile.tenures.empty() &&
      std::ranges::any_of(why.advice, waits_for_data)) {
    why.remarks.emplace_back(
        "which loop brings which data, and what to change there: culprit record --locality all "
        "./program, then culprit why");
  }
  if (!profile.tenures.empty()) {
    why.remarks.emplace_back(
        "what became of cache lines was recorded: culprit locality shows it by statement, culprit "
        "data by data object");
  }
}

/// Why the model cannot tell a cost does not matter where an experiment does.
void forget_reasons(WhyReport& why) {
  for (CostNode& level : why.tree.unhalted.parts) {
    for (CostNode& branch : level.parts) {
      const bool was_tried = std::ranges::any_of(why.advice, [&](const PlacedAdvice& one) {
        return one.tried != nullptr && one.branch == branch.branch;
      });
      if (was_tried && branch.kind == NodeKind::branch) branch.reason.clear();
    }
  }
}

bool is_tsc(const std::string& event) {
  return event == "msr/tsc/" || event == "tsc" || event == "TSC";
}

/// TSC cycles that were counted, if they were.
std::optional<double> find_tsc(const Profile& profile) {
  const std::vector<Estimate> counts = run_counts(profile);
  for (size_t event = 0; event < counts.size(); ++event) {
    const std::string& name = profile.strings.text(profile.events[event].name);
    if (is_tsc(name) && counts[event].value > 0) return counts[event].value;
  }
  return std::nullopt;
}

/// What was measured of the time in which the CPUs ran nothing. A program's own wall and CPU time
/// do not tell it: others may have run.
std::optional<HaltedTime> find_halted(const Profile& profile, const Template& cpu,
                                      const std::optional<Estimate>& unhalted) {
  if (cpu.is_simulated) return std::nullopt;
  HaltedTime halted;
  const std::optional<double> tsc = find_tsc(profile);
  if (tsc && unhalted && *tsc >= unhalted->value) {
    halted.measure = HaltedTime::Measure::tsc;
    halted.total_cycles = *tsc;
    halted.cycles = *tsc - unhalted->value;
    return halted;
  }
  const std::optional<IdleTime> idle = find_idle_time(profile);
  if (!idle) return std::nullopt;
  halted.seconds = static_cast<double>(idle->idle_ns) * 1e-9;
  halted.capacity_seconds = static_cast<double>(idle->capacity_ns) * 1e-9;
  if (const std::optional<double> hertz = find_hertz(profile)) {
    halted.total_cycles = *halted.capacity_seconds * *hertz;
    halted.cycles = *halted.seconds * *hertz;
  }
  return halted;
}

}  // namespace

Result<WhyReport> make_why(const Profile& profile, const FactsLookup& facts, const Template& cpu,
                           const WhyOptions& options) {
  WhyReport why;
  why.options = options;
  why.tried = find_tried_changes(profile);
  const EventMatch match = match_events(profile, cpu);
  why.remarks = match.remarks();
  for (const size_t event : match.others()) {
    const std::string& name = profile.strings.text(profile.events[event].name);
    if (!is_tsc(name) && !is_forecast_event(name) && !is_experiment_event(name))
      why.other_events.push_back(name);
  }
  CostOptions cost;
  cost.hertz = find_hertz(profile);
  cost.is_counting = !has_histograms(profile);
  RowAmounts amounts;
  RedirectedCycles redirected;
  if (cost.is_counting) {
    amounts = match.amounts(run_counts(profile));
    why.tree = make_cost_tree(cpu, amounts, cost);
    why.everything = why.tree.unhalted.cycles;
  } else {
    ReportOptions wanted;
    wanted.by = {RowLevel::module};
    if (cpu.is_simulated && find_two_runs(profile)) wanted.by.push_back(RowLevel::function);
    wanted.filters = options.filters;
    // Samples slip over the borders of inlined code, so that times of it are of its function alone.
    wanted.frames = name_lines(options.filters) ? FrameChoice::innermost : FrameChoice::outermost;
    wanted.limit = 0;
    ASSIGN_OR_RETURN(ReportTable table, make_report(profile, facts, wanted));
    if (!options.filters.empty() && table.rows.empty()) {
      return Error{"nothing here matches " + describe_filters(options.filters),
                   ErrorKind::not_found};
    }
    if (is_of_objects(options.filters)) {
      std::string words = describe_accesses(profile, table.shown);
      if (!words.empty()) why.remarks.push_back(std::move(words));
    }
    amounts = match.amounts(to_estimates(profile, table.shown));
    why.tree = make_cost_tree(cpu, amounts, cost);
    const RowAmounts all = match.amounts(to_estimates(profile, table.totals));
    why.everything = make_cost_tree(cpu, all, cost).unhalted.cycles;
    const std::optional<TwoRuns> runs = find_two_runs(profile);
    if (cpu.is_simulated && runs && options.filters.empty()) {
      redirected = find_redirected_cycles(profile, facts, *runs, table);
      move_redirected_time(redirected.moved, *runs, table);
    }
    if (cpu.is_simulated) why.measured = find_measured_cycles(profile, table);
    if (why.measured) {
      std::string words = describe_redirected(redirected.moved, why.measured->measured.value);
      if (!words.empty()) why.remarks.push_back(std::move(words));
    }
    if (why.measured) {
      std::string contention = describe_contention(profile, table.shown, why);
      if (!contention.empty()) why.remarks.push_back(std::move(contention));
      // What a run that was ended did not come to says nothing of how it chooses its code.
      if (find_cut(profile) == nullptr) {
        for (std::string& one : advise_on_dispatch(*why.measured)) {
          why.remarks.push_back(std::move(one));
        }
      }
    }
  }
  if (options.filters.empty()) {
    why.halted = find_halted(profile, cpu, why.everything);
    why.waiting = find_waiting(profile, facts);
  } else {
    why.part = describe_filters(options.filters);
    why.waiting = find_waiting(profile, facts, options.filters);
  }
  if (!cost.is_counting) why.kernel = find_kernel_time(profile, facts, options.filters);
  if (!cost.is_counting && options.filters.empty()) why.library = find_library_work(profile, facts);
  why.rules = check_rules(cpu, amounts);
  why.advice = cost.is_counting ? advise_on_counts(why.tree)
                                : find_repairs({profile, facts, cpu, match, cost, redirected}, why);
  const std::string* const cut = find_cut(profile);
  if (cut != nullptr && why.measured && !has_most_of_a_cut_run(*why.measured)) {
    std::erase_if(why.advice, [](const PlacedAdvice& one) {
      return one.is_of_branch() && one.tried == nullptr;
    });
  }
  forget_reasons(why);
  const KernelTime* const kernel = options.filters.empty() && why.kernel ? &*why.kernel : nullptr;
  why.verdict =
      find_verdict(cpu, {why.tree, why.measured, kernel, find_branch_by_gain(why.advice, why.tree),
                         why.waiting && !why.waiting->is_part ? &*why.waiting : nullptr,
                         !describe_others(profile).empty(),
                         why.library.empty() ? nullptr : &why.library.front(), cut, &why.rules});
  forget_what_saves_nothing(why.verdict.branch, why.advice);
  add_library_advice(why.library, why);
  if (kernel != nullptr) add_kernel_advice(*kernel, why);
  sort_advice(why.verdict.branch, why.advice);
  if (!cost.is_counting && why.verdict.branch == nullptr && why.verdict.kernel == nullptr &&
      why.verdict.library == nullptr) {
    why.hottest =
        LargestRows(profile, facts, options.filters, LargestRows::Of::functions).find_function(0);
  }
  add_hints(profile, cpu, why);
  if (why.advice.size() > options.advice_limit) why.advice.resize(options.advice_limit);
  add_callers(profile, facts, why);
  return why;
}

void add_loops(const Profile& profile, const FactsLookup& facts, WhyReport& why) {
  constexpr double kManyRounds = 16;
  constexpr double kManyEntries = 100;
  std::optional<LoopFinder> loops;
  std::set<std::string> told;
  for (PlacedAdvice& one : why.advice) {
    const bool is_of_core = one.is_of_branch() && one.tried == nullptr && !one.function.empty();
    if (!is_of_core || !told.insert(one.function).second) continue;
    if (!loops) loops.emplace(profile, facts);
    one.loop = loops->find(one.function);
    const bool is_much =
        one.loop && one.loop->rounds >= kManyRounds && one.loop->entries >= kManyEntries;
    if (!is_much) one.loop.reset();
  }
}

}  // namespace culprit
