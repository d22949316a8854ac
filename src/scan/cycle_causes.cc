#include "scan/cycle_causes.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "scan/print_answer.h"

namespace culprit::scan {
namespace {

/// A class is told if it has so much of all that differs, in either direction.
constexpr double kSubstantial = 0.2;

/// Cells whose cycles differ by less than this part of them take the same.
constexpr double kSameCycles = 0.02;

constexpr double kErrors = 2;  // standard errors

struct CycleClass {
  const char* name;  // of the cause, for programs; "": it is none
  const char* words;
  std::vector<std::string_view> events;
  bool is_execution = false;  // instructions take these cycles, whatever else happens
};

/// All classes of the software PMU: their sum is sim:cycles.
const std::vector<CycleClass>& cycle_classes() {
  static const std::vector<CycleClass> kClasses = {
      {"", "", {"sim:base-cycles"}, true},
      {"ports", "execution ports that are busy", {"sim:port-cycles"}, true},
      {"divider", "a divider that is busy", {"sim:divider-cycles"}, true},
      {"call-overhead", "calls and returns that keep others waiting", {"sim:call-cycles"}, true},
      {"chains",
       "chains of instructions that need each other's results",
       {"sim:serialization-cycles"},
       true},
      {"mispredictions", "mispredicted branches", {"sim:misprediction-cycles"}},
      {"forwarding", "refused store forwarding", {"sim:forward-refused-cycles"}},
      {"aliasing", "loads that wait for stores to other addresses", {"sim:alias-cycles"}},
      {"loads-l2", "loads that wait for L2", {"sim:load-l2-cycles"}},
      {"loads-l3", "loads that wait for L3", {"sim:load-l3-cycles"}},
      {"loads-memory", "loads that wait for memory", {"sim:load-memory-cycles"}},
      {"loads-other-core",
       "loads of lines that another core has",
       {"sim:load-other-core-clean-cycles", "sim:load-other-core-modified-cycles"}},
      {"translation", "address translation (TLB misses)", {"sim:load-translation-cycles"}},
      {"bandwidth", "full bandwidth to memory", {"sim:bandwidth-cycles"}},
      {"stores", "a full store buffer", {"sim:store-cycles"}},
      {"code-fetch", "code that is fetched too slowly", {"sim:starvation-cycles"}},
      {"microcode", "microcoded instructions", {"sim:microcode-cycles"}},
  };
  return kClasses;
}

std::string cycles_text(double value) {
  return format_cost({std::abs(value), std::abs(value) / 1000});  // four digits
}

/// "A has refused store forwarding: 12.96 of 13.1 modelled cycles more in an iteration".
std::string tell(const CycleClass& one, double excess, double all) {
  const char* const who = excess > 0 ? "A" : "B";
  if (excess * all <= 0) {
    return fmt::format(
        "{} has {}: {} modelled cycles more in an iteration, though {} takes {} more in all", who,
        one.words, cycles_text(excess), excess > 0 ? "B" : "A", cycles_text(all));
  }
  if (std::abs(excess) > std::abs(all)) {
    return fmt::format(
        "{} has {}: {} modelled cycles more in an iteration, of which others take {} back", who,
        one.words, cycles_text(excess), cycles_text(std::abs(excess) - std::abs(all)));
  }
  return fmt::format("{} has {}: {} of {} modelled cycles more in an iteration", who, one.words,
                     cycles_text(excess), cycles_text(all));
}

/// How the classes differ.
struct Differences {
  std::vector<double> excesses;  // by class: how much more A has
  double all = 0;                // sim:cycles
  double gross = 0;              // of the classes, in either direction
  double execution = 0;          // of what instructions take by being executed
};

Differences find_differences(const Sides& sides) {
  Differences out;
  out.all = sides.excess("sim:cycles");
  for (const CycleClass& one : cycle_classes()) {
    double excess = 0;
    for (const std::string_view event : one.events) excess += sides.excess(event);
    out.excesses.push_back(excess);
    out.gross += std::abs(excess);
    if (one.is_execution) out.execution += excess;
  }
  return out;
}

bool is_certain(const Sides& sides, const CycleClass& one, double excess) {
  double error = 0;
  for (const std::string_view event : one.events) error += sides.error_of_excess(event);
  return std::abs(excess) > kErrors * error;
}

/// The cycles of the difference that a cause of instructions stands for.
double cycles_of(const Cause& cause, double largest, const Differences& differences) {
  const bool is_of_a = cause.text.starts_with("A");
  const bool is_of_slower = is_of_a == (differences.all > 0);
  if (!is_of_slower || differences.execution * differences.all <= 0 || largest <= 0) return 0;
  return std::abs(differences.execution) * cause.weight / largest;
}

}  // namespace

void add_cycle_causes(const Sides& sides, std::vector<Cause>& causes) {
  const Differences differences = find_differences(sides);
  const double most = std::max(sides.a("sim:cycles"), sides.b("sim:cycles"));
  if (std::abs(differences.all) <= kSameCycles * most) return;
  struct Ranked {
    Cause cause;
    double cycles = 0;
  };
  std::vector<Ranked> classes;
  for (size_t i = 0; i < differences.excesses.size(); ++i) {
    const CycleClass& one = cycle_classes()[i];
    const double excess = differences.excesses[i];
    const bool is_small = std::abs(excess) < kSubstantial * differences.gross;
    if (*one.name == '\0' || is_small || !is_certain(sides, one, excess)) continue;
    Cause cause{one.name, tell(one, excess, differences.all), sides.worst_line(one.events),
                std::abs(excess)};
    cause.is_of_cycles = true;
    classes.push_back({std::move(cause), excess * differences.all > 0 ? std::abs(excess) : 0});
  }
  std::stable_sort(classes.begin(), classes.end(), [](const Ranked& x, const Ranked& y) {
    return x.cycles != y.cycles ? x.cycles > y.cycles : x.cause.weight > y.cause.weight;
  });
  std::vector<Cause> merged;
  auto next = classes.begin();
  const double largest = causes.empty() ? 0 : causes.front().weight;
  for (Cause& cause : causes) {
    const double cycles = cycles_of(cause, largest, differences);
    while (next != classes.end() && next->cycles > cycles) {
      merged.push_back(std::move((next++)->cause));
    }
    merged.push_back(std::move(cause));
  }
  while (next != classes.end()) merged.push_back(std::move((next++)->cause));
  causes = std::move(merged);
}

}  // namespace culprit::scan
