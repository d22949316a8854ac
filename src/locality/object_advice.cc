#include "locality/object_advice.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "base/text.h"
#include "locality/member_heat.h"
#include "locality/object_fields.h"
#include "locality/objects.h"

namespace culprit {
namespace {

/// Layout has nothing to gain on lines of which so much is used.
constexpr double kWellUsed = 0.9;

/// Data objects that one statement allocates for different callers: it is the one to change.
struct ObjectGroup {
  ObjectId first;    // that is waited for most
  ObjectWords name;  // of it; blocks and their bytes are those of all
  GroupFacts facts;
  std::map<uint32_t, uint64_t> lines;  // as AdviceFacts has them
  std::map<uint32_t, uint64_t> loops;
  LoopsOnObjects by_loop;
};

/// What another layout saves, and where. Loops that use all of what they bring in save nothing.
struct LayoutGain {
  double modelled = 0;  // cycles
  double measured = 0;  // these, in measured cycles
  double scaled = 0;    // these, as all of their loops' cycles become measured ones
  Use use;              // of the loops that save
  std::set<uint32_t> loops;
  std::map<uint32_t, uint64_t> lines;

  void add(double saved, const AdviceContext& context, uint32_t loop, const LoopOnObjects& there) {
    if (!(saved > 0)) return;
    modelled += saved;
    measured += saved * context.waits_scale_of(loop);
    scaled += saved * context.scale_of(loop);
    use += there.facts.use;
    loops.insert(loop);
    for (const auto& [line, brought] : there.lines) lines[line] += brought;
  }
  [[nodiscard]] double scale() const { return modelled > 0 ? scaled / modelled : 1; }
};

class ObjectAdviser {
 public:
  explicit ObjectAdviser(AdviceContext& context) : context_(context), facts_(context.facts()) {}

  void advise() {
    if (!facts_.by_object.empty()) {
      for (const ObjectGroup& group : find_groups()) {
        advise_on_object(group);
        advise_on_pages(group);
        advise_on_dead_stores(group);
      }
      return;
    }
    for (uint32_t loop = 0; loop < facts_.by_loop.size(); ++loop) {
      const GroupFacts& here = facts_.by_loop[loop];
      const double saved = saved_by_layout(here) * context_.waits_scale_of(loop);
      if (!context_.has_lines(loop) || !context_.is_worth(saved)) continue;
      LocalityAdvice advice = layout_of(here.use, "the data of " + context_.place_of(loop));
      advice.saved_cycles = saved;
      advice.lines = context_.lines_of(loop);
      context_.add(std::move(advice), {loop}, context_.scale_of(loop));
    }
  }

 private:
  // ---- Lines of which little is used. ----

  /// Of the objects that enough is waited for.
  std::vector<ObjectGroup> find_groups() {
    constexpr double kLeastOfGroup = 0.01;  // of the least gain
    std::vector<std::pair<double, uint32_t>> order;
    for (uint32_t object = 1; object < facts_.by_object.size(); ++object) {
      const double waited = facts_.by_object[object].waits.all;
      if (waited > kLeastOfGroup * kLeastGain * facts_.total.all)
        order.emplace_back(waited, object);
    }
    std::sort(order.rbegin(), order.rend());
    ObjectDescriber names(context_.code());
    std::vector<ObjectGroup> groups;
    std::map<std::string, size_t> known;
    std::vector<std::optional<size_t>> group_of(facts_.by_object.size());
    for (const auto& [waited, object] : order) {
      ObjectWords name = names.describe(ObjectId(object));
      const std::string key = name.place.empty()
                                  ? fmt::format("{}", object)
                                  : fmt::format("{} {} {}", name.name, name.place, name.type);
      const auto [found, is_new] = known.try_emplace(key, groups.size());
      if (is_new) {
        groups.push_back({ObjectId(object), std::move(name), {}, {}, {}, {}});
      } else {
        ObjectWords& all = groups[found->second].name;
        all.blocks += name.blocks;
        all.total_bytes += name.total_bytes;
        if (all.size_bytes != name.size_bytes) all.size_bytes = 0;
      }
      group_of[object] = found->second;
      ObjectGroup& group = groups[found->second];
      group.facts += facts_.by_object[object];
      for (const auto& [line, lines] : facts_.lines_of_object[object]) group.lines[line] += lines;
      for (const auto& [loop, lines] : facts_.loops_of_object[object]) group.loops[loop] += lines;
    }
    std::vector<LoopsOnObjects> split = context_.split_by_loop(groups.size(), group_of);
    for (size_t i = 0; i < groups.size(); ++i) groups[i].by_loop = std::move(split[i]);
    return groups;
  }
  /// 0 where lines are well used.
  [[nodiscard]] double saved_by_layout(const GroupFacts& here) const {
    if (!(here.waits.all > 0) || context_.spatial(here.use, 0) >= kWellUsed) return 0;
    return compute_saved_by_packing(
        here.waits, {context_.used_in_the_end(here.use, 0), context_.used_in_the_end(here.use, 1),
                     context_.used_in_the_end(here.use, 2)});
  }
  /// Only the bytes that are used had to come.
  [[nodiscard]] LayoutGain find_layout_gain(const ObjectGroup& group) const {
    LayoutGain gain;
    for (const auto& [loop, there] : group.by_loop) {
      gain.add(saved_by_layout(there.facts), context_, loop, there);
    }
    return gain;
  }
  LocalityAdvice layout_of(const Use& use, const std::string& what) {
    LocalityAdvice advice;
    advice.kind = AdviceKind::split_layout;
    advice.title = fmt::format("lay out {} so that lines are used", what);
    advice.reason = fmt::format(
        "Of each {} B line that comes into L1D {} are used. Keep together what is used together: "
        "split "
        "the struct, or arrays instead of an array of structs.",
        context_.caches().line_bytes, format_part(context_.spatial(use, 0), 1));
    return advice;
  }
  void advise_on_object(const ObjectGroup& group) {
    LayoutGain gain = find_layout_gain(group);
    if (!context_.is_worth(gain.measured)) return;
    const ObjectWords& name = group.name;
    LocalityAdvice advice = layout_of(gain.use, printable(name.name));
    const MemberHeat heat = advise_on_fields(group, gain.use, advice);
    const bool is_split = heat.hot_bytes != 0;
    if (is_split) gain = find_split_gain(group, heat);
    advice.saved_cycles = gain.measured;
    note_object(group, advice);
    advice.lines = lines_of(gain.lines);
    const double block =
        name.blocks > 0 ? static_cast<double>(name.total_bytes) / static_cast<double>(name.blocks)
                        : 0;
    constexpr uint64_t kManyBlocks = 100;
    if (!is_split && name.blocks >= kManyBlocks && block < context_.caches().line_bytes) {
      advice.kind = AdviceKind::pool_blocks;
      advice.title = fmt::format("allocate {} together", printable(name.name));
      advice.reason = fmt::format(
          "{} blocks of {:.0f} B, allocated one by one{}, leave gaps: of each {} B line that comes "
          "into L1D {} are used. One block for all of them, or a pool, has no gaps.",
          format_thousands(name.blocks), block,
          name.kept_in.empty() ? "" : " into " + printable(name.kept_in),
          context_.caches().line_bytes, format_part(context_.spatial(gain.use, 0), 1));
    }
    context_.add(std::move(advice), gain.loops, gain.scale());
  }

  static std::set<uint32_t> loops_of(const ObjectGroup& group) {
    std::set<uint32_t> loops;
    for (const auto& [loop, lines] : group.loops) loops.insert(loop);
    return loops;
  }
  void note_object(const ObjectGroup& group, LocalityAdvice& advice) {
    advice.objects = {printable(group.name.name)};
    advice.lines = lines_of(group.lines);
  }
  [[nodiscard]] std::vector<std::string> lines_of(const std::map<uint32_t, uint64_t>& lines) const {
    return context_.top(lines, [&](uint32_t row) { return facts_.lines.spot(row).label(); });
  }

  // ---- Pages of an object. ----

  void advise_on_pages(const ObjectGroup& group) {
    const Waits& waits = group.facts.waits;
    LocalityAdvice advice;
    advice.kind = AdviceKind::huge_pages;
    for (const auto& [loop, there] : group.by_loop) {
      advice.saved_cycles += there.facts.waits.translation * context_.waits_scale_of(loop);
    }
    if (!context_.is_worth(advice.saved_cycles)) return;
    const ObjectWords& name = group.name;
    constexpr uint64_t kPage = 4096;
    constexpr uint64_t kHugePage = 2 << 20;
    const uint64_t bytes = std::max(name.total_bytes, name.size_bytes);
    if (bytes < kHugePage) return;
    advice.title = fmt::format("huge pages for {}", printable(name.name));
    advice.reason = fmt::format(
        "{} of what is waited for it goes into translating its addresses: {} pages of 4 KiB are "
        "accessed in an order that the TLBs do not hold. Pages of 2 MiB: aligned memory with "
        "madvise(MADV_HUGEPAGE), or GLIBC_TUNABLES=glibc.malloc.hugetlb=1.",
        format_part(waits.translation, waits.all), format_thousands(bytes / kPage));
    note_object(group, advice);
    context_.add(std::move(advice), loops_of(group), context_.scale_of(group.facts));
  }

  // ---- Data that nobody reads. ----

  void advise_on_dead_stores(const ObjectGroup& group) {
    const GroupFacts& here = group.facts;
    if (here.loads > 0 || here.use.accesses == 0) return;
    LocalityAdvice advice;
    advice.kind = AdviceKind::dead_stores;
    advice.saved_cycles = here.waits.all * context_.scale_of(group.facts);
    if (!context_.is_worth(advice.saved_cycles)) return;
    const ObjectWords& name = group.name;
    if (!name.is_named) return;
    advice.title = fmt::format("do not store {}", printable(name.name));
    advice.reason = fmt::format(
        "The program stores there {} times and never loads any of it. Unless a system call or "
        "another process reads it, nobody does.",
        format_si(static_cast<double>(here.use.accesses)));
    note_object(group, advice);
    context_.add(std::move(advice), loops_of(group), context_.scale_of(group.facts));
  }

  // ---- A struct of which only some members are used. ----

  /// The members that are hot are packed. Where elements follow each other fewer lines come; where
  /// they are accessed in any order each is a line of its own as before, until all have room. A
  /// loop that accesses cold members, too, has two lines for one.
  [[nodiscard]] LayoutGain find_split_gain(const ObjectGroup& group, const MemberHeat& heat) const {
    const ObjectWords& name = group.name;
    const double hot_part =
        static_cast<double>(heat.hot_bytes) / static_cast<double>(name.element_bytes);
    const auto bytes =
        static_cast<double>(name.total_bytes != 0 ? name.total_bytes : name.size_bytes);
    LayoutGain gain;
    for (const auto& [loop, there] : group.by_loop) {
      Refetches back;
      for (const auto& [from, refetched] : there.refetched_from) {
        for (size_t level = 0; level < kDataLevels; ++level) {
          back.capacity[level] += refetched.all(level) * (1 - heat.cold_part(from));
        }
      }
      const Use& use = there.facts.use;
      const double in_order = find_part_in_order(use);
      std::array<PackedLines, kDataLevels> packed;
      for (size_t level = 0; level < kDataLevels; ++level) {
        const auto lines = static_cast<double>(use.levels[level].lines);
        const double used = std::max(context_.used_in_the_end(use, level), hot_part);
        const double in_any_order =
            find_part_still_coming(level, lines - back.all(level), bytes * hot_part, hot_part);
        packed[level].still_come = in_order * std::min(1.0, used) + (1 - in_order) * in_any_order;
        packed[level].stay = (1 - in_order) * (1 - in_any_order);
        packed[level].are_held = find_part_held(level, bytes, bytes * hot_part, in_order);
      }
      const double saved = compute_saved_by_split(
          there.facts.waits, packed, context_.lines_in(use, back), context_.caches().latencies);
      gain.add(saved * (1 - heat.cold_part(loop)), context_, loop, there);
    }
    return gain;
  }

  /// Which part of the lines a prefetcher brought in: it finds those that follow each other. All
  /// where the machine has none, so that nothing is known.
  [[nodiscard]] double find_part_in_order(const Use& use) const {
    if (!facts_.has_prefetches) return 1;
    double part = 0;
    for (size_t level = 0; level < kDataLevels; ++level) {
      const LineUse& lines = use.levels[level];
      if (lines.lines == 0) continue;
      part = std::max(
          part, static_cast<double>(lines.lines_prefetched) / static_cast<double>(lines.lines));
    }
    return part;
  }

  /// Of lines that come to a cache in any order, since others had been there meanwhile or they are
  /// new: each packed line once, where the cache holds them all, and at least as many as are packed
  /// of those that there were.
  [[nodiscard]] double find_part_still_coming(size_t level, double lines, double bytes,
                                              double hot_part) const {
    if (!holds(level, bytes) || !(lines > 0)) return 1;
    return std::min(1.0, std::max(hot_part, bytes / context_.caches().line_bytes / lines));
  }

  [[nodiscard]] bool holds(size_t level, double bytes) const {
    const auto& cache = context_.caches().levels[level];
    return cache && bytes > 0 && bytes <= static_cast<double>(cache->size_bytes);
  }

  /// Which part of the lines that come back to a cache, since it could not hold them, it holds when
  /// they are fewer. What is gone through in order it holds all or nothing of; in any order a part.
  [[nodiscard]] double find_part_held(size_t level, double bytes_before, double bytes,
                                      double in_order) const {
    if (holds(level, bytes)) return 1;
    const auto& cache = context_.caches().levels[level];
    if (!cache || !(bytes > 0)) return 0;
    const auto room = static_cast<double>(cache->size_bytes);
    const double gone_before = 1 - room / bytes_before;
    return (1 - in_order) * (1 - (1 - room / bytes) / gone_before);
  }

  /// Tells which members of a struct are used, and which only take room in the lines. `use`: of the
  /// loops where another layout saves something. Nothing is hot if nothing is gained by keeping
  /// members apart.
  MemberHeat advise_on_fields(const ObjectGroup& group, const Use& use, LocalityAdvice& advice) {
    const ObjectWords& name = group.name;
    if (name.element_bytes == 0) return {};
    const std::string type = printable(name.type);
    const std::string little =
        fmt::format("Of each {} B line that comes into L1D {} are used.",
                    context_.caches().line_bytes, format_part(context_.spatial(use, 0), 1));
    if (!find_layout(context_.code(), group.first).is_struct()) {
      advice.reason = fmt::format(
          "{} Its elements ({}, {} B each) are accessed with gaps between them: one after the "
          "other, or those that are used kept together.",
          little, type, name.element_bytes);
      return {};
    }
    MemberHeat heat = compute_member_heat(context_.code(), context_.loops(), group.first,
                                          context_.events_of_data(), context_.caches().line_bytes);
    if (heat.hot.empty()) return {};
    constexpr double kMuch = 0.25;
    const auto element = static_cast<double>(name.element_bytes);
    if (static_cast<double>(heat.cold_bytes) < kMuch * element) {
      advice.reason = fmt::format(
          "{} Of each {} the program accesses {} ({} of {} B): what is used of a line depends on "
          "the order in which elements are accessed. Smaller elements, or their order in memory.",
          little, type, heat.hot, heat.hot_bytes, name.element_bytes);
      return {};
    }
    advice.title =
        fmt::format("{} {}", heat.cold_bytes > heat.padding_bytes ? "split" : "reorder", type);
    advice.reason = fmt::format(
        "{} Where the program waits for the {} B of each {} it accesses {} ({} B), and {} B hardly "
        "ever{}: keep those together, and the others elsewhere.",
        little, name.element_bytes, type, heat.hot, heat.hot_bytes, heat.cold_bytes,
        heat.padding_bytes == 0 ? "" : fmt::format(", {} of them padding", heat.padding_bytes));
    return heat;
  }

  AdviceContext& context_;
  const AdviceFacts& facts_;
};

}  // namespace

void advise_on_objects(AdviceContext& context) {
  ObjectAdviser(context).advise();
}

}  // namespace culprit
