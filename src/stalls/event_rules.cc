#include "stalls/event_rules.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "accounting/event_match.h"
#include "base/text.h"
#include "model/counts.h"
#include "model/engine.h"
#include "model/event_names.h"

namespace culprit {
namespace {

using enum StallWay;

// The kernel's generic events. What they count depends on the CPU: here is what all CPUs that may
// be meant have in common.
enum class Machines : uint8_t { any, arm, arm_and_amd };

struct GenericRule {
  std::string_view event;
  Machines machines;
  StallWay way;
  bool counts_cycles = false;
};
// Source: drivers/perf/arm_pmuv3.c, arch/x86/events/intel/core.c, arch/x86/events/amd/core.c of
// Linux 6.12. cache-misses: refills of L1 on Arm, what L2 did not have on AMD, L3 on Intel.
// dTLB-load-misses: of the first TLB on Arm and AMD, walks on Intel.
constexpr GenericRule kGenericRules[] = {
    {"branch-misses", Machines::any, misprediction},
    {"branch-load-misses", Machines::any, misprediction},
    {"cache-misses", Machines::any, load_memory},
    {"cache-misses", Machines::arm_and_amd, load_l3},
    {"cache-misses", Machines::arm_and_amd, load_other_core},
    {"cache-misses", Machines::arm, load_l2},
    {"cache-misses", Machines::arm, load_line},
    {"L1-dcache-load-misses", Machines::any, load_l2},
    {"L1-dcache-load-misses", Machines::any, load_l3},
    {"L1-dcache-load-misses", Machines::any, load_memory},
    {"L1-dcache-load-misses", Machines::any, load_other_core},
    {"L1-dcache-load-misses", Machines::any, load_line},
    {"LLC-loads", Machines::any, load_l3},
    {"LLC-loads", Machines::any, load_memory},
    {"LLC-loads", Machines::any, load_other_core},
    {"LLC-load-misses", Machines::any, load_memory},
    {"dTLB-load-misses", Machines::any, load_walk},
    {"dTLB-load-misses", Machines::arm_and_amd, load_second_tlb},
    {"dTLB-store-misses", Machines::any, store_walk},
    {"iTLB-load-misses", Machines::any, code_walk},
    {"iTLB-load-misses", Machines::arm_and_amd, code_second_tlb},
    {"L1-icache-load-misses", Machines::any, code_cache},
    {"stalled-cycles-frontend", Machines::any, code_cache, true},
    {"stalled-cycles-frontend", Machines::any, code_second_tlb, true},
    {"stalled-cycles-frontend", Machines::any, code_walk, true},
    {"stalled-cycles-frontend", Machines::any, code_target, true},
};

enum class Counts : uint8_t {
  events,
  cycles,  // it counts the cycles that the way takes
  beside,  // events; only together with another row of its set
};

struct TemplateRule {
  StallWay way;
  int set;  // rows of one way and set count it together
  CostBranch branch;
  std::string_view group;
  std::string_view label;
  Counts counts = Counts::events;
};

constexpr auto kLoad = CostBranch::load_latency;
constexpr auto kCode = CostBranch::instruction_starvation;
constexpr auto kStore = CostBranch::store_resource_saturation;
constexpr auto kBranch = CostBranch::branch_misprediction;
constexpr auto kUnit = CostBranch::instruction_latency;
constexpr std::string_view kOnItsWay = "line already on its way";

constexpr TemplateRule kTemplateRules[] = {
    {load_l2, 0, kLoad, "", "L2"},
    {load_l2, 0, kLoad, "", kOnItsWay, Counts::beside},
    {load_l3, 0, kLoad, "L3 hits", "L3"},
    {load_l3, 0, kLoad, "L3 hits", "L3, other core asked in vain"},
    {load_l3, 0, kLoad, "", kOnItsWay, Counts::beside},
    {load_memory, 0, kLoad, "L3 misses", "local DRAM"},
    {load_memory, 0, kLoad, "L3 misses", "remote DRAM"},
    {load_memory, 0, kLoad, "L3 misses", "local DRAM, or remote cache"},
    {load_memory, 0, kLoad, "L3 misses", "other L3 misses"},
    {load_memory, 0, kLoad, "L3 misses", "local persistent memory"},
    {load_memory, 0, kLoad, "L3 misses", "remote persistent memory"},
    {load_memory, 0, kLoad, "L3 misses", "memory"},
    {load_memory, 0, kLoad, "", kOnItsWay, Counts::beside},
    {load_other_core, 0, kLoad, "L3 hits", "other core, clean"},
    {load_other_core, 0, kLoad, "L3 hits", "other core, modified"},
    {load_other_core, 0, kLoad, "L3 hits", "sibling cores, modified"},
    {load_other_core, 0, kLoad, "L3 misses", "remote cache, clean"},
    {load_other_core, 0, kLoad, "L3 misses", "remote cache, modified"},
    {load_other_core, 0, kLoad, "L3 misses", "cache of another complex"},
    {load_other_core, 0, kLoad, "L3 misses", "cache of another package"},
    {load_other_core, 0, kLoad, "", kOnItsWay, Counts::beside},
    // All that L2 did not have.
    {load_l3, 1, kLoad, "", "reads beyond L2"},
    {load_memory, 1, kLoad, "", "reads beyond L2"},
    {load_other_core, 1, kLoad, "", "reads beyond L2"},
    {load_l3, 2, kLoad, "L3 misses", "refills of L2"},
    {load_memory, 2, kLoad, "L3 misses", "refills of L2"},
    {load_other_core, 2, kLoad, "L3 misses", "refills of L2"},
    // All that L1 did not have.
    {load_l2, 3, kLoad, "", "data cache refills"},
    {load_l3, 3, kLoad, "", "data cache refills"},
    {load_memory, 3, kLoad, "", "data cache refills"},
    {load_other_core, 3, kLoad, "", "data cache refills"},
    {load_line, 3, kLoad, "", "data cache refills"},
    {load_l2, 4, kLoad, "", "beyond L1"},
    {load_l3, 4, kLoad, "", "beyond L1"},
    {load_memory, 4, kLoad, "", "beyond L1"},
    {load_other_core, 4, kLoad, "", "beyond L1"},
    {load_line, 4, kLoad, "", "beyond L1"},
    {load_l2, 5, kLoad, "", "stalled with L1 misses", Counts::cycles},
    {load_l3, 5, kLoad, "", "stalled with L1 misses", Counts::cycles},
    {load_memory, 5, kLoad, "", "stalled with L1 misses", Counts::cycles},
    {load_other_core, 5, kLoad, "", "stalled with L1 misses", Counts::cycles},
    {load_line, 5, kLoad, "", "stalled with L1 misses", Counts::cycles},
    {load_l2, 6, kLoad, "", "retirement waits for a load", Counts::cycles},
    {load_l3, 6, kLoad, "", "retirement waits for a load", Counts::cycles},
    {load_memory, 6, kLoad, "", "retirement waits for a load", Counts::cycles},
    {load_other_core, 6, kLoad, "", "retirement waits for a load", Counts::cycles},
    {load_line, 6, kLoad, "", "retirement waits for a load", Counts::cycles},
    {load_second_tlb, 0, kLoad, "DTLB", "second TLB"},
    {load_walk, 0, kLoad, "DTLB", "page walks"},
    {load_walk, 1, kLoad, "DTLB", "page walk cycles", Counts::cycles},
    {load_walk, 2, kLoad, "DTLB", "walks of small pages"},
    {load_walk, 2, kLoad, "DTLB", "walks of large pages"},
    {load_walk, 3, kLoad, "DTLB", "loads that missed both TLBs"},
    {store_walk, 3, kStore, "", "stores that missed both TLBs"},
    {load_second_tlb, 4, kLoad, "DTLB", "data TLB refills"},
    {load_walk, 4, kLoad, "DTLB", "data TLB refills"},
    {store_second_tlb, 4, kLoad, "DTLB", "data TLB refills"},
    {store_walk, 4, kLoad, "DTLB", "data TLB refills"},
    {misprediction, 0, kBranch, "restart", "mispredicted branches"},
    {misprediction, 1, kBranch, "", "mispredicted branches"},
    {code_cache, 0, kCode, "code reads", "code from L2"},
    {code_cache, 0, kCode, "code reads", "code from beyond L2"},
    {code_cache, 1, kCode, "code reads", "instruction cache refills"},
    {code_second_tlb, 0, kCode, "ITLB", "second TLB"},
    {code_walk, 0, kCode, "ITLB", "page walks"},
    {code_walk, 1, kCode, "ITLB", "page walk cycles", Counts::cycles},
    {code_second_tlb, 2, kCode, "ITLB", "TLB refills"},
    {code_walk, 2, kCode, "ITLB", "TLB refills"},
    {code_target, 0, kBranch, "restart", "unknown branches"},
    {code_cache, 3, kCode, "", "scheduler empty", Counts::cycles},
    {code_second_tlb, 3, kCode, "", "scheduler empty", Counts::cycles},
    {code_walk, 3, kCode, "", "scheduler empty", Counts::cycles},
    {code_target, 3, kCode, "", "scheduler empty", Counts::cycles},
    {code_cache, 4, kCode, "", "front end stalls", Counts::cycles},
    {code_second_tlb, 4, kCode, "", "front end stalls", Counts::cycles},
    {code_walk, 4, kCode, "", "front end stalls", Counts::cycles},
    {code_target, 4, kCode, "", "front end stalls", Counts::cycles},
    {code_cache, 5, kCode, "", "operation queue empty", Counts::cycles},
    {code_second_tlb, 5, kCode, "", "operation queue empty", Counts::cycles},
    {code_walk, 5, kCode, "", "operation queue empty", Counts::cycles},
    {code_target, 5, kCode, "", "operation queue empty", Counts::cycles},
    {store, 0, kStore, "", "store buffer full", Counts::cycles},
    {divider, 0, kUnit, "", "divider busy", Counts::cycles},
    {divider, 1, kUnit, "", "divisions"},
    {divider, 2, kUnit, "", "divisions and square roots"},
};

/// "cpu_core/branch-misses/upp" and "branch-misses:u" are {"branch-misses", user}.
struct GenericName {
  std::string_view base;
  std::string_view modifiers;
};
GenericName read_generic_name(std::string_view text) {
  GenericName name{text, ""};
  if (const size_t slash = text.find('/'); slash != text.npos) {
    const size_t end = text.rfind('/');
    if (end > slash) name.modifiers = text.substr(end + 1);
    name.base = text.substr(slash + 1, end > slash ? end - slash - 1 : text.npos);
  } else if (const size_t colon = text.rfind(':'); colon != text.npos) {
    constexpr std::string_view kModifiers = "ukhGHpPSDeIW";
    const std::string_view last = text.substr(colon + 1);
    if (last.find_first_not_of(kModifiers) == last.npos) {
      name.base = text.substr(0, colon);
      name.modifiers = last;
    }
  }
  return name;
}

bool is_meant(Machines machines, const Machine& machine) {
  const bool is_arm =
      machine.architecture.starts_with("aarch64") || machine.architecture.starts_with("arm");
  const bool is_amd = machine.cpu_id.starts_with("AuthenticAMD");
  return machines == Machines::any || is_arm || (machines == Machines::arm_and_amd && is_amd);
}

/// Counters that every core of servers has for events of any kind.
constexpr size_t kCounters = 4;

class RuleMaker {
 public:
  RuleMaker(const Profile& profile, const Template& cpu)
      : profile_(profile), cpu_(cpu), match_(match_events(profile, cpu)) {}

  EventRules make() {
    totals_ = total_sums(profile_);
    numbers_.resize(profile_.events.size());
    find_turns();
    add_generic();
    add_template();
    return std::move(rules_);
  }

 private:
  [[nodiscard]] bool is_of_hardware(size_t event) const {
    const Event& what = profile_.events[event];
    if (what.provenance != Provenance::sampled || what.unit == Unit::ns) return false;
    switch (engine_of(profile_, what)) {
      case Engine::pmu:
      case Engine::unknown:
        return true;
      default:
        return false;
    }
  }

  /// By how much each event has to be scaled for the time that others had its counter.
  void find_turns() {
    std::vector<double> enabled(profile_.events.size());
    std::vector<double> running(profile_.events.size());
    for (const Count& count : profile_.counts) {
      if (count.event.value >= profile_.events.size()) continue;
      enabled[count.event.value] += static_cast<double>(count.time_enabled_ns);
      running[count.event.value] += static_cast<double>(count.time_running_ns);
    }
    size_t unknown = 0;
    for (size_t event = 0; event < profile_.events.size(); ++event) {
      if (is_of_hardware(event) && !(enabled[event] > 0)) ++unknown;
    }
    const double turns =
        std::max(1.0, static_cast<double>(unknown) / static_cast<double>(kCounters));
    factors_.resize(profile_.events.size());
    for (size_t event = 0; event < profile_.events.size(); ++event) {
      if (!is_of_hardware(event)) continue;
      if (!(enabled[event] > 0)) {
        factors_[event] = turns;
      } else if (running[event] > 0) {
        factors_[event] = std::max(1.0, enabled[event] / running[event]);
      }
    }
    if (turns > 1) {
      rules_.remarks.push_back(fmt::format(
          "{} events were sampled, and the recording does not say for how long each had a counter: "
          "bounds by them are {:.2g} times as high as their samples say, as for {} counters.",
          unknown, turns, kCounters));
    }
  }

  /// What a sample of it usually stands for; none: the event can bound nothing.
  [[nodiscard]] std::optional<double> find_weight(size_t event) const {
    if (!is_of_hardware(event) || factors_[event] == 0) return std::nullopt;
    const Event& what = profile_.events[event];
    const Sum& total = totals_[event];
    const double value = static_cast<double>(total.value);
    // Where periods vary, what a sample stands for is the mean over events, not over samples.
    double weight = static_cast<double>(what.period);
    if (value > 0) weight = std::max(weight, total.variance / value);
    weight *= what.scale * factors_[event];
    if (!(weight > 0)) return std::nullopt;
    return weight;
  }

  /// The number of a profile's event, of which find_weight() knows something, among those that
  /// bound something.
  size_t number_of(size_t event) {
    if (numbers_[event]) return *numbers_[event];
    const std::string& name = profile_.strings.text(profile_.events[event].name);
    const std::string_view modifiers = read_generic_name(name).modifiers;
    const bool user = modifiers.find('u') != modifiers.npos;
    const bool kernel = modifiers.find('k') != modifiers.npos;
    numbers_[event] = rules_.events.size();
    rules_.events.push_back({event, printable(name), factors_[event], *find_weight(event),
                             user && !kernel, kernel && !user});
    return *numbers_[event];
  }

  void add_generic() {
    for (size_t event = 0; event < profile_.events.size(); ++event) {
      const std::string& text = profile_.strings.text(profile_.events[event].name);
      const std::string_view name = read_generic_name(text).base;
      for (const GenericRule& rule : kGenericRules) {
        if (rule.event != name || !is_meant(rule.machines, profile_.machine)) continue;
        if (!find_weight(event)) break;
        const double cost = rule.counts_cycles ? 1 : facts_of(rule.way).of_event;
        rules_.bounds.push_back({rule.way, {{number_of(event), cost}}});
      }
    }
  }

  void add_template() {
    if (cpu_.is_simulated) return;
    for (auto rule = std::begin(kTemplateRules); rule != std::end(kTemplateRules);) {
      const auto end = std::find_if(rule, std::end(kTemplateRules), [&](const TemplateRule& one) {
        return one.way != rule->way || one.set != rule->set;
      });
      add_set({rule, end});
      rule = end;
    }
  }

  /// Rows that count a way together: it is bounded if all of them that the CPU has were sampled.
  void add_set(std::span<const TemplateRule> set) {
    WayBound bound{set.front().way, {}};
    bool has_own = false;
    for (const TemplateRule& rule : set) {
      for (size_t row = 0; row < cpu_.rows.size(); ++row) {
        const TemplateRow& one = cpu_.rows[row];
        if (one.branch != rule.branch || one.group != rule.group || one.label != rule.label) {
          continue;
        }
        const std::vector<EventMatch::Part>& parts = match_.parts(row);
        if (parts.empty()) return;
        const double cost = rule.counts == Counts::cycles ? 1 : facts_of(rule.way).of_event;
        for (const EventMatch::Part& part : parts) {
          if (!find_weight(part.event)) return;
          bound.parts.push_back({part.event, cost});
        }
        has_own = has_own || rule.counts != Counts::beside;
      }
    }
    if (!has_own) return;
    for (WayBound::Part& part : bound.parts) part.event = number_of(part.event);
    const auto is_known = [&](const WayBound& other) {
      return other.way == bound.way && other.parts == bound.parts;
    };
    if (std::none_of(rules_.bounds.begin(), rules_.bounds.end(), is_known)) {
      rules_.bounds.push_back(std::move(bound));
    }
  }

  const Profile& profile_;
  const Template& cpu_;
  EventMatch match_;
  Sums totals_;
  std::vector<double> factors_;                 // 0: it had no counter, or is none of the hardware
  std::vector<std::optional<size_t>> numbers_;  // by event of the profile
  EventRules rules_;
};

}  // namespace

EventRules make_event_rules(const Profile& profile, const Template& cpu) {
  return RuleMaker(profile, cpu).make();
}

std::vector<TemplateRowName> list_bounding_rows() {
  std::vector<TemplateRowName> rows;
  for (const TemplateRule& rule : kTemplateRules) {
    rows.push_back({rule.branch, rule.group, rule.label});
  }
  return rows;
}

}  // namespace culprit
