#include "locality/part_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/names.h"
#include "base/text.h"
#include "locality/use_columns.h"
#include "print/text_table.h"

namespace culprit {
namespace {

constexpr size_t kShownEdges = 5;
constexpr size_t kListIndent = 14;
constexpr const char* kKindWords[kDataKinds] = {"integer loads", "integer stores", "float loads",
                                                "float stores"};

constexpr size_t kEstimateWidth = 14;  // "1.78 M ±12 %"

uint64_t sum_of(const std::vector<EdgeRow>& rows) {
  uint64_t sum = 0;
  for (const EdgeRow& row : rows) sum += row.count;
  return sum;
}

}  // namespace

std::string PartText::levels(const Use& part,
                             const std::array<LevelEdges, kTenureLevels.size()>& edges) const {
  TextColumn words{"level", false, nullptr, 2, {}};
  TextColumn lines{"lines", true, nullptr, 2, {}};
  TextColumn spatial{"spatial", true, nullptr, 2, {}};
  TextColumn temporal{"temporal", true, nullptr, 2, {}};
  TextColumn again{"used again", true, nullptr, 2, {}};
  TextColumn refetched{"refetched", true, nullptr, 2, {}};
  TextColumn prefetched{"prefetched", true, nullptr, 2, {}};
  TextColumn unused{"for nothing", true, nullptr, 2, {}};
  for (size_t i = 0; i < kTenureLevels.size(); ++i) {
    const LineUse& use = part.levels[i];
    if (use.lines == 0) continue;
    const double all = static_cast<double>(use.lines);
    words.cells.emplace_back(level_word(kTenureLevels[i]));
    lines.cells.push_back(format_count(all, estimate_lines_error(use, caches_.sampling)));
    spatial.cells.push_back(format_spatial(use, caches_));
    temporal.cells.push_back(format_temporal(use, caches_));
    again.cells.push_back(format_percent(use.lines_reused, use.lines));
    refetched.cells.push_back(format_percent(sum_of(edges[i].refetches), use.lines));
    prefetched.cells.push_back(format_percent(use.lines_prefetched, use.lines));
    unused.cells.push_back(format_percent(use.lines_never_used, use.lines));
  }
  if (words.cells.empty()) return "It brought no lines into the caches.\n";
  if (caches_.sampling.one_of > 1) {  // which has no prefetchers
    return print_table({words, lines, spatial, temporal, again, refetched}, style_.width) +
           "  prefetched: not covered: --sets all\n";
  }
  return print_table({words, lines, spatial, temporal, again, refetched, prefetched, unused},
                     style_.width);
}

std::string PartText::kinds(const std::array<KindUse, kDataKinds>& kinds, const UseEvents& events,
                            const Use& part) const {
  const size_t level = tenure_level(level_).value_or(0);
  const size_t gap = caches_.sampling.one_of == 1 ? 2 : 1;  // errors need the room
  TextColumn words{level_word(level_), false, nullptr, gap, {}};
  const bool is_exact = std::all_of(
      kinds.begin(), kinds.end(), [](const KindUse& kind) { return !(kind.access_variance > 0); });
  TextColumn accesses{is_exact ? "=accesses" : "~accesses", true, nullptr, gap, {}};
  TextColumn misses[kMissLevels] = {{"L1miss", true, nullptr, gap, {}},
                                    {"L2miss", true, nullptr, gap, {}},
                                    {"L3miss", true, nullptr, gap, {}}};
  TextColumn spatial{"spatial", true, nullptr, gap, {}};
  TextColumn temporal{"temporal", true, nullptr, gap, {}};
  TextColumn waits{"waits", true, nullptr, gap, {}};
  for (size_t kind = 0; kind < kDataKinds; ++kind) {
    const KindUse& use = kinds[kind];
    if (use.accesses == 0) continue;
    words.cells.emplace_back(kKindWords[kind]);
    accesses.cells.push_back(format_accesses(use.accesses, use.access_variance));
    for (size_t i = 0; i < kMissLevels; ++i) {
      misses[i].cells.push_back(
          format_misses(use.misses[i], use.miss_variance[i], use.accesses, caches_));
    }
    spatial.cells.push_back(format_spatial(use.levels[level], caches_));
    temporal.cells.push_back(format_temporal(use.levels[level], caches_));
    waits.cells.push_back(part.cycles > 0 ? fmt::format("{:.0f} %", 100 * use.waits / part.cycles)
                                          : "-");
  }
  if (words.cells.empty()) return "";
  std::vector<TextColumn> columns{words,     accesses, misses[0], misses[1],
                                  misses[2], spatial,  temporal};
  if (events.has_waits) columns.push_back(waits);
  return print_table(columns, style_.width);
}

std::string PartText::edges(const Use& part,
                            const std::array<LevelEdges, kTenureLevels.size()>& all_edges) const {
  const size_t number = tenure_level(level_).value_or(0);
  const LevelEdges& edges = all_edges[number];
  const LineUse& use = part.levels[number];
  std::string text = fmt::format("Its lines in {}\n", level_word(kTenureLevels[number]));
  text += list("reused by", edges.reused_by, sum_of(edges.reused_by), "touches");
  if (use.lines > 0) {
    text +=
        fmt::format("{}nobody: {} of {} lines had one touch or none\n", pad_right("", kListIndent),
                    format_percent(use.lines - use.lines_reused, use.lines),
                    format_si(static_cast<double>(use.lines)));
  }
  const uint64_t evicted = sum_of(edges.evicted_by_capacity) + sum_of(edges.evicted_by_conflict);
  text += list("capacity", edges.evicted_by_capacity, evicted, "evictions");
  text += list("conflict", edges.evicted_by_conflict, evicted, "evictions");
  text += list("refetched", edges.refetched_by, sum_of(edges.refetched_by), "lines that it had");
  const uint64_t shared = sum_of(edges.shared_same_bytes) + sum_of(edges.shared_other_bytes);
  text += list("same bytes", edges.shared_same_bytes, shared, "taken by other cores");
  text += list("other bytes", edges.shared_other_bytes, shared, "taken by other cores");
  if (!edges.reuses_of.empty() || !edges.evicts.empty() || !edges.refetches.empty() ||
      !edges.takes_from.empty()) {
    text += "Others' lines\n";
  }
  text += list("reuses", edges.reuses_of, sum_of(edges.reuses_of), "touches");
  text += list("evicts", edges.evicts, sum_of(edges.evicts), "evictions");
  text += list("refetches", edges.refetches, sum_of(edges.refetches), "lines had before");
  text += list("takes from", edges.takes_from, sum_of(edges.takes_from), "of other cores");
  return text;
}

std::string PartText::list(const char* heading, const std::vector<EdgeRow>& rows, uint64_t all,
                           const char* unit) const {
  std::string text;
  const size_t numbers = caches_.sampling.one_of == 1 ? 40 : 40 + kEstimateWidth - 7;
  const size_t name_width = std::min<size_t>(style_.width - kListIndent - numbers, 40);
  for (size_t i = 0; i < std::min(rows.size(), kShownEdges); ++i) {
    const EdgeRow& row = rows[i];
    const std::string name = row.is_itself ? "itself" : row.spot.label();
    text += fmt::format("{}{}  {}  {}",
                        pad_right(i == 0 ? fmt::format("  {}", heading) : "", kListIndent),
                        pad_right(elide_middle(name, name_width), name_width),
                        pad_left(format_percent(row.count, all), 7),
                        pad_left(format_count(static_cast<double>(row.count),
                                              estimate_sum_error(row.groups, caches_.sampling)),
                                 caches_.sampling.one_of == 1 ? 7 : kEstimateWidth));
    text += i == 0 ? fmt::format("  {}\n", unit) : "\n";
  }
  if (rows.size() > kShownEdges) {
    text += fmt::format("{}({} more)\n", pad_right("", kListIndent), rows.size() - kShownEdges);
  }
  return text;
}

std::string print_locality_advice(const std::vector<LocalityAdvice>& advice,
                                  const UseEvents& events, const TextStyle& style) {
  if (advice.empty()) return "";
  const std::string heading = "at most ?";
  const bool is_measured =
      events.cost == UseEvents::Cost::measured || events.cost == UseEvents::Cost::shared;
  const size_t width = std::min<size_t>(style.width, 100);
  const size_t head = width - 18;
  std::string text = pad_right("What to change", head) + heading + "\n";
  for (size_t i = 0; i < advice.size(); ++i) {
    const LocalityAdvice& one = advice[i];
    const std::string worth =
        fmt::format("{}  {:.0f} %", format_si(one.saved_cycles), 100 * one.share);
    text += pad_right(elide_middle(fmt::format("{:3} {}", i + 1, one.title), head - 1), head) +
            worth + "\n";
    std::string words = one.reason;
    const bool are_in_title =
        one.lines.size() == 1 && one.title.find(one.lines.front()) != std::string::npos;
    if (!one.lines.empty() && !are_in_title) {
      words += one.lines.size() == 1 ? " Line:" : " Lines:";
      for (const std::string& line : one.lines) words += " " + line;
      words += ".";
    }
    if (!one.objects.empty()) {
      words += fmt::format(" Data: {}.", fmt::join(one.objects, ", "));
    }
    if (one.overlaps) words += fmt::format(" Saves some of the cycles of {}.", *one.overlaps + 1);
    text += wrap("    " + words, width, 4) + "\n";
  }
  const char* const measured =
      ", made measured ones: what a loop took beyond its modelled time, or less, is "
      "taken to be its waits'";
  return text +
         wrap(fmt::format("at most: modelled cycles in which somebody waited for these lines{}; "
                          "none under 2 %.",
                          is_measured ? measured : ""),
              width, 2) +
         "\n\n";
}

}  // namespace culprit
