#include "records/sample_branches.h"

namespace culprit {

namespace {

/// Longer stretches without a taken branch do not occur: a record is missing between the two.
constexpr uint64_t kLongestStretchBytes = uint64_t{1} << 20;

}  // namespace

void add_branches(std::span<const BranchEntry> branches,
                  const std::function<Location(RunAddress)>& find_place, ContextId context,
                  bool has_all, ProfileBuilder& builder) {
  Location next_from;  // of the branch after this one in time
  bool has_next = false;
  for (const BranchEntry& branch : branches) {
    // A record that is not filled, or one side of which may not be seen.
    const bool has_from = branch.from.value != 0;
    const bool has_to = branch.to.value != 0;
    if (!has_from || !has_to) {
      has_next = has_from;
      if (has_from) next_from = find_place(branch.from);
      continue;
    }
    const Location from = find_place(branch.from);
    const Location to = find_place(branch.to);
    const bool is_judged = branch.predicted || branch.mispredicted;
    builder.add_branch({context, from, to, 1, branch.mispredicted ? 1u : 0u, branch.cycles,
                        is_judged ? 1u : 0u, branch.cycles != 0 ? 1u : 0u});
    const bool runs_on = has_all && has_next && next_from.image == to.image &&
                         to.offset <= next_from.offset &&
                         next_from.offset - to.offset < kLongestStretchBytes;
    if (runs_on) {
      builder.add_fall_through({context, to.image, to.offset, next_from.offset, 1});
    } else if (has_all && has_next) {
      builder.profile().ledger.add(ledger::kBranchesApart);
    }
    next_from = from;
    has_next = true;
  }
}

}  // namespace culprit
