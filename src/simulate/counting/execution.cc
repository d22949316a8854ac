#include "simulate/counting/execution.h"

namespace culprit::counting {

using counts_file::ControlFlow;
using counts_file::Counter;

namespace {

/// How each counts_file::ControlFlow is predicted; `none` and `system_call` are not.
constexpr simulate::BranchKind kPredicted[] = {
    {},
    simulate::BranchKind::conditional,
    simulate::BranchKind::jump,
    simulate::BranchKind::indirect_jump,
    simulate::BranchKind::call,
    simulate::BranchKind::indirect_call,
    simulate::BranchKind::ret,
};

/// The branch at the end of `before`.
simulate::Branch make_branch(const BlockFacts& before, const BlockFacts& now) {
  simulate::Branch branch;
  branch.address = before.last_address;
  branch.kind = kPredicted[static_cast<size_t>(before.branch)];
  branch.taken = before.branch != ControlFlow::conditional || now.start != before.end;
  branch.target = now.start;
  branch.return_to = before.end;
  return branch;
}

}  // namespace

void learn_branch(CountedThread& thread, const BlockFacts& before, const BlockFacts& now) {
  thread.predictor->predict(make_branch(before, now));
}

template <bool kCycles>
void predict_branch(CountedThread& thread, const BlockFacts& before, const BlockFacts& now) {
  const simulate::Branch branch = make_branch(before, now);
  const simulate::Misprediction miss = thread.predictor->predict(branch);
  if constexpr (kCycles) {
    thread.clock->branch(before.last_site, miss);
    const bool is_of_call =
        before.branch >= ControlFlow::call && before.branch <= ControlFlow::returns;
    if (branch.taken) thread.clock->taken(before.last_site, is_of_call);
  }
  if (miss == simulate::Misprediction::none) return;
  const bool is_miss = simulate::is_branch_miss(miss);
  ++count(thread, before.last_site, is_miss ? Counter::mispredicted : Counter::late_targets);
}
template void predict_branch<false>(CountedThread&, const BlockFacts&, const BlockFacts&);
template void predict_branch<true>(CountedThread&, const BlockFacts&, const BlockFacts&);

void count_outcome(counts_file::SiteCounts& counts, simulate::Outcome outcome, Counter first,
                   Counter second_tlb, Counter walk_cycles) {
  if (outcome.source != simulate::DataSource::l1) {
    ++count_from(counts, first, static_cast<size_t>(outcome.source) - 1);
  }
  if (outcome.translation != simulate::TlbLookup::first_level) {
    ++count_from(counts, second_tlb, static_cast<size_t>(outcome.translation) - 1);
    count_from(counts, walk_cycles, 0) += outcome.walk_cycles;
  }
}

void Counting::check_limit(uint64_t own_before, uint64_t own_now) {
  constexpr uint64_t kLimitStep = 4096;  // instructions between looks at the other threads
  if (own_before / kLimitStep == own_now / kLimitStep) return;
  uint64_t all = ended_instructions_.load(std::memory_order_relaxed);
  for (const CountedThread* thread : threads_) {
    if (thread == nullptr) continue;
    all += thread->instructions();
  }
  if (all < limit_) return;
  limit_ = UINT64_MAX;
  stop();
}

/// What was left to do of `before` until it was known what runs next; and whether this is enough.
void Counting::finish_block(CountedThread& thread, const BlockFacts& before,
                            const BlockFacts& now) {
  thread.rounds.goes_on = before.left == Left::repeats && now.first_site == before.last_site;
  if (thread.rounds.goes_on) {
    thread.note_repeats(before.last_site, 1);
  } else if (before.left == Left::target) {
    thread.targets.count(before, now, thread.shared);
  } else if (before.left == Left::beginning && thread.own.header->tid == 0) {
    thread.note_task();
  }
  if (follows_calls_ && !watches_part_) {
    follow_calls(thread, before, now);
    if (constructs_) settle_region(thread, &now);
  }
  if (limit_ == UINT64_MAX) return;
  const uint64_t so_far = thread.instructions();
  check_limit(so_far - now.instructions, so_far);
}

bool Counting::is_in_region(CountedThread& thread, const BlockFacts& block) {
  const BlockFacts& before = *std::exchange(thread.latest, &block);
  const size_t least =
      follows_calls_ ? follow_calls(thread, before, block) : thread.calls.follow(before, block);
  if (constructs_) settle_region(thread, nullptr);
  if (!has_region_) return true;
  return thread.region.step(block, least, thread.calls.height());
}

/// Whether the run has not got far enough for the block to count. What other threads have not added
/// yet is missed.
bool Counting::is_skipped(CountedThread& thread, const BlockFacts& block) {
  constexpr uint64_t kAddAt = 4096;
  if (run_so_far_.load(std::memory_order_relaxed) + thread.not_added >= skipped_) return false;
  thread.not_added += block.instructions;
  if (thread.not_added >= kAddAt) {
    run_so_far_.fetch_add(std::exchange(thread.not_added, 0), std::memory_order_relaxed);
  }
  return true;
}

/// The thread, if what it runs now is counted; else nullptr, and its memory accesses are not
/// counted either.
CountedThread* Counting::watch_block(unsigned number, const BlockFacts& block) {
  CountedThread* const thread = threads_[number];
  if (thread == nullptr) return nullptr;
  const bool is_inside = (!has_region_ && !follows_calls_) || is_in_region(*thread, block);
  // Threads are side by side in counting_: it is written only where something changes.
  if (!is_skipped(*thread, block) && is_inside) {
    if (counting_[number] == nullptr) {
      thread->previous = &kNoBlock;  // what it ran before was not counted
      counting_[number] = thread;
    }
    return thread;
  }
  if (counting_[number] != nullptr) counting_[number] = nullptr;
  thread->own.header->outside_instructions += block.instructions;
  return nullptr;
}

}  // namespace culprit::counting
