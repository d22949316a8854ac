#include "why/redirected_time.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "attribute/code_index.h"
#include "branches/call_kind.h"
#include "branches/function_code.h"
#include "model/counts.h"

namespace culprit {
namespace {

constexpr std::string_view kMispredictionCycles = "sim:misprediction-cycles";

/// A function's calls by pointer.
struct PointerCalls {
  std::set<Location> sites;
  std::set<std::string> callees;
  double charged = 0;  // for their mispredictions, by the model [cycles]
};

struct FunctionCycles {
  double measured = 0;
  double modelled = 0;
};

std::string find_symbol(CodeIndex& code, const Location& location) {
  const CodePlace place = code.find(location);
  if (place.function == CodePlace::kNone) return "";
  const ImageFacts& facts = *code.facts(location.image);
  return facts.strings.text(facts.functions[place.function].name);
}

/// Calls that go to several functions: of those that always go to one, pointer or not, the target
/// is predicted.
std::map<std::string, PointerCalls> find_pointer_calls(const Profile& profile, CodeIndex& code) {
  FunctionCodes codes(code);
  std::map<Location, std::set<std::string>> sites;
  for (const BranchCount& branch : profile.branch_counts) {
    if (find_call_kind(codes, branch.from, branch.to) == CallKind::other) continue;
    const std::string callee = find_symbol(code, branch.to);
    if (!callee.empty()) sites[branch.from].insert(callee);
  }
  std::map<std::string, PointerCalls> calls;
  for (auto& [site, callees] : sites) {
    const std::string caller = find_symbol(code, site);
    callees.erase(caller);
    if (callees.size() < 2 || caller.empty()) continue;
    calls[caller].sites.insert(site);
    calls[caller].callees.merge(callees);
  }
  return calls;
}

}  // namespace

RedirectedCycles find_redirected_cycles(const Profile& profile, const FactsLookup& facts,
                                        const TwoRuns& runs, const ReportTable& table) {
  RedirectedCycles found;
  std::map<std::string, double>& moved = found.moved;
  const auto event = std::ranges::find(profile.events, kMispredictionCycles, [&](const Event& one) {
    return std::string_view(profile.strings.text(one.name));
  });
  if (event == profile.events.end() || !runs.cycles || profile.branch_counts.empty()) return found;
  const auto mispredictions = static_cast<size_t>(event - profile.events.begin());
  CodeIndex code(profile, facts);
  std::map<std::string, PointerCalls> callers = find_pointer_calls(profile, code);
  std::map<Location, PointerCalls*> sites;
  for (auto& [name, calls] : callers) {
    for (const Location& site : calls.sites) sites[site] = &calls;
  }
  for (const Histogram& histogram : profile.histograms) {
    for_each_count(profile, histogram, [&](const Location& at, size_t of, const Sum& sum) {
      const auto site = of == mispredictions ? sites.find(at) : sites.end();
      if (site != sites.end()) site->second->charged += to_value(profile.events[of], sum).value;
    });
  }
  std::map<std::string, FunctionCycles> functions;
  for (const ReportRow& row : table.rows) {
    if (!row.function) continue;
    FunctionCycles& one = functions[*row.function];
    one.measured += row.values[runs.time].value * runs.cycles_per_ns;
    one.modelled += row.values[*runs.cycles].value;
  }
  const auto find_beyond = [&](const std::string& callee) {
    const FunctionCycles& one = functions[callee];
    return std::max(0.0, one.measured + moved[callee] - one.modelled);
  };
  for (const auto& [name, calls] : callers) {
    const FunctionCycles& caller = functions[name];
    const double wanted = std::min(calls.charged, caller.modelled - caller.measured - moved[name]);
    double beyond = 0;
    for (const std::string& callee : calls.callees) beyond += find_beyond(callee);
    const double taken = std::min(wanted, beyond);
    if (!(taken > 0)) continue;
    for (const std::string& callee : calls.callees) {
      moved[callee] -= taken * find_beyond(callee) / beyond;
    }
    moved[name] += taken;
  }
  std::map<std::string, double> charged;  // to all callers, by callee
  for (const auto& [name, calls] : callers) {
    for (const std::string& callee : calls.callees) charged[callee] += calls.charged;
  }
  for (const auto& [name, calls] : callers) {
    for (const std::string& callee : calls.callees) {
      if (!(calls.charged > 0) || callers.contains(callee)) continue;
      const double beyond = find_beyond(callee) * calls.charged / charged.at(callee);
      if (beyond > 0) found.beyond[name][callee] = beyond;
    }
  }
  std::erase_if(moved, [](const auto& one) { return one.second == 0; });
  return found;
}

void move_redirected_time(const std::map<std::string, double>& redirected, const TwoRuns& runs,
                          ReportTable& table) {
  const Value& all = table.totals[runs.time];
  if (all.samples == 0 || !(all.value > 0)) return;
  const double period = all.value / static_cast<double>(all.samples);
  std::set<std::string> done;  // of functions of one name, the first row gets all
  for (ReportRow& row : table.rows) {
    const auto one = row.function ? redirected.find(*row.function) : redirected.end();
    if (one == redirected.end() || !done.insert(*row.function).second) continue;
    Value& time = row.values[runs.time];
    time.value = std::max(0.0, time.value + one->second / runs.cycles_per_ns);
    time.samples = static_cast<uint64_t>(std::lround(time.value / period));
    time.error = period * std::sqrt(static_cast<double>(time.samples));
  }
}

}  // namespace culprit
