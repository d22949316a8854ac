#include "accounting/static_rows.h"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>
#include <utility>
#include <vector>

#include "accounting/event_match.h"
#include "model/engine.h"
#include "model/static_events.h"

namespace culprit {
namespace {

constexpr const char* kSource =
    "LLVM's scheduling model of the CPU, times executions: docs/manual.md, static pipeline model";

const BranchCoverage& coverage_of(const Template& cpu, CostBranch branch) {
  return cpu.coverage[static_cast<size_t>(branch)];
}

/// Whether the profile has an event that the branch's cycles come from.
bool has_events(const Template& cpu, const EventMatch& match, CostBranch branch) {
  for (size_t row = 0; row < cpu.rows.size(); ++row) {
    const TemplateRow& one = cpu.rows[row];
    const bool is_part = one.role == Role::sum || one.role == Role::derive;
    if (one.branch == branch && is_part && match.is_measured(row)) return true;
  }
  return false;
}

bool lacks_ports(const Template& cpu, const EventMatch& match) {
  return !has_events(cpu, match, CostBranch::port_saturation);
}

/// Events count serializing instructions; only the software PMU knows of chains.
bool lacks_chains(const Template& cpu) {
  return coverage_of(cpu, CostBranch::instruction_serialization).coverage != Coverage::full;
}

bool lacks_calls(const TemplateFormula& formula) {
  return formula.formula == Formula::call_overhead && formula.operands.empty();
}

TemplateRow make_row(std::string_view event, CostBranch branch, Role role,
                     const std::string& label) {
  TemplateRow row;
  row.event = event;
  row.name_state = NameState::unknown;
  row.name_source = kSource;
  row.branch = branch;
  row.label = label;
  row.role = role;
  return row;
}

void cover(Template& cpu, CostBranch branch, const std::string& words) {
  BranchCoverage& coverage = cpu.coverage[static_cast<size_t>(branch)];
  if (coverage.coverage == Coverage::partial) {
    coverage.reason += " " + words;
  } else {
    coverage = {Coverage::partial, words, coverage.line};
  }
}

void add_ports(Template& cpu, const std::vector<std::string>& events, double modelled) {
  TemplateFormula busiest;
  busiest.formula = Formula::port_saturation;
  busiest.branch = CostBranch::port_saturation;
  busiest.label = "busiest port";
  busiest.role = Role::sum;
  busiest.source = kSource;
  busiest.problem = "So many instructions need one port that the others wait.";
  busiest.advice =
      "Use instructions that other ports can do, or vector instructions, which do "
      "more at once.";
  for (const std::string& event : events) {
    busiest.operands.push_back(event);
    cpu.rows.push_back(make_row(event, CostBranch::port_saturation, Role::derive, event));
  }
  cpu.formulas.push_back(std::move(busiest));
  cover(cpu, CostBranch::port_saturation,
        fmt::format("By the static model of {:.0f} % of the executed instructions, not by events.",
                    100 * modelled));
}

void add_chains(Template& cpu, double looped) {
  TemplateRow chain = make_row(static_events::kChain, CostBranch::instruction_serialization,
                               Role::sum, "chains in loops");
  chain.penalty = {PenaltyUnit::cycles, 1, kSource, true};
  chain.problem = "Each iteration of a loop waits for a result of the one before.";
  chain.advice =
      "Break the chain: sum into several variables, or let the compiler reorder "
      "(-ffast-math).";
  cpu.rows.push_back(std::move(chain));
  cover(cpu, CostBranch::instruction_serialization,
        fmt::format("Chains by the static model of innermost loops without calls, {:.0f} % of the "
                    "executed instructions.",
                    100 * looped));
}

}  // namespace

bool needs_static_model(const Template& cpu, const Profile& profile) {
  if (cpu.llvm_cpu.empty() || profile.histograms.empty()) return false;
  return lacks_chains(cpu) || lacks_ports(cpu, match_events(profile, cpu)) ||
         std::any_of(cpu.formulas.begin(), cpu.formulas.end(), lacks_calls);
}

Template with_static_rows(Template cpu, const Profile& profile, const StaticReach& reach) {
  std::vector<std::string> ports;
  bool has_chain = false;
  bool has_calls = false;
  for (const Event& event : profile.events) {
    if (engine_of(profile, event) != Engine::static_model) continue;
    const std::string& name = profile.strings.text(event.name);
    if (name.starts_with(static_events::kBusyPrefix)) ports.push_back(name);
    has_chain = has_chain || name == static_events::kChain;
    has_calls = has_calls || name == static_events::kCalls;
  }
  const bool wants_ports = lacks_ports(cpu, match_events(profile, cpu));
  if (has_calls) {
    for (TemplateFormula& formula : cpu.formulas) {
      if (!lacks_calls(formula)) continue;
      formula.operands = {std::string(static_events::kCalls)};
      cpu.rows.push_back(make_row(static_events::kCalls, formula.branch, Role::derive, "calls"));
    }
  }
  if (wants_ports && !ports.empty()) add_ports(cpu, ports, reach.modelled);
  if (has_chain && lacks_chains(cpu)) add_chains(cpu, reach.looped);
  return cpu;
}

}  // namespace culprit
