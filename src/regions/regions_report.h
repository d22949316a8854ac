#pragma once

// What OpenMP constructs (and marked regions) took, by thread: the answer to `culprit regions`.
//
//   Region, RegionValue ─→ constructs   where each is in the source, its times by thread
//                       ├→ call graph   inclusive and exclusive, by the constructs around
//                       ├→ overheads    four classes, per parallel region and for the program
//                       └→ findings     what waits for what, and what to change
//
//   execT = enterT + bodyT + exitBarT + exitT     of every construct and thread
//
// Source: papers/data-structure-profiling, section 2.2; ompP 0.7.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attribute/code_index.h"
#include "attribute/region_names.h"
#include "base/result.h"
#include "base/text_style.h"
#include "model/profile.h"
#include "regions/regions_print.h"

namespace culprit {

/// One thread's times of a construct, or their sum.
struct RegionTimes {
  uint64_t executions = 0;
  uint64_t pieces = 0;  // chunks, sections, singles run; tasks created
  double enter_ns = 0;
  double body_ns = 0;
  double exit_ns = 0;
  double exit_barrier_ns = 0;
  double wait_ns = 0;
  double behind_single_ns = 0;  // in exit_barrier_ns: of a region that ends with a single
  double inner_tasks_ns = 0;    // in body_ns: other tasks, while the thread waited
  uint64_t unfinished = 0;      // executions that had not ended when their process did
  double unfinished_ns = 0;     // what they took until then, in the times above

  [[nodiscard]] double whole_ns() const {
    return enter_ns + body_ns + exit_ns + exit_barrier_ns + wait_ns;
  }
  RegionTimes& operator+=(const RegionTimes& other);
};

/// What was counted in a construct, by RegionsReport::counters.
/// Units: those of the counters
struct RegionCounts {
  std::vector<double> inside;   // with the constructs inside it, without any waiting
  std::vector<double> waiting;  // at its beginning and end; all of what only waits

  void resize(size_t columns);
  void add(const RegionCounts& other, bool with_waiting);
  void add_waiting(const RegionCounts& other);
};

enum class Kind : uint8_t {
  parallel,
  teams,
  loop,
  sections,
  single,
  master,
  workshare,
  distribute,
  scope,
  critical,
  atomic,
  ordered,
  lock,
  barrier,
  implicit_barrier,  // of something that cannot be seen itself: a static loop of GCC
  taskwait,
  taskgroup,
  task,
  taskloop,
  user,
  function,  // of code that is compiled with -finstrument-functions
  unknown,
};
const char* word_of(Kind kind);

struct Construct {
  Kind kind = Kind::unknown;
  std::string type;  // for people: "PARALLEL LOOP"
  std::string name;  // "dynamic", "named", what a user called it; "" without
  RegionPlace place;
  struct Thread {
    size_t thread = 0;  // row of RegionsReport::threads
    RegionTimes times;
    RegionCounts counts;
  };
  std::vector<Thread> threads;  // in the order of those rows
  RegionTimes sum;
  RegionCounts counts;             // of all its threads
  std::optional<size_t> region;    // the innermost parallel construct around; itself, if it is one
  std::optional<size_t> own_loop;  // of a "PARALLEL LOOP", where the loop is seen
  bool lacks_sections = false;     // it ends with fewer sections than threads that wait for them
};

/// A construct below the constructs around it.
struct CallPath {
  size_t construct = 0;
  std::optional<size_t> parent;  // in call_paths
  size_t depth = 0;
  RegionTimes sum;
  RegionCounts counts;
  double exclusive_ns = 0;  // without the constructs inside, and tasks that ran meanwhile
};

/// Where threads spend time without work.
/// Units:  [ns], summed over threads
struct Overheads {
  double synchronization_ns = 0;
  double imbalance_ns = 0;
  double limited_ns = 0;  // limited parallelism: one works, the others wait
  double management_ns = 0;
  [[nodiscard]] double sum_ns() const {
    return synchronization_ns + imbalance_ns + limited_ns + management_ns;
  }
  Overheads& operator+=(const Overheads& other);
};

struct RegionOverheads {
  size_t construct = 0;  // a parallel one
  uint64_t executions = 0;
  size_t threads = 0;
  double wall_ns = 0;
  double whole_ns = 0;  // of its threads
  Overheads overheads;
};

/// Something that waits, by ompP's names of properties.
struct Finding {
  std::string property;
  size_t construct = 0;
  double severity = 0;  // waiting time / (wall time of its region x threads)
  double waiting_ns = 0;
  double at_most_ns = 0;  // of the program's wall time, if nobody waited here any more
  std::string advice;
};

struct RegionsReport {
  struct Thread {
    std::string label;  // "0"; of several processes "PID:0", or of an MPI program's "r3:0"
    uint32_t pid = 0;
    uint32_t tid = 0;
    ThreadId row{};         // of the profile
    ProcessId process{};    // of the profile
    std::string rank = {};  // of an MPI program, its process's number; "": of none
  };
  struct Counter {
    std::string name;
    Unit unit = Unit::events;
    Provenance provenance = Provenance::counted;
    double scale = 1;
    bool is_of_regions = false;  // counted there alone: nobody knows how much the program has
  };
  bool has_times = false;  // else constructs have only executions and counts: they were simulated
  std::vector<Counter> counters;
  std::string object;  // counts are of accesses to the data objects of these words; "": of all
  RegionCounts program_counts;  // `inside`: of the whole program, but see Counter
  RegionCounts region_counts;   // of all regions
  std::vector<std::optional<size_t>> path_of_region;  // call path, by row of the profile's regions
  std::vector<Thread> threads;
  std::vector<Construct> constructs;  // by place: those that come first in the call graph first
  std::vector<CallPath> call_paths;   // a parent before its children
  std::vector<RegionOverheads> regions;
  Overheads program;
  double program_wall_ns = 0;
  double parallel_wall_ns = 0;       // of outermost parallel regions
  size_t most_threads = 0;           // that one parallel region had
  std::vector<Finding> findings;     // the most severe first
  std::vector<std::string> remarks;  // what makes the numbers weaker, besides the ledger
};

/// What is asked of the counts beside the times.
struct RegionsQuestion {
  /// What was counted, by name; empty: what was counted in regions alone, and what else says most,
  /// if it was counted and not sampled.
  std::vector<std::string> events = {};
  std::string object =
      {};  // accesses to data objects of this name or pattern alone; "": all counts
};

/// Errors: a profile without regions, with what to do; no event of that name; no such object.
Result<RegionsReport> make_regions_report(const Profile& profile, CodeIndex& code,
                                          const RegionsQuestion& question = {});

std::string print_regions(const Profile& profile, const RegionsReport& report,
                          const RegionsPrint& options, Format format, const TextStyle& style);

}  // namespace culprit
