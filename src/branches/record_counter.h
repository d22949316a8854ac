#pragma once

// Turns every branch into counts at its two ends, every straight run into counts of the
// instructions it went over: rows of one flat histogram.
//
//     run 1210-1214, 59 times     1210 59   1213 59   1214 59
//     branch 1214 > 1220, 60      taken at 1214: 60, arrived at 1220: 60

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "branches/function_code.h"
#include "branches/run_counter.h"
#include "model/merge.h"
#include "model/profile.h"

namespace culprit {

/// The events, in the order in which they stand before the profile's own.
enum class Made : uint32_t {
  instructions,
  blocks,
  runs,
  taken,
  targets,
  calls,
  calls_made,
  indirect_calls,
  judged,
  misses,
  cycles,
};
inline constexpr uint32_t kMadeEvents = 11;

/// Stored cycles are in parts of this size: a run's are spread over its instructions.
inline constexpr double kCycleParts = 256;

class RecordCounter {
 public:
  /// `code` must outlive it. `depth`: records in a sample, which may all say the same.
  RecordCounter(CodeIndex& code, double depth);

  void count();

  /// Their events are those of Made.
  [[nodiscard]] std::vector<HistogramRow> take_rows() { return std::move(rows_); }
  /// What could not be counted.
  [[nodiscard]] const Ledger& ledger() const { return ledger_; }

 private:
  /// One function in one context: runs come in order of address.
  struct Place {
    ContextId context;
    ImageId image;
    uint32_t function = CodePlace::kNone;
    friend bool operator==(const Place&, const Place&) = default;
  };
  struct Pending {
    FunctionCode::Run run;
    double count;
  };
  struct Ending {
    double runs = 0;
    double instructions = 0;  // of all of them together
  };
  struct Timed {
    double cycles = 0;
    double records = 0;
  };

  void add(ContextId context, const Location& at, Made event, uint64_t records, double variance);
  void add_cycles(ContextId context, const Location& at, uint64_t records, double value,
                  double variance);
  void add_branch(const BranchCount& branch);
  void add_run(const FallThrough& run);
  void add_run_start(const FallThrough& run);
  void add_run_without_code(const FallThrough& run);
  void begin_function(const Place& place);
  void count_pending();
  void finish_function();
  [[nodiscard]] bool has_place(const Location& at) const;
  [[nodiscard]] std::optional<double> mean_cycles(ContextId context, const Location& end) const;

  CodeIndex& code_;
  FunctionCodes codes_;
  double depth_;
  std::map<std::pair<ContextId, Location>, Timed> timed_;  // by the branch that ends a run
  std::optional<Place> place_;
  std::optional<RunCounter> counter_;  // of place_, until finish_function()
  std::vector<Pending> pending_;
  std::map<size_t, Ending> endings_;  // of pending_, by the last instruction
  std::vector<HistogramRow> rows_;
  Ledger ledger_;
};

}  // namespace culprit
