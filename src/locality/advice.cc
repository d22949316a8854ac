#include "locality/advice.h"

#include <algorithm>

#include "locality/advice_context.h"
#include "locality/loop_advice.h"
#include "locality/object_advice.h"

namespace culprit {
namespace {

constexpr size_t kMostAdvice = 8;

using Candidate = AdviceContext::Candidate;

/// The most worth first; what saves in the same loops as an earlier one says so.
std::vector<LocalityAdvice> choose(std::vector<Candidate> found) {
  // Blocking changes most of the code, and may be forbidden by what depends on what: it comes
  // first only where it promises twice as much. Padding leaves the code as it is. So does what the
  // model has too little time for, whose gain is the least known.
  const auto worth = [](const Candidate& one) {
    constexpr double kEasy = 1.1;
    const bool is_hard = one.advice.kind == AdviceKind::block_loops;
    const bool is_easy = one.advice.kind == AdviceKind::pad_arrays;
    const double by_kind = is_hard ? 0.5 : is_easy ? kEasy : 1;
    return one.advice.saved_cycles * by_kind * (one.fits ? 1 : 0.5);
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const Candidate& a, const Candidate& b) { return worth(a) > worth(b); });
  if (found.size() > kMostAdvice) found.resize(kMostAdvice);
  std::vector<LocalityAdvice> advice;
  for (size_t i = 0; i < found.size(); ++i) {
    for (size_t before = 0; before < i && !found[i].advice.overlaps; ++before) {
      const auto shares = [&](uint32_t loop) { return found[before].loops.contains(loop); };
      if (std::any_of(found[i].loops.begin(), found[i].loops.end(), shares)) {
        found[i].advice.overlaps = before;
      }
    }
    advice.push_back(found[i].advice);
  }
  return advice;
}

}  // namespace

const char* advice_word(AdviceKind kind) {
  static constexpr const char* kWords[] = {"swap_loops",    "block_loops", "fuse_loops",
                                           "pad_arrays",    "pool_blocks", "split_layout",
                                           "false_sharing", "huge_pages",  "dead_stores"};
  return kWords[static_cast<size_t>(kind)];
}

std::vector<LocalityAdvice> make_locality_advice(const Profile& profile, CodeIndex& code,
                                                 const Caches& caches, LoopScales& scales) {
  AdviceContext context(profile, code, caches, scales);
  if (!(context.facts().total.all > 0)) return {};
  advise_on_loops(context);
  advise_on_objects(context);
  return choose(context.take());
}

}  // namespace culprit
