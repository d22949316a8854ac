#pragma once

// Restriction: which part of a profile an answer is about, by thread, region and data object. It
// is the one place that says what belongs to a thread, a region or an object: reports that
// filter rows ask allows(), and restrict_counts() leaves the rest out of a whole profile.

#include <optional>
#include <vector>

#include "model/profile.h"

namespace culprit {

/// What is set must hold; nothing set: everything is allowed. Ids that are "all" stand for
/// themselves: counts of no thread, outside of all regions, of which no object was recorded.
struct Restriction {
  std::optional<ProcessId> process{};
  std::optional<ThreadId> thread{};
  std::optional<RegionId> region{};  // and the regions in it
  std::optional<ObjectId> object{};  // and its fields; kNoAccess and kUnknownObject, too
};

/// A restriction of one profile, ready to be asked for many rows. The profile must stay.
class Restricted {
 public:
  Restricted(const Profile& profile, const Restriction& restriction);

  /// Whether the thread and the region of the context are allowed.
  [[nodiscard]] bool allows(ContextId context) const;
  /// Whether the object is the one asked for, or a field of it.
  [[nodiscard]] bool allows(ObjectId object) const;

 private:
  std::vector<bool> contexts_;  // by id
  std::vector<bool> objects_;
  std::optional<ObjectId> object_;
};

/// Leaves out the counts that are not allowed. Counts that have no object (stacks, branches,
/// counts of whole intervals) say nothing of one object and are left out where one is asked for;
/// of edges either end may be in an allowed context.
void restrict_counts(Profile& profile, const Restriction& restriction);

}  // namespace culprit
