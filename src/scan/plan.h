#pragma once

// A setup file → what is to be built and run.
//
//     [scan]
//     program = ["kernels/*.cc"]
//     build = "{cc} {flags} -g -DDIM={DIM} {program} -o {out}"
//     run = "{out} {runs}"
//     runs = [100, 300, 700]
//     time_percent = 2
//     events = ["cycles:u", "instructions:u"]
//     accept = ["forwarding vecadd_volatile"]
//     DIM = "1..20"
//     [setup]
//     gcc12_O2 = { cc = "g++-12", flags = "-O2" }
//     "clang{V}_{O}" = { V = [14, 19], O = ["O2", "O3"], cc = "clang++-{V}", flags = "-{O}" }
//     [expect]
//     L1-dcache-loads = ">= DIM"
//     [search]
//     O = ["-O2", "-O3"]
//     math = ["", "-ffast-math"]
//     cc = "g++-12"
//
// Words in braces stand for variables: of the setup, the parameters, and {program}, {out}, {runs}.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "scan/names.h"

namespace culprit::scan {

struct Setup {
  std::string name;
  Variables variables;
};

struct Parameter {
  std::string name;
  std::vector<std::string> values;
};

/// What must hold of each cell: "L1-dcache-loads >= DIM".
struct Expectation {
  std::string left;
  std::string comparison;  // >= <= == > <
  std::string right;
  uint32_t line = 0;
};

/// What `scan search` chooses among: one value of each factor.
struct SearchSpace {
  std::vector<Parameter> factors;  // the first value of each is where the search begins
  Variables rest;                  // texts in which {FACTOR} stands for its value
};

/// Plan::native_percent() where only events were asked for.
inline constexpr double kUsualPercent = 2;

struct Plan {
  std::string file;
  std::vector<std::string> programs;  // shell patterns, from the file's folder
  std::string build;                  // a shell command; "": the programs run as they are
  std::string run;
  std::vector<uint64_t> runs;       // loop counts; empty: as loop_counts.h says
  uint64_t iterations_per_run = 1;  // of programs that multiply the loop count by themselves
  std::string machine = "none";     // whose caches and cycles are modelled
  uint64_t timeout_s = 120;         // of a cell, its build and all its runs; of a timed run
  /// Measures CPU time, too, until the interval of each cell is so narrow; 0: does not, unless
  /// `events` has some.
  double time_percent = 0;
  std::vector<std::string> events;  // native runs count these, too, as `culprit stat -e` names them
  std::vector<Parameter> parameters;
  std::vector<Setup> setups;
  std::vector<Expectation> expectations;
  std::vector<std::string> accepted;  // rules of kernels whose breach is meant (kernel_rules.h)
  SearchSpace search;                 // no factors: the file has no [search]

  /// How narrow intervals of what native runs measure have to be; 0: there are no such runs.
  [[nodiscard]] double native_percent() const {
    return time_percent > 0 || events.empty() ? time_percent : kUsualPercent;
  }
  /// What native runs measure, as expressions name it.
  [[nodiscard]] std::vector<std::string> native_names() const;

  /// nullptr: there is none of that name.
  [[nodiscard]] const Parameter* find_parameter(std::string_view name) const;
};

/// `name` is for messages.
/// Errors: the first mistake, with its line
Result<Plan> parse_plan(std::string_view text, const std::string& name);

/// Two of them at least, ascending: differences need them.
inline Result<void> check_runs(const std::vector<uint64_t>& runs) {
  if (runs.size() < 2) {
    return Error{"two loop counts at least (three find kernels that break the rules)"};
  }
  for (size_t i = 0; i < runs.size(); ++i) {
    if (runs[i] > 1'000'000'000'000 || (i > 0 && runs[i] <= runs[i - 1])) {
      return Error{"loop counts ascend, and are at most 10^12"};
    }
  }
  return {};
}

/// "1..5" → 1 2 3 4 5; "16..128*2" → 16 32 64 128; "0..20+5" → 0 5 10 15 20.
Result<std::vector<std::string>> expand_range(std::string_view text);

struct PlannedCell {
  CellName name;
  std::string program;  // the source file, from the plan's folder
  Variables variables;  // of the setup and the parameters
};

/// Each program with each setup and each value of each parameter. `programs` are files.
Result<std::vector<PlannedCell>> make_cells(const Plan& plan,
                                            const std::vector<std::string>& programs);

}  // namespace culprit::scan
