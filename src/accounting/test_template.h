#pragma once

// A small template and counts for it, for tests.

#include <string>
#include <utility>
#include <vector>

#include "accounting/event_match.h"
#include "templates/template.h"

namespace culprit {

inline TemplateRow made_row(std::string event, CostBranch branch, Role role,
                            std::optional<double> penalty, uint64_t code = 0) {
  TemplateRow row;
  row.label = event;
  row.event = std::move(event);
  row.branch = branch;
  row.role = role;
  row.penalty = {PenaltyUnit::cycles, penalty, "this test", false};
  row.code = code;
  row.problem = "Something is slow.";
  row.advice = "Make it fast.";
  return row;
}

/// A CPU with load latency (two sources and a DTLB group), mispredictions with a wrong path,
/// three ports and calls; every other branch is not covered.
inline Template made_template() {
  Template cpu;
  cpu.name = "made";
  cpu.description = "made by a test";
  cpu.dispatch_width = 4;
  for (BranchCoverage& coverage : cpu.coverage) coverage = {Coverage::none, "no event for it", 0};
  for (const CostBranch covered :
       {CostBranch::load_latency, CostBranch::branch_misprediction, CostBranch::port_saturation,
        CostBranch::function_call_overhead}) {
    cpu.coverage[static_cast<size_t>(covered)] = {Coverage::full, "", 0};
  }
  cpu.rows = {
      made_row("CYCLES", CostBranch::unhalted, Role::sum, 1, 0x3c),
      made_row("STALLS", CostBranch::stalled, Role::sum, 1, 0x1d101c2),
      made_row("LOCAL_DRAM", CostBranch::load_latency, Role::sum, 200, 0x1d3),
      made_row("REMOTE_DRAM", CostBranch::load_latency, Role::sum, 400, 0xcd3),
      made_row("WALKS", CostBranch::load_latency, Role::sum, 7, 0x8208),
      made_row("WALK_CYCLES", CostBranch::load_latency, Role::sum, 1, 0x8408),
      made_row("L1_HIT", CostBranch::load_latency, Role::info, std::nullopt, 0x1d1),
      made_row("MISPREDICTED", CostBranch::branch_misprediction, Role::sum, 6, 0xc5),
      made_row("ISSUED", CostBranch::branch_misprediction, Role::derive, std::nullopt, 0x10e),
      made_row("RETIRED", CostBranch::branch_misprediction, Role::derive, std::nullopt, 0x2c2),
      made_row("PORT_0", CostBranch::port_saturation, Role::derive, std::nullopt, 0x1a1),
      made_row("PORT_1", CostBranch::port_saturation, Role::derive, std::nullopt, 0x2a1),
      made_row("PORT_23", CostBranch::port_saturation, Role::derive, std::nullopt, 0xca1),
      made_row("CALLS", CostBranch::function_call_overhead, Role::derive, std::nullopt, 0x2c4),
      made_row("INSTRUCTIONS", CostBranch::general, Role::info, std::nullopt, 0xc0)};
  cpu.rows[4].group = cpu.rows[5].group = "DTLB";
  cpu.rows.back().label = kInstructionsLabel;

  TemplateFormula wrong_path;
  wrong_path.formula = Formula::wrong_path;
  wrong_path.branch = CostBranch::branch_misprediction;
  wrong_path.label = "wrong path";
  wrong_path.operands = {"ISSUED", "RETIRED"};
  TemplateFormula ports;
  ports.formula = Formula::port_saturation;
  ports.branch = CostBranch::port_saturation;
  ports.label = "busiest port";
  ports.operands = {"PORT_0", "PORT_1", "PORT_23"};
  ports.weights = {1, 1, 0.5};
  ports.problem = "One port has most of the work.";
  ports.advice = "Use instructions that other ports execute.";
  TemplateFormula calls;
  calls.formula = Formula::call_overhead;
  calls.branch = CostBranch::function_call_overhead;
  calls.label = "calls";
  calls.operands = {"CALLS"};
  calls.constant = 3;
  cpu.formulas = {wrong_path, ports, calls};
  return cpu;
}

/// Counts by event; what is not named was not measured.
inline RowAmounts made_amounts(const Template& cpu,
                               const std::vector<std::pair<std::string, double>>& counts,
                               double standard_error = 0) {
  RowAmounts amounts(cpu.rows.size());
  for (const auto& [event, count] : counts) {
    for (size_t row = 0; row < cpu.rows.size(); ++row) {
      if (cpu.rows[row].event != event) continue;
      amounts[row] = RowAmount{{count, standard_error}, Provenance::counted};
    }
  }
  return amounts;
}

}  // namespace culprit
