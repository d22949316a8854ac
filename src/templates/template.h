#pragma once

// Template: how one CPU's events become cycles (hierarchical cycle accounting). Plain values,
// read from data/templates/*.toml; whoever adds a CPU writes a file.
//
//     unhalted ── stalled ──┬─ load latency ─┬─ DRAM          event x 225 cycles      (sum)
//                           │                └─ DTLB ── walk  event x 1 cycle         (sum)
//                           ├─ bandwidth saturation           not covered: why
//                           └─ ...                            seven branches
//              ── unstalled ┬─ port saturation                function of events, not a sum
//                           └─ ...                            four
//
// A branch is the sum of its rows' events x penalties, of its groups (level 4) and of
// functions of events that are not sums (Formula). Rows that are not summed inform.
// Source: A. Nowak, D. Levinthal, W. Zwaenepoel, Hierarchical Cycle Accounting, ISPASS 2015;
//         what the templates of their tool Gooda hold (report_files/*.csv).

#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace culprit {

/// Level 3 of the tree, the same for every CPU; `unhalted` to `unstalled` are levels 1 and 2.
enum class CostBranch : uint8_t {
  unhalted,
  stalled,
  unstalled,
  // stalled
  load_latency,
  bandwidth_saturation,
  instruction_starvation,
  instruction_latency,
  store_resource_saturation,
  multithread_collisions,
  branch_misprediction,
  // unstalled
  port_saturation,
  function_call_overhead,
  instruction_serialization,
  microcode_exceptions,
  // beside the tree: instructions, halted time, branch records, cross checks
  general,
};
inline constexpr size_t kBranches = 15;
inline constexpr CostBranch kFirstStalled = CostBranch::load_latency;
inline constexpr CostBranch kFirstUnstalled = CostBranch::port_saturation;
constexpr bool is_level3(CostBranch branch) {
  return branch >= kFirstStalled && branch < CostBranch::general;
}

struct BranchName {
  CostBranch branch;
  std::string_view key;
  std::string_view words;
};
inline constexpr BranchName kBranchNames[] = {
    {CostBranch::unhalted, "unhalted", "unhalted cycles"},
    {CostBranch::stalled, "stalled", "stalled cycles"},
    {CostBranch::unstalled, "unstalled", "unstalled cycles"},
    {CostBranch::load_latency, "load_latency", "load latency"},
    {CostBranch::bandwidth_saturation, "bandwidth_saturation", "bandwidth saturation"},
    {CostBranch::instruction_starvation, "instruction_starvation", "instruction starvation"},
    {CostBranch::instruction_latency, "instruction_latency", "instruction latency"},
    {CostBranch::store_resource_saturation, "store_resource_saturation",
     "store resource saturation"},
    {CostBranch::multithread_collisions, "multithread_collisions", "multithread collisions"},
    {CostBranch::branch_misprediction, "branch_misprediction", "branch misprediction"},
    {CostBranch::port_saturation, "port_saturation", "port saturation"},
    {CostBranch::function_call_overhead, "function_call_overhead", "function call overhead"},
    {CostBranch::instruction_serialization, "instruction_serialization",
     "instruction serialization"},
    {CostBranch::microcode_exceptions, "microcode_exceptions", "microcode and exceptions"},
    {CostBranch::general, "general", "beside the tree"},
};
static_assert(std::size(kBranchNames) == kBranches);

/// "load_latency", as templates write it; "load latency", as people read it.
constexpr std::string_view branch_key(CostBranch branch) {
  return kBranchNames[static_cast<size_t>(branch)].key;
}
constexpr std::string_view branch_words(CostBranch branch) {
  return kBranchNames[static_cast<size_t>(branch)].words;
}

/// What a row's cycles are to its branch.
enum class Role : uint8_t {
  sum,     // count x penalty is part of it
  info,    // says more about it, and is no part of it
  bound,   // count x penalty is the most that it (or the row's group) can be
  derive,  // an operand of a formula
};

enum class PenaltyUnit : uint8_t { cycles, ns, measured };

/// What one event costs. `measured`: `value` is the default, in cycles, until this machine was
/// measured (none: not known until then).
struct Penalty {
  PenaltyUnit unit = PenaltyUnit::cycles;
  std::optional<double> value;  // [cycles] or [ns], by unit
  std::string source;           // where the number is from; never empty
  bool is_estimate = false;     // somebody's guess, or of a sister CPU
};

/// Whether the event library gets the row's event right.
enum class NameState : uint8_t {
  known,    // it encodes the name to `code`
  wrong,    // it knows the name, and has another code; `name_source` says who is right
  unknown,  // it lacks the name (or the CPU)
};

/// The label of the row (of branch general) that the kernel's generic `instructions` is, as its
/// `cycles` is the summed row of `unhalted`.
inline constexpr std::string_view kInstructionsLabel = "instructions retired";

struct TemplateRow {
  std::string event;   // "MEM_LOAD_RETIRED:L2_HIT", as the maker (and libpfm4) writes it
  uint64_t code = 0;   // perf_event_attr.config, without privilege and enable bits
  uint64_t code1 = 0;  // config1
  NameState name_state = NameState::known;
  std::string name_source;  // of `wrong` and `unknown`
  CostBranch branch = CostBranch::general;
  std::string group;  // level 4, "DTLB"; "": directly below the branch
  std::string label;  // "DRAM": what a reader sees
  Role role = Role::info;
  Penalty penalty;       // of sums and bounds
  uint64_t period = 0;   // events per sample; 0: not sampled (counting only)
  uint8_t precise = 0;   // precise_ip
  std::string quantity;  // of kQuantities, what exactly it counts; "": none of them
  std::string part_of;   // the row whose event counts what this one does, and more; "": none
  std::string problem;   // what a high value means, one plain sentence
  std::string advice;    // what a programmer does about it, one plain sentence
  std::string note;
  uint32_t line = 0;  // in the file
};

/// Functions that are not sums. Names are the operands' keys in `operands`.
enum class Formula : uint8_t {
  wrong_path,  // max(0, issued - retired) / issue rate; issued, retired[, issue_cycles | width]
  port_saturation,  // the busiest port's cycles, if at least 0.6 of cycles; ports
  call_overhead,    // 3 x calls; calls (event or branch records)
  collisions,       // counting mode only: an estimate from the share of shared time; time running,
                    // time running alone (both in any one unit)
  ratio,            // numerator / denominator: informs ("mean duration of an empty scheduler")
  difference,       // max(0, the sum of events x weights): what some counted and others explain
};

/// A function of the events of some rows: part of its branch if `role` is sum.
struct TemplateFormula {
  Formula formula = Formula::ratio;
  CostBranch branch = CostBranch::general;
  std::string group;
  std::string label;
  Role role = Role::sum;
  std::vector<std::string> operands;  // events of rows (derive, or any other role), in order
  std::vector<double> weights;        // of the operands; empty: 1 each. A counter of two ports: 0.5
  std::optional<double> constant;     // width, cycles per call, threshold
  std::string source;
  std::string problem;
  std::string advice;
  std::string note;
  uint32_t line = 0;
};

/// Whether a branch can be told on this CPU, and why or why not.
enum class Coverage : uint8_t { full, partial, none };

struct BranchCoverage {
  Coverage coverage = Coverage::none;
  std::string reason;  // of partial and none; one plain sentence
  uint32_t line = 0;
};

/// A number that can be had two ways: left and right are each a sum of events (weights usually 1).
struct ConsistencyRule {
  struct Term {
    std::string event;
    double weight = 1;
  };
  std::string name;  // "L2 misses"
  std::vector<Term> left, right;
  double tolerance = 0.1;  // of the larger one
  std::string meaning;     // what it may mean if it is broken
  uint32_t line = 0;
};

struct Template {
  std::string name;                 // "skylake-sp": the file's
  std::string description;          // "Intel Skylake-SP, Cascade Lake"
  std::string source;               // of the whole: who selected the events
  std::string base;                 // the template that this one is a variant of; "": none
  std::string validated_by;         // on hardware: "Gooda", "Culprit"; "": by nobody
  std::string validated_on;         // which, how, and where that is written
  bool is_simulated = false;        // events of the software PMU: counted by name, without codes
  std::vector<std::string> libpfm;  // its names of the PMU, best first ("skx", "clx")
  std::vector<std::string>
      cpuid;                  // patterns of cpuid.h: "GenuineIntel-6-55", "0x00000000410fd0c0",
                              // "004e*"; none: never found by itself (a variant)
  double dispatch_width = 4;  // micro-operations per cycle
  std::string llvm_cpu;       // whose scheduling model stands in for missing events; "": none
  std::array<BranchCoverage, kBranches> coverage;
  std::vector<TemplateRow> rows;
  std::vector<TemplateFormula> formulas;
  std::vector<ConsistencyRule> rules;
  std::string file;  // for messages
};

}  // namespace culprit
