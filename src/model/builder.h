#pragma once

// ProfileBuilder: interns contexts, images and stacks and adds up samples while
// a recording runs. Its memory grows with distinct (context, location) pairs,
// not with samples. take_counts() hands over what has been added up since the
// last call, so that a recording can be flushed piece by piece.

#include <cstdint>
#include <tsl/robin_map.h>
#include <vector>

#include "model/profile.h"

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

  /// One or more samples at a location. `value` in the event's unit / scale.
  void add(ContextId context, const Location& location, EventId event, uint64_t samples,
           uint64_t value);
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

  /// Distinct entries held since the last take_counts().
  [[nodiscard]] size_t entries() const {
    return cells_.size() + stack_cells_.size() + branches_.size() + fall_throughs_.size() +
           memory_samples_.size();
  }

 private:
  struct CellKey {
    ContextId context;
    EventId event;
    Location location;
    friend bool operator==(const CellKey&, const CellKey&) = default;
  };
  struct StackCellKey {
    ContextId context;
    EventId event;
    StackId stack;
    friend bool operator==(const StackCellKey&, const StackCellKey&) = default;
  };
  struct BranchKey {
    ContextId context;
    Location from;
    Location to;
    friend bool operator==(const BranchKey&, const BranchKey&) = default;
  };
  struct RangeKey {
    ContextId context;
    ImageId image;
    FileOffset from;
    FileOffset to;
    friend bool operator==(const RangeKey&, const RangeKey&) = default;
  };
  struct Hash {
    size_t operator()(const BranchKey& key) const noexcept;
    size_t operator()(const RangeKey& key) const noexcept;
    size_t operator()(const CellKey& key) const noexcept;
    size_t operator()(const StackCellKey& key) const noexcept;
    size_t operator()(const Context& context) const noexcept;
    size_t operator()(const StackNode& node) const noexcept;
  };
  /// Every sample looks into several of these: a flat table keeps that to a cache miss each.
  template <class Key, class Value>
  using Map = tsl::robin_map<Key, Value, Hash>;
  struct Sum {
    uint64_t samples = 0;
    uint64_t value = 0;
  };

  void take_histograms();
  void take_stack_counts();

  Profile profile_;
  Map<Context, ContextId> contexts_;
  Map<StackNode, StackId> stacks_;
  Map<CellKey, Sum> cells_;
  Map<StackCellKey, Sum> stack_cells_;
  Map<BranchKey, BranchCount> branches_;
  Map<RangeKey, uint64_t> fall_throughs_;
  std::vector<MemorySample> memory_samples_;
};

}  // namespace culprit
