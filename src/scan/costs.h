#pragma once

// What one iteration of a cell costs: the difference between its runs at several loop counts, by
// place.
//
//   executions of an instruction at n = 100, 300, 700         what it is
//     27      27      27                                      constant: not of the loop
//     527     1,527   3,527                                   steady: 5 per iteration, exactly
//     61      160     358                                     varying: iterations differ
//     90      90      92                                      once: it is of no iteration
//     5,050   45,150  245,350                                 growing: the rule is broken
//
// A third loop count tells the last three apart. The rule is that nothing but the number of
// iterations depends on the loop count. Iterations that differ by their data scatter around a
// line as counts of chance do; what leaves it by more than that grows.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/profile.h"
#include "scan/cells.h"
#include "stats/estimate.h"

namespace culprit::scan {

enum class Behaviour : uint8_t { steady, varying, once, growing };

/// An instruction whose executions depend on the loop count.
struct PlaceCost {
  Location at;
  Behaviour behaviour = Behaviour::steady;
  std::vector<Estimate> per_iteration;  // by event of the profile, in its unit
  double executions = 0;                // between the least and the largest loop count
};

/// Cost of an iteration.
/// Units:  counts and loop counts -> [event's unit / iteration]
/// Errors: 0 where the counts lie on a line; half the difference of the slopes where they do not.
///         Totals of a few counts that start-up may differ by are 0 with what they were as their
///         error
/// Source: papers/parametric-evaluation, equation 3.1, by place instead of in total
struct CellCosts {
  std::vector<PlaceCost> places;  // by location; none where they were not asked for
  std::vector<Estimate> totals;   // by event: of all places that are steady or varying
  bool varies = false;            // iterations differ
  bool is_refused = false;        // some place grows: no number says what an iteration costs
  uint64_t first_runs = 0;        // the loop counts that it rests on
  uint64_t last_runs = 0;
  bool is_checked = false;  // by a third loop count
};

/// What function a place belongs to, as any number; places without one have their own.
using FunctionOf = std::function<uint64_t(const Location&)>;

/// What is kept of a cell: what tables of many cells need, or of which places it is, too.
enum class CostDetail : uint8_t { totals, places };

/// Finds the counts of each run once, for any number of cells.
class CostReader {
 public:
  /// The profile must outlive it.
  explicit CostReader(const Profile& profile);

  /// nullopt: fewer than two runs, or nothing counted them.
  [[nodiscard]] std::optional<CellCosts> compute(const Cell& cell, const FunctionOf& function,
                                                 CostDetail detail) const;

 private:
  const Profile& profile_;
  std::vector<std::vector<uint32_t>> histograms_;  // by run
  size_t instructions_;                            // the event; SIZE_MAX: there is none
};

/// The event of this name; SIZE_MAX: the profile has none.
size_t find_event(const Profile& profile, std::string_view name);

/// Leaves out the counts of places where all runs counted the same, which belong to no iteration,
/// and keeps the sums of all in Count rows. Histograms must be one for each (run, image).
void keep_what_differs(Profile& profile);

}  // namespace culprit::scan
