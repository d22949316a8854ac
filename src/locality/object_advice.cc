#include "locality/object_advice.h"

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
      const double saved = saved_by_layout(here) * context_.scale_of(loop);
      if (!context_.has_lines(loop) || !context_.is_worth(saved)) continue;
      LocalityAdvice advice = layout_of(here, "the data of " + context_.place_of(loop));
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
    for (const auto& [waited, object] : order) {
      ObjectWords name = names.describe(ObjectId(object));
      const std::string key = name.place.empty()
                                  ? fmt::format("{}", object)
                                  : fmt::format("{} {} {}", name.name, name.place, name.type);
      const auto [found, is_new] = known.try_emplace(key, groups.size());
      if (is_new) {
        groups.push_back({ObjectId(object), std::move(name), {}, {}, {}});
      } else {
        ObjectWords& all = groups[found->second].name;
        all.blocks += name.blocks;
        all.total_bytes += name.total_bytes;
        if (all.size_bytes != name.size_bytes) all.size_bytes = 0;
      }
      ObjectGroup& group = groups[found->second];
      group.facts += facts_.by_object[object];
      for (const auto& [line, lines] : facts_.lines_of_object[object]) group.lines[line] += lines;
      for (const auto& [loop, lines] : facts_.loops_of_object[object]) group.loops[loop] += lines;
    }
    return groups;
  }
  /// 0 where lines are well used.
  [[nodiscard]] double saved_by_layout(const GroupFacts& here) const {
    if (!(here.waits.all > 0) || context_.spatial(here.use, 0) >= kWellUsed) return 0;
    return compute_saved_by_packing(
        here.waits, {context_.used_in_the_end(here.use, 0), context_.used_in_the_end(here.use, 1),
                     context_.used_in_the_end(here.use, 2)});
  }
  LocalityAdvice layout_of(const GroupFacts& here, const std::string& what) {
    LocalityAdvice advice;
    advice.kind = AdviceKind::split_layout;
    advice.title = fmt::format("lay out {} so that lines are used", what);
    advice.reason = fmt::format(
        "Of each {} B line that comes into L1D {} are used. Keep together what is used together: "
        "split "
        "the struct, or arrays instead of an array of structs.",
        context_.caches().line_bytes, format_part(context_.spatial(here.use, 0), 1));
    return advice;
  }
  void advise_on_object(const ObjectGroup& group) {
    const GroupFacts& here = group.facts;
    double saved = saved_by_layout(here);
    if (!(saved > 0)) return;
    const double scale = context_.scale_of(group.facts);
    saved *= scale;
    if (!context_.is_worth(saved)) return;
    const ObjectWords& name = group.name;
    LocalityAdvice advice = layout_of(here, printable(name.name));
    advice.saved_cycles = saved;
    note_object(group, advice);
    const uint64_t hot_bytes = advise_on_fields(group, advice);
    const bool is_split = hot_bytes != 0;
    if (is_split) {
      const uint64_t all_bytes = name.total_bytes != 0 ? name.total_bytes : name.size_bytes;
      advice.saved_cycles = std::max(
          saved, scale * saved_by_fitting(here, static_cast<double>(all_bytes) *
                                                    static_cast<double>(hot_bytes) /
                                                    static_cast<double>(name.element_bytes)));
    }
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
          context_.caches().line_bytes, format_part(context_.spatial(here.use, 0), 1));
    }
    context_.add(std::move(advice), loops_of(group), context_.scale_of(group.facts));
  }

  static std::set<uint32_t> loops_of(const ObjectGroup& group) {
    std::set<uint32_t> loops;
    for (const auto& [loop, lines] : group.loops) loops.insert(loop);
    return loops;
  }
  void note_object(const ObjectGroup& group, LocalityAdvice& advice) {
    advice.objects = {printable(group.name.name)};
    advice.lines =
        context_.top(group.lines, [&](uint32_t row) { return facts_.lines.spot(row).label(); });
  }

  // ---- Pages of an object. ----

  void advise_on_pages(const ObjectGroup& group) {
    const Waits& waits = group.facts.waits;
    LocalityAdvice advice;
    advice.kind = AdviceKind::huge_pages;
    advice.saved_cycles = waits.translation * context_.scale_of(group.facts);
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

  /// What saved_by_layout() is where what is used takes `bytes` when it is packed: nobody waits any
  /// more for caches beyond the first one that holds it.
  [[nodiscard]] double saved_by_fitting(const GroupFacts& here, double bytes) const {
    const Waits& waits = here.waits;
    const auto fits = [&](size_t level) {
      return context_.caches().levels[level] &&
             bytes <= static_cast<double>(context_.caches().levels[level]->size_bytes);
    };
    if (fits(0)) return waits.l2 + waits.l3 + waits.memory + waits.bandwidth;
    const double saved = waits.l2 * (1 - context_.used_in_the_end(here.use, 0));
    if (fits(1)) return saved + waits.l3 + waits.memory + waits.bandwidth;
    if (!fits(2)) return 0;
    return saved + waits.l3 * (1 - context_.used_in_the_end(here.use, 1)) + waits.memory +
           waits.bandwidth;
  }

  /// Tells which members of a struct are used, and which only take room in the lines. Returns the
  /// bytes of the former; 0 if nothing is gained by keeping them apart.
  uint64_t advise_on_fields(const ObjectGroup& group, LocalityAdvice& advice) {
    const ObjectWords& name = group.name;
    if (name.element_bytes == 0) return 0;
    const std::string type = printable(name.type);
    const std::string little = fmt::format("Of each {} B line that comes into L1D {} are used.",
                                           context_.caches().line_bytes,
                                           format_part(context_.spatial(group.facts.use, 0), 1));
    if (!find_layout(context_.code(), group.first).is_struct()) {
      advice.reason = fmt::format(
          "{} Its elements ({}, {} B each) are accessed with gaps between them: one after the "
          "other, or those that are used kept together.",
          little, type, name.element_bytes);
      return 0;
    }
    const MemberHeat heat = compute_member_heat(context_.code(), context_.loops(), group.first,
                                                context_.events_of_data());
    if (heat.hot.empty()) return 0;
    constexpr double kMuch = 0.25;
    const auto element = static_cast<double>(name.element_bytes);
    if (static_cast<double>(heat.cold_bytes) < kMuch * element) {
      advice.reason = fmt::format(
          "{} Of each {} the program accesses {} ({} of {} B): what is used of a line depends on "
          "the order in which elements are accessed. Smaller elements, or their order in memory.",
          little, type, heat.hot, heat.hot_bytes, name.element_bytes);
      return 0;
    }
    advice.title =
        fmt::format("{} {}", heat.cold_bytes > heat.padding_bytes ? "split" : "reorder", type);
    advice.reason = fmt::format(
        "{} Where the program waits for the {} B of each {} it accesses {} ({} B), and {} B hardly "
        "ever{}: keep those together, and the others elsewhere.",
        little, name.element_bytes, type, heat.hot, heat.hot_bytes, heat.cold_bytes,
        heat.padding_bytes == 0 ? "" : fmt::format(", {} of them padding", heat.padding_bytes));
    return heat.hot_bytes;
  }

  AdviceContext& context_;
  const AdviceFacts& facts_;
};

}  // namespace

void advise_on_objects(AdviceContext& context) {
  ObjectAdviser(context).advise();
}

}  // namespace culprit
