#pragma once

// TopTable: one level of what runs now, as rows with their 95 % intervals.
//
//     processes ── of one: functions ── of one: instructions
//
// `report` and `annotate` add up; here their rows get intervals and lose what a screen has no
// room for. Of time a row's rate is CPUs in use, in percent of one: a row of 180 % kept almost two
// CPUs busy. Of other events it is events a second.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attribute/attribution.h"
#include "base/result.h"
#include "stats/estimate.h"
#include "top/live_counts.h"

namespace culprit {

enum class TopLevel : uint8_t { processes, functions, instructions };

/// A process by name and number, as reports have it.
struct TopProcess {
  std::string name;
  uint32_t pid = 0;
  friend bool operator==(const TopProcess&, const TopProcess&) = default;
};

struct TopFunction {
  std::string name;
  std::string module;
  friend bool operator==(const TopFunction&, const TopFunction&) = default;
};

struct TopQuestion {
  TopLevel level = TopLevel::processes;
  std::optional<TopProcess> process = {};    // nothing but its counts; none: of everything
  std::optional<TopFunction> function = {};  // instructions: of which function
  bool by_name = false;                      // sorted so (instructions: by address), else by counts
};

struct TopRow {
  TopProcess process;    // of processes
  TopFunction function;  // of functions
  uint64_t address = 0;  // of instructions: link address
  std::string text;      // likewise: the instruction
  std::string place;     // likewise: its line, where it is known
  uint64_t samples = 0;
  double rate = 0;
  Interval rate95;
  double share = 0;  // of everything that was sampled [0 to 1]
};

struct TopTable {
  TopQuestion question;
  double seconds = 0;
  uint64_t samples = 0;  // of everything
  double rate = 0;       // likewise
  bool is_time = true;   // the unit of rates
  std::string event;     // the first one; all columns are of it
  std::vector<TopRow> rows;
  std::string remark;  // why there are no rows; "" if there are
};

/// Units:  rates: percent of one CPU, or events/s; shares 0 to 1
/// Errors: rate95 is poisson_interval() of the samples; a function that has no counts in the
///         window is a table without rows, and a remark
Result<TopTable> make_top_table(LiveWindow window, const FactsLookup& names,
                                const FactsLookup& code, const TopQuestion& question);

/// Where the function has most of its counts, to ask for its code there; nullopt: nowhere.
std::optional<Location> find_top_place(const LiveWindow& window, const FactsLookup& names,
                                       const TopFunction& function);

}  // namespace culprit
