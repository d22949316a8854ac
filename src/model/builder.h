#pragma once

// ProfileBuilder: interns contexts, images and stacks and adds up samples while
// a recording runs. Its memory grows with distinct (context, location) pairs,
// not with samples. take_counts() hands over what has been added up since the
// last call, so that a recording can be flushed piece by piece.

#include <cstdint>
#include <tsl/robin_map.h>
#include <vector>

#include "model/histogram_sums.h"
#include "model/profile.h"
#include "model/slice_sums.h"
#include "model/sorted_sums.h"

namespace culprit {

class ProfileBuilder {
 public:
  /// The tables, to read and to fill (machine, runs, ledger, events, ...). Counts are
  /// empty until take_counts().
  Profile& profile() { return profile_; }
  [[nodiscard]] const Profile& profile() const { return profile_; }

  /// A new run, of which everything is that comes after; a recording begins one.
  void begin_run(const Run& run = {}) {
    run_ = RunId(profile_.runs.size());
    profile_.runs.push_back(run);
  }
  /// The one that began last.
  [[nodiscard]] RunId run_id() const { return run_; }
  Run& run() { return profile_.runs[run_.value]; }

  StringId intern(std::string_view text) { return profile_.strings.intern(text); }
  ContextId intern_context(const Context& context);
  /// Contexts that have no label get this one from now on.
  void label_contexts(std::string_view label) { label_ = intern(label); }
  StackId intern_stack(const StackNode& node);

  /// One or more samples at a location. `value` in the event's unit / scale; `variance` as
  /// Cell has it.
  void add(ContextId context, const Location& location, EventId event, uint64_t samples,
           uint64_t value, double variance = 0, ObjectId object = ObjectId());
  /// All of a context in an image at once; its events are those of the profile.
  void add(Histogram histogram) { cells_.add(std::move(histogram), profile_.events); }
  /// Samples of a whole call stack, whose leaf location must be added too.
  void add_stack(ContextId context, StackId stack, EventId event, uint64_t samples, uint64_t value);
  /// Samples of one of kernel_stacks.
  void add_kernel_stack(ContextId context, StackId stack, EventId event, uint64_t samples,
                        uint64_t value);

  /// The run has begun at this time of the samples' clock. Without it nothing is kept by time.
  void begin_time(uint64_t start_ns) { slices_.begin(start_ns); }
  /// What was added by place, once more by time (slice_sums.h): of a sample its time twice, of a
  /// wait when it began and ended.
  void add_in_time(ContextId context, EventId event, uint64_t from_ns, uint64_t until_ns,
                   uint64_t value) {
    slices_.add({context, 0, 0, {event, 1, value, 0}}, from_ns, until_ns, profile_.events);
  }

  /// A taken branch of a branch record (its counts are added to those of its place).
  void add_branch(const BranchCount& branch);
  /// Code that ran between two of them.
  void add_fall_through(const FallThrough& range);
  /// Sampled accesses, whose place must be added, too.
  void add_accesses(const SampledAccess& accesses);

  /// Moves the counts since the last call into the profile (replacing what is there), sorted
  /// as Profile promises.
  void take_counts();

  /// Entries held since the last take_counts().
  [[nodiscard]] size_t entries() const {
    return cells_.entries() + stack_cells_.entries() + kernel_stack_cells_.entries() +
           branches_.entries() + fall_throughs_.entries() + accesses_.entries() + slices_.entries();
  }

 private:
  Profile profile_;
  RunId run_;
  StringId label_;
  tsl::robin_map<Context, ContextId, KeyHash, KeyEqual> contexts_;
  tsl::robin_map<StackNode, StackId, KeyHash, KeyEqual> stacks_;
  HistogramSums cells_;
  SortedSums<StackCount> stack_cells_;
  SortedSums<StackCount> kernel_stack_cells_;
  SortedSums<BranchCount> branches_;
  SortedSums<FallThrough> fall_throughs_;
  SortedSums<SampledAccess> accesses_;
  SliceSums slices_;
};

}  // namespace culprit
