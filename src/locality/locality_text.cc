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
#include "locality/part_text.h"
#include "locality/use_columns.h"
#include "print/header_text.h"
#include "print/text_table.h"

namespace culprit {
namespace {

class LocalityText {
 public:
  LocalityText(const Profile& profile, const LocalityReport& report, const TextStyle& style)
      : profile_(profile), report_(report), style_(style) {}

  std::string print() {
    std::string text = print_run(profile_, style_);
    text += wrap(describe_caches(report_.caches), style_.width, 2) + "\n\n";
    if (report_.part) text += print_part(*report_.part);
    text += print_rows();
    if (report_.part) text += print_objects(*report_.part);
    text += legend();
    text += print_locality_advice(report_.advice, report_.events, style_);
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
    const UseColumns columns(UseColumns::Of::code, report_.events, report_.caches, all_cost(),
                             report_.options.level);
    return print_table(columns.make(uses, by_word(report_.options.by), labels, style_.width),
                       style_.width) +
           "\n";
  }

  std::string print_part(const PartLocality& part) const {
    const UseColumns columns(UseColumns::Of::code, report_.events, report_.caches, all_cost(),
                             report_.options.level);
    std::string text = printable(part.name) + "   " + columns.describe_cost(part.use) + "\n\n";
    const PartText words(report_.caches, report_.options.level, style_);
    text += words.levels(part.use, part.levels) + "\n";
    text += words.kinds(part.kinds, report_.events, part.use) + "\n";
    text += words.edges(part.use, part.levels);
    return text + "\n";
  }

  [[nodiscard]] double all_cost() const { return report_.events.value_of(report_.totals).value; }

  /// SIP's second pane: the same columns by the data that the part accesses.
  std::string print_objects(const PartLocality& part) const {
    if (part.objects.empty()) return "";
    std::vector<const Use*> uses;
    std::vector<std::string> labels;
    for (const ObjectRow& row : part.objects) {
      uses.push_back(&row.use);
      labels.push_back(printable(row.name.name));
    }
    // Shared out are measured cycles: of these is the share, of modelled ones else.
    const UseEvents& events = report_.data_events;
    const double all =
        events.cost == UseEvents::Cost::shared ? all_cost() : events.value_of(report_.totals).value;
    const UseColumns columns(UseColumns::Of::data, events, report_.caches, all,
                             report_.options.level);
    return print_table(columns.make(uses, "data", labels, style_.width), style_.width) + "\n";
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
    std::vector<const Use*> uses;
    for (const StatementRow& row : report_.rows) uses.push_back(&row.use);
    const UseColumns columns(UseColumns::Of::code, report_.events, report_.caches, all_cost(),
                             report_.options.level);
    words += describe_sampling(report_.caches);
    const std::string gaps = columns.describe_gaps(uses, report_.totals.cost.samples);
    return wrap(words, style_.width, 2) + "\n" +
           (gaps.empty() ? "" : wrap(gaps, style_.width, 2) + "\n");
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
