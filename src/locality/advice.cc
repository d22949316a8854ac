#include "locality/advice.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

#include "base/names.h"
#include "base/text.h"
#include "locality/advice_facts.h"
#include "locality/member_heat.h"
#include "locality/object_fields.h"
#include "locality/objects.h"

namespace culprit {
namespace {

constexpr size_t kMostAdvice = 8;
constexpr size_t kMostLines = 3;
/// Layout has nothing to gain on lines that are used in full.
constexpr double kLittleUsed = 0.6;
constexpr double kWellUsed = 0.9;
constexpr double kMostly = 0.5;

const char* const kLevelWords[kDataLevels] = {"L1D", "L2", "L3"};

struct Candidate {
  LocalityAdvice advice;
  std::set<uint32_t> loops;  // that save by it
};

/// Data objects that one statement allocates for different callers: it is the one to change.
struct ObjectGroup {
  ObjectId first;    // that is waited for most
  ObjectWords name;  // of it; blocks and their bytes are those of all
  GroupFacts facts;
  std::map<uint32_t, uint64_t> lines;  // as AdviceFacts has them
  std::map<uint32_t, uint64_t> loops;
};

class Adviser {
 public:
  Adviser(const Profile& profile, CodeIndex& code, const Caches& caches, const UseEvents& events)
      : code_(code),
        caches_(caches),
        events_(events),
        events_of_data_(find_use_events(profile, false)),
        facts_(profile, code, events) {
    find_function_scales();
  }

  std::vector<LocalityAdvice> make() {
    if (!(facts_.total.all > 0)) return {};
    for (uint32_t loop = 0; loop < facts_.by_loop.size(); ++loop) advise_on_refetches(loop);
    advise_on_fusion();
    advise_on_layout();
    advise_on_sharing();
    return choose();
  }

 private:
  // ---- How much, and of what. ----

  /// Measured cycles for a modelled one, by function: the model is not equally good everywhere.
  void find_function_scales() {
    if (events_.cost != UseEvents::Cost::measured) return;
    for (uint32_t row = 0; row < facts_.by_loop.size(); ++row) {
      by_function_[facts_.loops.row(row).function] += facts_.by_loop[row].waits;
    }
    measured_total_ = to_cycles(facts_.total.measured);
  }
  [[nodiscard]] double to_cycles(uint64_t measured) const {
    return static_cast<double>(measured) * events_.cost_event.scale * events_.cost_scale;
  }
  [[nodiscard]] double scale_of(uint32_t loop) const {
    if (events_.cost != UseEvents::Cost::measured) return 1;
    constexpr double kFurthest = 4;  // beyond it the model knows nothing of this code
    const auto found = by_function_.find(facts_.loops.row(loop).function);
    if (found == by_function_.end() || !(found->second.all > 0)) return 1;
    return std::min(kFurthest, to_cycles(found->second.measured) / found->second.all);
  }
  [[nodiscard]] double all_cycles() const {
    return measured_total_ > 0 ? measured_total_ : facts_.total.all;
  }

  [[nodiscard]] std::array<LinesIn, 3> lines_in(const Use& use, const Refetches& refetched) const {
    std::array<LinesIn, 3> levels;
    for (size_t i = 0; i < kDataLevels; ++i) {
      levels[i] = {static_cast<double>(use.levels[i].lines), refetched.all(i)};
    }
    return levels;
  }
  [[nodiscard]] double spatial(const Use& use, size_t level) const {
    return compute_spatial_percent(use.levels[level], caches_.line_bytes).value_or(100) / 100;
  }

  /// What is used of a line of this level before it is gone from the farther ones, too: a line that
  /// comes back for its other bytes is not badly laid out, only used too late.
  [[nodiscard]] double used_in_the_end(const Use& use, size_t level) const {
    double used = spatial(use, level);
    for (size_t i = level + 1; i < kDataLevels; ++i) {
      const LineUse& farther = use.levels[i];
      // Lines that were cut, as in a victim cache, do not tell all of their uses.
      if (farther.lines > 0 && 2 * farther.lines_cut < farther.lines) {
        used = std::max(used, spatial(use, i));
      }
    }
    return used;
  }

  // ---- Words. ----

  [[nodiscard]] std::vector<std::string> top(const std::map<uint32_t, uint64_t>& counts,
                                             auto label) const {
    std::vector<std::pair<uint64_t, uint32_t>> order;
    uint64_t all = 0;
    for (const auto& [row, count] : counts) {
      order.emplace_back(count, row);
      all += count;
    }
    std::sort(order.rbegin(), order.rend());
    std::vector<std::string> words;
    for (const auto& [count, row] : order) {
      constexpr uint64_t kTenth = 10;
      if (words.size() == kMostLines || (!words.empty() && count < all / kTenth)) break;
      words.push_back(label(row));
    }
    return words;
  }
  std::vector<std::string> lines_of(uint32_t loop) {
    return top(facts_.lines_of_loop[loop],
               [&](uint32_t row) { return facts_.lines.spot(row).label(); });
  }
  std::vector<std::string> objects_of(uint32_t loop) {
    ObjectDescriber names(code_);
    return top(facts_.objects_of_loop[loop],
               [&](uint32_t object) { return printable(names.describe(ObjectId(object)).name); });
  }
  /// "quake.c:498-505", by the lines that bring something in; else its function.
  std::string place_of(uint32_t loop) {
    const CodeSpot* first = nullptr;
    uint64_t most = 0;
    for (const auto& [row, count] : facts_.lines_of_loop[loop]) {
      const CodeSpot& spot = facts_.lines.spot(row);
      if (spot.line == 0 || (first != nullptr && count <= most)) continue;
      first = &spot;
      most = count;
    }
    const std::string function =
        printable(std::string(without_parameters(facts_.loops.row(loop).function)));
    if (first == nullptr) return function;
    uint32_t low = first->line;
    uint32_t high = first->line;
    for (const auto& [row, count] : facts_.lines_of_loop[loop]) {
      const CodeSpot& spot = facts_.lines.spot(row);
      constexpr uint64_t kHundredth = 100;
      if (spot.file != first->file || spot.line == 0 || count < most / kHundredth) continue;
      low = std::min(low, spot.line);
      high = std::max(high, spot.line);
    }
    const std::string file = printable(base_name(first->file));
    return low == high ? fmt::format("{}:{}", file, low) : fmt::format("{}:{}-{}", file, low, high);
  }
  [[nodiscard]] bool has_lines(uint32_t loop) const {
    return std::any_of(facts_.lines_of_loop[loop].begin(), facts_.lines_of_loop[loop].end(),
                       [&](const auto& entry) { return facts_.lines.spot(entry.first).line != 0; });
  }
  static std::string percent(double part, double whole) {
    return fmt::format("{:.0f} %", whole > 0 ? 100 * part / whole : 0);
  }

  /// Whether the gain is worth advice, and so the words that it is put in.
  [[nodiscard]] bool is_worth(double saved_cycles) const {
    return saved_cycles / all_cycles() >= kLeastGain;
  }
  void add(LocalityAdvice advice, std::set<uint32_t> loops) {
    if (!is_worth(advice.saved_cycles)) return;
    advice.share = advice.saved_cycles / all_cycles();
    found_.push_back({std::move(advice), std::move(loops)});
  }

  /// Whether this pair of two loops, which have edges both ways, is the one that is not looked at.
  template <class Value>
  static bool is_second(RowPair pair, const PairSums<Value>& sums) {
    return pair.first > pair.second && sums.find({pair.second, pair.first}) != nullptr;
  }

  // ---- One loop that comes back to its own lines too late. ----

  void advise_on_refetches(uint32_t loop) {
    const GroupFacts& here = facts_.by_loop[loop];
    if (!(here.waits.all > 0) || !has_lines(loop)) return;
    const Refetches& own = here.own;
    const double saved =
        compute_saved_by_hits(here.waits, lines_in(here.use, own)) * scale_of(loop);
    if (!is_worth(saved)) return;
    // Lines of which little is used at a time are the fault of the order of the loops, wherever the
    // lines come from.
    const bool comes_back = own.all(0) > kMostly * static_cast<double>(here.use.levels[0].lines);
    const bool for_other_bytes =
        used_in_the_end(here.use, 0) >= kLittleUsed || own.conflict[0] > kMostly * own.all(0);
    const bool steps_over = spatial(here.use, 0) < kLittleUsed && comes_back && for_other_bytes;
    // Where something else in the loop runs along its lines, as in a transposition, another order
    // would only change which of the two steps.
    constexpr double kSomething = 0.05;
    const bool runs_along = static_cast<double>(here.lines_along) >
                            kSomething * static_cast<double>(here.use.levels[0].lines);
    const size_t level = steps_over ? 0 : level_of_waits(here.waits, own);
    const double lines = static_cast<double>(here.use.levels[level].lines);
    const double used = spatial(here.use, level);
    LocalityAdvice advice;
    advice.saved_cycles = saved;
    advice.lines = lines_of(loop);
    advice.objects = objects_of(loop);
    const std::string back = fmt::format("{} of the lines that it brings into {} were there before",
                                         percent(own.all(level), lines), kLevelWords[level]);
    const bool by_conflict = own.conflict[level] > kMostly * own.all(level);
    if (steps_over && !runs_along) {
      advice.kind = AdviceKind::swap_loops;
      advice.title = fmt::format("swap the loops around {}", place_of(loop));
      advice.reason = fmt::format(
          "It steps over lines and comes back to them too late: of each line that comes into {} it "
          "uses {} before it is gone, and {}. The innermost loop should run along the lines.",
          kLevelWords[level], percent(used, 1), back);
    } else {
      advice.kind = AdviceKind::block_loops;
      advice.title = fmt::format("block the loops around {}", place_of(loop));
      advice.reason = fmt::format(
          "It comes back to the same lines when they are gone: {}{}. Parts that fit should be "
          "finished before the next one begins.",
          back,
          steps_over ? fmt::format(", and of each it uses {} at a time, while other data are gone "
                                   "through along the lines",
                                   percent(used, 1))
                     : ", lost for want of room");
    }
    if (!by_conflict || steps_over) add(advice, {loop});
    if (by_conflict) advise_on_padding(loop, own, level, advice);
  }

  void advise_on_padding(uint32_t loop, const Refetches& own, size_t level, LocalityAdvice advice) {
    Refetches conflicts;
    conflicts.conflict = own.conflict;
    const GroupFacts& here = facts_.by_loop[loop];
    advice.kind = AdviceKind::pad_arrays;
    advice.saved_cycles =
        compute_saved_by_hits(here.waits, lines_in(here.use, conflicts)) * scale_of(loop);
    advice.title = fmt::format("pad the arrays that {} accesses", place_of(loop));
    const auto& cache = caches_.levels[level];
    advice.reason = fmt::format(
        "{} of the lines that it brings into {} were there before and lost to others of their set, "
        "while the rest of the cache had room.{}",
        percent(own.conflict[level], static_cast<double>(here.use.levels[level].lines)),
        kLevelWords[level],
        cache ? fmt::format(" Lines a multiple of {} B apart share a set of {}: make rows, or "
                            "arrays, a line longer than that.",
                            format_thousands(cache->size_bytes / cache->ways), cache->ways)
              : "");
    add(std::move(advice), {loop});
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
          !facts_.loops.row(to).is_loop() || !has_lines(from) || !has_lines(to)) {
        continue;
      }
      if (is_second(pair, facts_.refetches)) continue;
      const double there = saved_by_fusion(from, to);
      const double back = saved_by_fusion(to, from);
      if (!is_worth(std::max(there, back))) continue;
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
    return compute_saved_by_hits(second.waits, lines_in(second.use, by_capacity)) * scale_of(to);
  }
  void add_fusion(uint32_t from, uint32_t to, double saved) {
    LocalityAdvice advice;
    advice.kind = AdviceKind::fuse_loops;
    advice.saved_cycles = saved;
    advice.title = fmt::format("one loop for {} and {}", place_of(from), place_of(to));
    advice.lines = lines_of(from);
    for (std::string& line : lines_of(to)) advice.lines.push_back(std::move(line));
    advice.objects = objects_of(to);
    const Refetches& refetched = *facts_.refetches.find({from, to});
    const size_t level = level_of_waits(facts_.by_loop[to].waits, refetched);
    advice.reason = fmt::format(
        "They pass over the same lines one after the other: {} of the lines that {} brings into {} "
        "were there for {}, and are gone in between (capacity).",
        percent(refetched.capacity[level],
                static_cast<double>(facts_.by_loop[to].use.levels[level].lines)),
        place_of(to), kLevelWords[level], place_of(from));
    add(std::move(advice), {from, to});
  }

  // ---- Lines of which little is used. ----

  void advise_on_layout() {
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
      const double saved = saved_by_layout(here) * scale_of(loop);
      if (!has_lines(loop) || !is_worth(saved)) continue;
      LocalityAdvice advice = layout_of(here, "the data of " + place_of(loop));
      advice.saved_cycles = saved;
      advice.lines = lines_of(loop);
      add(std::move(advice), {loop});
    }
  }
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
    ObjectDescriber names(code_);
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
    if (!(here.waits.all > 0) || spatial(here.use, 0) >= kWellUsed) return 0;
    return compute_saved_by_packing(
        here.waits,
        {used_in_the_end(here.use, 0), used_in_the_end(here.use, 1), used_in_the_end(here.use, 2)});
  }
  LocalityAdvice layout_of(const GroupFacts& here, const std::string& what) {
    LocalityAdvice advice;
    advice.kind = AdviceKind::split_layout;
    advice.title = fmt::format("lay out {} so that lines are used", what);
    advice.reason = fmt::format(
        "Of each {} B line that comes into L1D {} are used. Keep together what is used together: "
        "split "
        "the struct, or arrays instead of an array of structs.",
        caches_.line_bytes, percent(spatial(here.use, 0), 1));
    return advice;
  }
  void advise_on_object(const ObjectGroup& group) {
    const GroupFacts& here = group.facts;
    double saved = saved_by_layout(here);
    if (!(saved > 0)) return;
    const double scale = scale_of_object(group);
    saved *= scale;
    if (!is_worth(saved)) return;
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
    if (!is_split && name.blocks >= kManyBlocks && block < caches_.line_bytes) {
      advice.kind = AdviceKind::pool_blocks;
      advice.title = fmt::format("allocate {} together", printable(name.name));
      advice.reason = fmt::format(
          "{} blocks of {:.0f} B, allocated one by one{}, leave gaps: of each {} B line that comes "
          "into L1D {} are used. One block for all of them, or a pool, has no gaps.",
          format_thousands(name.blocks), block,
          name.kept_in.empty() ? "" : " into " + printable(name.kept_in), caches_.line_bytes,
          percent(spatial(here.use, 0), 1));
    }
    add(std::move(advice), loops_of(group));
  }

  /// As scale_of(), by the loops that bring in its lines.
  [[nodiscard]] double scale_of_object(const ObjectGroup& group) const {
    double scale = 0;
    double weight = 0;
    for (const auto& [loop, lines] : group.loops) {
      scale += scale_of(loop) * static_cast<double>(lines);
      weight += static_cast<double>(lines);
    }
    return weight > 0 ? scale / weight : 1;
  }
  static std::set<uint32_t> loops_of(const ObjectGroup& group) {
    std::set<uint32_t> loops;
    for (const auto& [loop, lines] : group.loops) loops.insert(loop);
    return loops;
  }
  void note_object(const ObjectGroup& group, LocalityAdvice& advice) {
    advice.objects = {printable(group.name.name)};
    advice.lines = top(group.lines, [&](uint32_t row) { return facts_.lines.spot(row).label(); });
  }

  // ---- Pages of an object. ----

  void advise_on_pages(const ObjectGroup& group) {
    const Waits& waits = group.facts.waits;
    LocalityAdvice advice;
    advice.kind = AdviceKind::huge_pages;
    advice.saved_cycles = waits.translation * scale_of_object(group);
    if (!is_worth(advice.saved_cycles)) return;
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
        percent(waits.translation, waits.all), format_thousands(bytes / kPage));
    note_object(group, advice);
    add(std::move(advice), loops_of(group));
  }

  // ---- Data that nobody reads. ----

  void advise_on_dead_stores(const ObjectGroup& group) {
    const GroupFacts& here = group.facts;
    if (here.loads > 0 || here.use.accesses == 0) return;
    LocalityAdvice advice;
    advice.kind = AdviceKind::dead_stores;
    advice.saved_cycles = here.waits.all * scale_of_object(group);
    if (!is_worth(advice.saved_cycles)) return;
    const ObjectWords& name = group.name;
    if (!name.is_named) return;
    advice.title = fmt::format("do not store {}", printable(name.name));
    advice.reason = fmt::format(
        "The program stores there {} times and never loads any of it. Unless a system call or "
        "another process reads it, nobody does.",
        format_si(static_cast<double>(here.use.accesses)));
    note_object(group, advice);
    add(std::move(advice), loops_of(group));
  }

  /// What saved_by_layout() is where what is used takes `bytes` when it is packed: nobody waits any
  /// more for caches beyond the first one that holds it.
  [[nodiscard]] double saved_by_fitting(const GroupFacts& here, double bytes) const {
    const Waits& waits = here.waits;
    const auto fits = [&](size_t level) {
      return caches_.levels[level] &&
             bytes <= static_cast<double>(caches_.levels[level]->size_bytes);
    };
    if (fits(0)) return waits.l2 + waits.l3 + waits.memory + waits.bandwidth;
    const double saved = waits.l2 * (1 - used_in_the_end(here.use, 0));
    if (fits(1)) return saved + waits.l3 + waits.memory + waits.bandwidth;
    if (!fits(2)) return 0;
    return saved + waits.l3 * (1 - used_in_the_end(here.use, 1)) + waits.memory + waits.bandwidth;
  }

  /// Tells which members of a struct are used, and which only take room in the lines. Returns the
  /// bytes of the former; 0 if nothing is gained by keeping them apart.
  uint64_t advise_on_fields(const ObjectGroup& group, LocalityAdvice& advice) {
    const ObjectWords& name = group.name;
    if (name.element_bytes == 0) return 0;
    const std::string type = printable(name.type);
    const std::string little =
        fmt::format("Of each {} B line that comes into L1D {} are used.", caches_.line_bytes,
                    percent(spatial(group.facts.use, 0), 1));
    if (!find_layout(code_, group.first).is_struct()) {
      advice.reason = fmt::format(
          "{} Its elements ({}, {} B each) are accessed with gaps between them: one after the "
          "other, or those that are used kept together.",
          little, type, name.element_bytes);
      return 0;
    }
    const MemberHeat heat = compute_member_heat(code_, facts_.loops, group.first, events_of_data_);
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

  // ---- Lines that cores take from each other. ----

  void advise_on_sharing() {
    for (const auto& [pair, first] : facts_.sharing) {
      if (is_second(pair, facts_.sharing)) continue;
      double saved = saved_by_apart(pair.first, pair.second);
      if (pair.first != pair.second) saved += saved_by_apart(pair.second, pair.first);
      if (!is_worth(saved)) continue;
      LocalityAdvice advice;
      advice.kind = AdviceKind::false_sharing;
      advice.saved_cycles = saved;
      advice.lines = lines_of(pair.first);
      if (pair.first != pair.second) {
        for (std::string& line : lines_of(pair.second)) advice.lines.push_back(std::move(line));
      }
      advice.objects = objects_of(pair.second);
      advice.title = fmt::format("put what threads write at {} into lines of their own",
                                 place_of(pair.second));
      advice.reason = fmt::format(
          "Cores took lines from each other {} times there, and {} of these for bytes that the "
          "other one did not use (false sharing): align each thread's data to {} B.",
          format_si(first.same_bytes + first.other_bytes),
          percent(first.other_bytes, first.same_bytes + first.other_bytes), caches_.line_bytes);
      if (first.other_bytes > first.same_bytes) add(std::move(advice), {pair.first, pair.second});
    }
  }
  [[nodiscard]] double saved_by_apart(uint32_t from, uint32_t to) const {
    const double all = facts_.by_loop[to].taken_from_others;
    const Sharing* const found = facts_.sharing.find({from, to});
    if (found == nullptr || !(all > 0)) return 0;
    const Waits& waits = facts_.by_loop[to].waits;
    return (waits.other_cores + waits.bandwidth) * found->other_bytes / all * scale_of(to);
  }

  // ---- The order. ----

  std::vector<LocalityAdvice> choose() {
    // Blocking changes most of the code, and may be forbidden by what depends on what: it comes
    // first only where it promises twice as much. Padding leaves the code as it is.
    const auto worth = [](const Candidate& one) {
      constexpr double kEasy = 1.1;
      const bool is_hard = one.advice.kind == AdviceKind::block_loops;
      const bool is_easy = one.advice.kind == AdviceKind::pad_arrays;
      return one.advice.saved_cycles * (is_hard ? 0.5 : is_easy ? kEasy : 1);
    };
    std::stable_sort(found_.begin(), found_.end(),
                     [&](const Candidate& a, const Candidate& b) { return worth(a) > worth(b); });
    if (found_.size() > kMostAdvice) found_.resize(kMostAdvice);
    std::vector<LocalityAdvice> advice;
    for (size_t i = 0; i < found_.size(); ++i) {
      for (size_t before = 0; before < i && !found_[i].advice.overlaps; ++before) {
        const auto shares = [&](uint32_t loop) { return found_[before].loops.contains(loop); };
        if (std::any_of(found_[i].loops.begin(), found_[i].loops.end(), shares)) {
          found_[i].advice.overlaps = before;
        }
      }
      advice.push_back(found_[i].advice);
    }
    return advice;
  }

  CodeIndex& code_;
  const Caches& caches_;
  const UseEvents& events_;
  UseEvents events_of_data_;
  AdviceFacts facts_;
  std::map<std::string, Waits> by_function_;
  double measured_total_ = 0;
  std::vector<Candidate> found_;
};

}  // namespace

const char* advice_word(AdviceKind kind) {
  static constexpr const char* kWords[] = {"swap_loops",    "block_loops", "fuse_loops",
                                           "pad_arrays",    "pool_blocks", "split_layout",
                                           "false_sharing", "huge_pages",  "dead_stores"};
  return kWords[static_cast<size_t>(kind)];
}

std::vector<LocalityAdvice> make_locality_advice(const Profile& profile, CodeIndex& code,
                                                 const Caches& caches, const UseEvents& events) {
  return Adviser(profile, code, caches, events).make();
}

}  // namespace culprit
