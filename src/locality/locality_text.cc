// Locality for people: the table of statements; of a part its levels, kinds of access and edges.
//
//     reused by       equake.c:512 itself      4.41 M    71.2 %   of 6.19 M touches
//                     equake.c:530             1.78 M    28.8 %
//     never again     1.20 M lines, 36.2 %

#include <algorithm>
#include <fmt/format.h>

#include "base/names.h"
#include "base/text.h"
#include "locality/locality.h"
#include "locality/use_columns.h"
#include "print/header_text.h"
#include "print/text_table.h"

namespace culprit {
namespace {

constexpr size_t kShownEdges = 5;
constexpr const char* kKindWords[kDataKinds] = {"integer loads", "integer stores", "float loads",
                                                "float stores"};

uint64_t sum_of(const std::vector<EdgeRow>& rows) {
  uint64_t sum = 0;
  for (const EdgeRow& row : rows) sum += row.count;
  return sum;
}

class LocalityText {
 public:
  LocalityText(const Profile& profile, const LocalityReport& report, const TextStyle& style)
      : profile_(profile), report_(report), style_(style) {}

  std::string print() {
    std::string text = print_run(profile_, style_);
    text += wrap(describe_caches(report_.caches), style_.width, 2) + "\n\n";
    if (report_.part) text += print_part(*report_.part);
    text += print_rows();
    text += legend();
    for (const std::string& remark : report_.remarks) {
      text += print_labelled("Note", printable(remark), style_);
    }
    text += print_ledger(profile_.ledger, style_);
    return text + next_step();
  }

 private:
  std::string print_rows() const {
    std::vector<const Use*> uses;
    std::vector<std::string> labels;
    for (const StatementRow& row : report_.rows) {
      uses.push_back(&row.use);
      labels.push_back(row.spot.label());
    }
    if (report_.rest_rows > 0) {
      uses.push_back(&report_.rest);
      labels.push_back(fmt::format("({} more)", report_.rest_rows));
    }
    uses.push_back(report_.part ? &report_.part->use : &report_.totals);
    labels.emplace_back(report_.part ? "all of it" : "total");
    const UseColumns columns(report_.events, report_.caches, report_.totals, report_.options.level);
    return print_table(columns.make(uses, by_word(report_.options.by), labels, style_.width),
                       style_.width) +
           "\n";
  }

  std::string print_part(const PartLocality& part) const {
    const UseColumns columns(report_.events, report_.caches, report_.totals, report_.options.level);
    std::string text = printable(part.name) + "   " + columns.describe_cost(part.use) + "\n\n";
    text += print_levels(part) + "\n" + print_kinds(part) + "\n";
    for (size_t level = 0; level < kTenureLevels.size(); ++level) {
      if (kTenureLevels[level] == report_.options.level) text += print_edges(part, level);
    }
    return text + "\n";
  }

  std::string print_levels(const PartLocality& part) const {
    TextColumn words{"level", false, nullptr, 2, {}};
    TextColumn lines{"lines", true, nullptr, 2, {}};
    TextColumn spatial{"spatial", true, nullptr, 2, {}};
    TextColumn temporal{"temporal", true, nullptr, 2, {}};
    TextColumn again{"used again", true, nullptr, 2, {}};
    TextColumn refetched{"refetched", true, nullptr, 2, {}};
    TextColumn prefetched{"prefetched", true, nullptr, 2, {}};
    TextColumn unused{"for nothing", true, nullptr, 2, {}};
    for (size_t i = 0; i < kTenureLevels.size(); ++i) {
      const LineUse& use = part.use.levels[i];
      if (use.lines == 0) continue;
      const double all = static_cast<double>(use.lines);
      words.cells.emplace_back(level_word(kTenureLevels[i]));
      lines.cells.push_back(format_si(all));
      spatial.cells.push_back(format_spatial(use, report_.caches.line_bytes));
      temporal.cells.push_back(format_temporal(use));
      again.cells.push_back(format_percent(use.lines_reused, use.lines));
      refetched.cells.push_back(format_percent(sum_of(part.levels[i].refetches), use.lines));
      prefetched.cells.push_back(format_percent(use.lines_prefetched, use.lines));
      unused.cells.push_back(format_percent(use.lines_never_used, use.lines));
    }
    if (words.cells.empty()) return "It brought no lines into the caches.\n";
    return print_table({words, lines, spatial, temporal, again, refetched, prefetched, unused},
                       style_.width);
  }

  std::string print_kinds(const PartLocality& part) const {
    const size_t level = tenure_level(report_.options.level).value_or(0);
    TextColumn words{level_word(report_.options.level), false, nullptr, 2, {}};
    TextColumn accesses{"=accesses", true, nullptr, 2, {}};
    TextColumn misses[kMissLevels] = {{"L1miss", true, nullptr, 2, {}},
                                      {"L2miss", true, nullptr, 2, {}},
                                      {"L3miss", true, nullptr, 2, {}}};
    TextColumn spatial{"spatial", true, nullptr, 2, {}};
    TextColumn temporal{"temporal", true, nullptr, 2, {}};
    for (size_t kind = 0; kind < kDataKinds; ++kind) {
      const KindUse& use = part.kinds[kind];
      if (use.accesses == 0) continue;
      words.cells.emplace_back(kKindWords[kind]);
      accesses.cells.push_back(format_si(static_cast<double>(use.accesses)));
      for (size_t i = 0; i < kMissLevels; ++i) {
        misses[i].cells.push_back(format_percent(use.misses[i], use.accesses));
      }
      spatial.cells.push_back(format_spatial(use.levels[level], report_.caches.line_bytes));
      temporal.cells.push_back(format_temporal(use.levels[level]));
    }
    if (words.cells.empty()) return "";
    return print_table({words, accesses, misses[0], misses[1], misses[2], spatial, temporal},
                       style_.width);
  }

  std::string print_edges(const PartLocality& part, size_t number) const {
    const LevelEdges& edges = part.levels[number];
    const LineUse& use = part.use.levels[number];
    std::string text = fmt::format("Its lines in {}\n", level_word(kTenureLevels[number]));
    text += print_list("reused by", edges.reused_by, sum_of(edges.reused_by), "touches");
    if (use.lines > 0) {
      text += fmt::format("{}nobody: {} of {} lines had one touch or none\n",
                          pad_right("", kListIndent),
                          format_percent(use.lines - use.lines_reused, use.lines),
                          format_si(static_cast<double>(use.lines)));
    }
    const uint64_t evicted = sum_of(edges.evicted_by_capacity) + sum_of(edges.evicted_by_conflict);
    text += print_list("capacity", edges.evicted_by_capacity, evicted, "evictions");
    text += print_list("conflict", edges.evicted_by_conflict, evicted, "evictions");
    text += print_list("refetched", edges.refetched_by, sum_of(edges.refetched_by),
                       "lines that it had");
    const uint64_t shared = sum_of(edges.shared_same_bytes) + sum_of(edges.shared_other_bytes);
    text += print_list("same bytes", edges.shared_same_bytes, shared, "taken by other cores");
    text += print_list("other bytes", edges.shared_other_bytes, shared, "taken by other cores");
    text += "Others' lines\n";
    text += print_list("reuses", edges.reuses_of, sum_of(edges.reuses_of), "touches");
    text += print_list("evicts", edges.evicts, sum_of(edges.evicts), "evictions");
    text += print_list("refetches", edges.refetches, sum_of(edges.refetches), "lines had before");
    text += print_list("takes from", edges.takes_from, sum_of(edges.takes_from), "of other cores");
    return text;
  }

  static constexpr size_t kListIndent = 14;

  std::string print_list(const char* heading, const std::vector<EdgeRow>& rows, uint64_t all,
                         const char* unit) const {
    std::string text;
    const size_t name_width = std::min<size_t>(style_.width - kListIndent - 40, 40);
    for (size_t i = 0; i < std::min(rows.size(), kShownEdges); ++i) {
      const EdgeRow& row = rows[i];
      const std::string name = row.is_itself ? "itself" : row.spot.label();
      text += fmt::format("{}{}  {}  {}",
                          pad_right(i == 0 ? fmt::format("  {}", heading) : "", kListIndent),
                          pad_right(elide_middle(name, name_width), name_width),
                          pad_left(format_percent(row.count, all), 7),
                          pad_left(format_si(static_cast<double>(row.count)), 7));
      text += i == 0 ? fmt::format("  {}\n", unit) : "\n";
    }
    if (rows.size() > kShownEdges) {
      text += fmt::format("{}({} more)\n", pad_right("", kListIndent), rows.size() - kShownEdges);
    }
    return text;
  }

  std::string legend() const {
    std::string words =
        "spatial: of the bytes brought in, those used before their line left; temporal: how often "
        "each of these was used again";
    if (report_.options.level != CacheLevel::l1d) {
      words += fmt::format(" (here of {})", level_word(report_.options.level));
    }
    words += ". Misses are of all accesses.";
    if (report_.events.has_waits) {
      words += " waits: of its modelled cycles, those waiting for data or to store them.";
    }
    return wrap(words, style_.width, 2) + "\n";
  }

  std::string next_step() const {
    if (!report_.part && !report_.rows.empty()) {
      const CodeSpot& hottest = report_.rows.front().spot;
      const bool by_line = hottest.line != 0 && !hottest.address;
      const std::string words =
          by_line ? fmt::format("{}:{}", base_name(hottest.file), hottest.line) : hottest.function;
      if (!words.empty()) {
        return print_next(with_file("culprit locality " + shell_word(printable(words)), style_),
                          "who reuses and evicts its lines", style_);
      }
    }
    if (report_.part && !report_.rows.empty() && !report_.rows.front().spot.function.empty()) {
      const std::string function(without_parameters(report_.rows.front().spot.function));
      return print_next(with_file("culprit annotate " + shell_word(printable(function)), style_),
                        "its source and assembly", style_);
    }
    return print_next(with_file("culprit locality", style_), "all statements", style_);
  }

  const Profile& profile_;
  const LocalityReport& report_;
  const TextStyle& style_;
};

}  // namespace

std::string print_locality_text(const Profile& profile, const LocalityReport& report,
                                const TextStyle& style) {
  return LocalityText(profile, report, style).print();
}

}  // namespace culprit
