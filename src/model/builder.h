#pragma once

// ProfileBuilder: interns contexts, images and stacks and adds up samples while
// a recording runs. Its memory grows with distinct (context, location) pairs,
// not with samples. take_counts() hands over what has been added up since the
// last call, so that a recording can be flushed piece by piece.

#include <cstdint>
#include <tsl/robin_map.h>
#include <vector>

#include "model/profile.h"
#include "model/sorted_sums.h"

namespace culprit {

class ProfileBuilder {
 public:
  /// The tables, to read and to fill (machine, runs, ledger, events, ...). Counts are
  /// empty until take_counts().
  Profile& profile() { return profile_; }
  [[nodiscard]] const Profile& profile() const { return profile_; }

  StringId intern(std::string_view text) { return profile_.strings.intern(text); }
  ContextId intern_context(const Context& context);
  StackId intern_stack(const StackNode& node);

  /// One or more samples at a location. `value` in the event's unit / scale; `variance` as
  /// Cell has it.
  void add(ContextId context, const Location& location, EventId event, uint64_t samples,
           uint64_t value, double variance = 0);
  /// The same for a whole call stack, whose leaf location must be added too.
  void add_stack(ContextId context, StackId stack, EventId event, uint64_t samples, uint64_t value);

  /// A taken branch of a branch record (its counts are added to those of its place).
  void add_branch(const BranchCount& branch);
  /// Code that ran between two of them.
  void add_fall_through(const FallThrough& range);
  void add_memory_sample(const MemorySample& sample) { memory_samples_.push_back(sample); }

  /// Moves the counts since the last call into the profile (replacing what is there), sorted
  /// as Profile promises.
  void take_counts();

  /// Entries held since the last take_counts().
  [[nodiscard]] size_t entries() const {
    return cells_.entries() + stack_cells_.entries() + branches_.entries() +
           fall_throughs_.entries() + memory_samples_.size();
  }

 private:
  // Keys have the order in which the profile wants their counts.
  struct CellKey {
    ContextId context;
    Location location;
    EventId event;
    friend auto operator<=>(const CellKey&, const CellKey&) = default;
  };
  struct StackCellKey {
    ContextId context;
    StackId stack;
    EventId event;
    friend auto operator<=>(const StackCellKey&, const StackCellKey&) = default;
  };
  struct BranchKey {
    ContextId context;
    Location from;
    Location to;
    friend auto operator<=>(const BranchKey&, const BranchKey&) = default;
  };
  struct RangeKey {
    ContextId context;
    ImageId image;
    FileOffset from;
    FileOffset to;
    friend auto operator<=>(const RangeKey&, const RangeKey&) = default;
  };
  struct Sum {
    uint64_t samples = 0;
    uint64_t value = 0;
    double variance = 0;
    void operator+=(const Sum& other);
  };
  struct BranchSum {
    uint64_t count = 0;
    uint64_t mispredicted = 0;
    uint64_t cycles = 0;
    uint64_t judged = 0;
    uint64_t timed = 0;
    void operator+=(const BranchSum& other);
  };
  struct Hash {
    size_t operator()(const CellKey& key) const noexcept;
    size_t operator()(const StackCellKey& key) const noexcept;
    size_t operator()(const BranchKey& key) const noexcept;
    size_t operator()(const RangeKey& key) const noexcept;
    size_t operator()(const Context& context) const noexcept;
    size_t operator()(const StackNode& node) const noexcept;
  };

  void take_histograms();
  void take_stack_counts();
  void take_branches();

  Profile profile_;
  tsl::robin_map<Context, ContextId, Hash> contexts_;
  tsl::robin_map<StackNode, StackId, Hash> stacks_;
  SortedSums<CellKey, Sum, Hash> cells_;
  SortedSums<StackCellKey, Sum, Hash> stack_cells_;
  SortedSums<BranchKey, BranchSum, Hash> branches_;
  SortedSums<RangeKey, uint64_t, Hash> fall_throughs_;
  std::vector<MemorySample> memory_samples_;
};

}  // namespace culprit
