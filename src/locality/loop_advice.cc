#include "locality/loop_advice.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"

namespace culprit {
namespace {

/// Lines of which less is used at a time are stepped over.
constexpr double kLittleUsed = 0.6;
constexpr double kMostly = 0.5;

class LoopAdviser {
 public:
  explicit LoopAdviser(AdviceContext& context) : context_(context), facts_(context.facts()) {}

  void advise() {
    for (uint32_t loop = 0; loop < facts_.by_loop.size(); ++loop) advise_on_refetches(loop);
    advise_on_fusion();
    advise_on_sharing();
  }

 private:
  /// Whether this pair of two loops, which have edges both ways, is the one that is not looked at.
  template <class Value>
  static bool is_second(RowPair pair, const PairSums<Value>& sums) {
    return pair.first > pair.second && sums.find({pair.second, pair.first}) != nullptr;
  }

  // ---- One loop that comes back to its own lines too late. ----

  void advise_on_refetches(uint32_t loop) {
    const GroupFacts& here = facts_.by_loop[loop];
    if (!(here.waits.all > 0) || !context_.has_lines(loop)) return;
    const Refetches& own = here.own;
    const double saved = compute_saved_by_hits(here.waits, context_.lines_in(here.use, own)) *
                         context_.waits_scale_of(loop);
    if (!context_.is_worth(saved)) return;
    // Lines of which little is used at a time are the fault of the order of the loops, wherever the
    // lines come from.
    const bool comes_back = own.all(0) > kMostly * static_cast<double>(here.use.levels[0].lines);
    const bool for_other_bytes = context_.used_in_the_end(here.use, 0) >= kLittleUsed ||
                                 own.conflict[0] > kMostly * own.all(0);
    const bool steps_over =
        context_.spatial(here.use, 0) < kLittleUsed && comes_back && for_other_bytes;
    // Where something else in the loop runs along its lines, as in a transposition, another order
    // would only change which of the two steps.
    constexpr double kSomething = 0.05;
    const bool runs_along = static_cast<double>(here.lines_along) >
                            kSomething * static_cast<double>(here.use.levels[0].lines);
    const size_t level = steps_over ? 0 : level_of_waits(here.waits, own);
    const double lines = static_cast<double>(here.use.levels[level].lines);
    const double used = context_.spatial(here.use, level);
    LocalityAdvice advice;
    advice.saved_cycles = saved;
    advice.lines = context_.lines_of(loop);
    advice.objects = context_.objects_of(loop);
    const std::string back = fmt::format("{} of the lines that it brings into {} were there before",
                                         format_part(own.all(level), lines), kLevelWords[level]);
    const bool by_conflict = own.conflict[level] > kMostly * own.all(level);
    if (steps_over && !runs_along) {
      advice.kind = AdviceKind::swap_loops;
      advice.title = fmt::format("swap the loops around {}", context_.place_of(loop));
      advice.reason = fmt::format(
          "It steps over lines and comes back to them too late: of each line that comes into {} it "
          "uses {} before it is gone, and {}. The innermost loop should run along the lines. What "
          "it "
          "gains then beside the waits is not in the figure: vector instructions, and sums that no "
          "longer wait for each other.",
          kLevelWords[level], format_part(used, 1), back);
    } else {
      advice.kind = AdviceKind::block_loops;
      advice.title = fmt::format("block the loops around {}", context_.place_of(loop));
      advice.reason = fmt::format(
          "It comes back to the same lines when they are gone: {}{}. Parts that fit should be "
          "finished before the next one begins.",
          back,
          steps_over ? fmt::format(", and of each it uses {} at a time, while other data are gone "
                                   "through along the lines",
                                   format_part(used, 1))
                     : ", lost for want of room");
    }
    if (!by_conflict || steps_over) context_.add(advice, {loop}, context_.scale_of(loop));
    if (by_conflict) advise_on_padding(loop, own, level, advice);
  }

  void advise_on_padding(uint32_t loop, const Refetches& own, size_t level, LocalityAdvice advice) {
    Refetches conflicts;
    conflicts.conflict = own.conflict;
    const GroupFacts& here = facts_.by_loop[loop];
    advice.kind = AdviceKind::pad_arrays;
    advice.saved_cycles =
        compute_saved_by_hits(here.waits, context_.lines_in(here.use, conflicts)) *
        context_.waits_scale_of(loop);
    advice.title = fmt::format("pad the arrays that {} accesses", context_.place_of(loop));
    const auto& cache = context_.caches().levels[level];
    advice.reason = fmt::format(
        "{} of the lines that it brings into {} were there before and lost to others of their set, "
        "while the rest of the cache had room.{}",
        format_part(own.conflict[level], static_cast<double>(here.use.levels[level].lines)),
        kLevelWords[level],
        cache ? fmt::format(" Lines a multiple of {} B apart share a set of {}: make rows, or "
                            "arrays, a line longer than that.",
                            format_thousands(cache->size_bytes / cache->ways), cache->ways)
              : "");
    context_.add(std::move(advice), {loop}, context_.scale_of(loop));
  }

  /// Where most of what it waits for comes from decides which level's lines matter.
  [[nodiscard]] static size_t level_of_waits(const Waits& waits, const Refetches& own) {
    if (own.all(1) == 0) return 0;
    return waits.l2 > waits.l3 + waits.memory + waits.bandwidth ? 0 : 1;
  }

  // ---- Two loops over the same lines. ----

  void advise_on_fusion() {
    for (const auto& [pair, refetched] : facts_.refetches) {
      const auto& [from, to] = pair;
      if (facts_.loops.is_nested(from, to) || !facts_.loops.row(from).is_loop() ||
          !facts_.loops.row(to).is_loop() || !context_.has_lines(from) || !context_.has_lines(to)) {
        continue;
      }
      if (is_second(pair, facts_.refetches)) continue;
      const double there = saved_by_fusion(from, to);
      const double back = saved_by_fusion(to, from);
      if (!context_.is_worth(std::max(there, back))) continue;
      if (there >= back) {
        add_fusion(from, to, there);
      } else {
        add_fusion(to, from, back);
      }
    }
  }
  [[nodiscard]] double saved_by_fusion(uint32_t from, uint32_t to) const {
    const Refetches* const found = facts_.refetches.find({from, to});
    if (found == nullptr) return 0;
    // Loops that now and then meet on a line, as those that fill an array first, are no pair.
    constexpr double kLeastPart = 0.25;
    const Refetches& everybody = facts_.by_loop[to].refetched;
    const size_t at = level_of_waits(facts_.by_loop[to].waits, *found);
    if (found->capacity[at] < kLeastPart * everybody.all(at)) return 0;
    Refetches by_capacity;
    by_capacity.capacity = found->capacity;
    const GroupFacts& second = facts_.by_loop[to];
    return compute_saved_by_hits(second.waits, context_.lines_in(second.use, by_capacity)) *
           context_.waits_scale_of(to);
  }
  void add_fusion(uint32_t from, uint32_t to, double saved) {
    LocalityAdvice advice;
    advice.kind = AdviceKind::fuse_loops;
    advice.saved_cycles = saved;
    advice.title =
        fmt::format("one loop for {} and {}", context_.place_of(from), context_.place_of(to));
    advice.lines = context_.lines_of(from);
    for (std::string& line : context_.lines_of(to)) advice.lines.push_back(std::move(line));
    advice.objects = context_.objects_of(to);
    const Refetches& refetched = *facts_.refetches.find({from, to});
    const size_t level = level_of_waits(facts_.by_loop[to].waits, refetched);
    advice.reason = fmt::format(
        "They pass over the same lines one after the other: {} of the lines that {} brings into {} "
        "were there for {}, and are gone in between (capacity).",
        format_part(refetched.capacity[level],
                    static_cast<double>(facts_.by_loop[to].use.levels[level].lines)),
        context_.place_of(to), kLevelWords[level], context_.place_of(from));
    context_.add(std::move(advice), {from, to}, context_.scale_of(to));
  }

  // ---- Lines that cores take from each other. ----

  void advise_on_sharing() {
    for (const auto& [pair, first] : facts_.sharing) {
      if (is_second(pair, facts_.sharing)) continue;
      double saved = saved_by_apart(pair.first, pair.second);
      if (pair.first != pair.second) saved += saved_by_apart(pair.second, pair.first);
      if (!context_.is_worth(saved)) continue;
      LocalityAdvice advice;
      advice.kind = AdviceKind::false_sharing;
      advice.saved_cycles = saved;
      advice.lines = context_.lines_of(pair.first);
      if (pair.first != pair.second) {
        for (std::string& line : context_.lines_of(pair.second))
          advice.lines.push_back(std::move(line));
      }
      advice.objects = context_.objects_of(pair.second);
      for (std::string& object : context_.objects_of(pair.first)) {
        if (std::ranges::find(advice.objects, object) == advice.objects.end()) {
          advice.objects.push_back(std::move(object));
        }
      }
      advice.title = fmt::format("put what threads write at {} into lines of their own",
                                 context_.place_of(pair.second));
      advice.reason = fmt::format(
          "Cores took lines from each other {} times there, and {} of these for bytes that the "
          "other one did not use (false sharing): align each thread's data to {} B.",
          format_si(first.same_bytes + first.other_bytes),
          format_part(first.other_bytes, first.same_bytes + first.other_bytes),
          context_.caches().line_bytes);
      if (first.other_bytes > first.same_bytes)
        context_.add(std::move(advice), {pair.first, pair.second}, context_.scale_of(pair.second));
    }
  }
  [[nodiscard]] double saved_by_apart(uint32_t from, uint32_t to) const {
    const double all = facts_.by_loop[to].taken_from_others;
    const Sharing* const found = facts_.sharing.find({from, to});
    if (found == nullptr || !(all > 0)) return 0;
    const Waits& waits = facts_.by_loop[to].waits;
    return (waits.other_cores + waits.bandwidth) * found->other_bytes / all *
           context_.waits_scale_of(to);
  }

  AdviceContext& context_;
  const AdviceFacts& facts_;
};

}  // namespace

void advise_on_loops(AdviceContext& context) {
  LoopAdviser(context).advise();
}

}  // namespace culprit
