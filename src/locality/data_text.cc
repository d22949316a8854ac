// Data objects for people: the table, what they are, and what to change; of one its statements,
// fields and edges.

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/names.h"
#include "base/text.h"
#include "locality/data.h"
#include "locality/part_text.h"
#include "locality/use_columns.h"
#include "print/header_text.h"
#include "print/text_table.h"

namespace culprit {
namespace {

/// "heap, quake.c:431, kept in K[i], for main quake.c:90: 9,000 blocks of 24 B", without what the
/// name says already.
std::string describe_data(const ObjectWords& name) {
  std::string text = name.kind;
  if (!name.type.empty()) text += (text.empty() ? "" : ", ") + printable(name.type);
  if (name.element_bytes > 1) text += fmt::format(" of {} B", name.element_bytes);
  const bool says_place = !name.place.empty() && name.name.ends_with(" " + name.place);
  if (!name.place.empty() && !says_place)
    text += (text.empty() ? "" : ", ") + printable(name.place);
  const bool says_kept_in = name.name.find(name.kept_in + " ") != std::string::npos;
  if (!name.kept_in.empty() && !says_kept_in) {
    text += ", kept in " + printable(name.kept_in);
  }
  if (!name.caller.empty()) text += ", for " + printable(name.caller);
  if (name.blocks > 0) {
    const double mean = static_cast<double>(name.total_bytes) / static_cast<double>(name.blocks);
    text += fmt::format(": {} block{} of {}{} B", format_thousands(name.blocks),
                        name.blocks == 1 ? "" : "s",
                        name.size_bytes == 0 && name.blocks > 1 ? "about " : "",
                        format_thousands(static_cast<uint64_t>(std::llround(mean))));
  } else if (name.size_bytes > 0) {
    text += fmt::format(": {} B", format_thousands(name.size_bytes));
  }
  return text;
}

class DataText {
 public:
  DataText(const Profile& profile, const DataReport& report, const TextStyle& style)
      : profile_(profile), report_(report), style_(style) {}

  std::string print() {
    std::string text = print_run(profile_, style_);
    if (report_.has_locality) text += wrap(describe_caches(report_.caches), style_.width, 2) + "\n";
    text += "\n";
    if (report_.part) {
      text += print_part(*report_.part);
    } else {
      text += print_objects(report_.rows) + print_named() + print_names(report_.rows);
      text += print_locality_advice(report_.advice, report_.events, style_);
    }
    if (const std::string words = describe_sampling(report_.caches); !words.empty()) {
      text += wrap(words.substr(1), style_.width, 2) + "\n";
    }
    for (const std::string& remark : report_.remarks) {
      text += print_labelled("Note", printable(remark), style_);
    }
    text += print_ledger(profile_.ledger, style_);
    return text + next_step();
  }

 private:
  /// What shares are of.
  [[nodiscard]] double all_cost() const {
    return report_.measured_cycles > 0 ? report_.measured_cycles
                                       : report_.events.value_of(report_.totals).value;
  }
  [[nodiscard]] UseColumns columns() const {
    return {UseColumns::Of::data, report_.events, report_.caches, all_cost(),
            report_.options.level};
  }

  [[nodiscard]] std::string print_objects(const std::vector<ObjectRow>& rows) const {
    std::vector<const Use*> uses;
    std::vector<std::string> labels;
    for (const ObjectRow& row : rows) {
      uses.push_back(&row.use);
      labels.push_back(printable(row.name.name));
    }
    if (report_.rest_rows > 0) {
      uses.push_back(&report_.rest);
      labels.push_back(fmt::format("({} more)", report_.rest_rows));
    }
    uses.push_back(&report_.totals);
    labels.emplace_back("total");
    return print_table(columns().make(uses, "data", labels, style_.width), style_.width) + "\n";
  }

  /// "97.3 % of L1D misses and 99.1 % of accesses are of data that have a name".
  [[nodiscard]] std::string print_named() const {
    const auto percent = [](uint64_t part, uint64_t whole) {
      return 100 * static_cast<double>(part) / static_cast<double>(whole);
    };
    const Use& all = report_.totals;
    if (all.accesses == 0) return "";
    std::string text =
        fmt::format("{:.1f} % of accesses", percent(report_.named.accesses, all.accesses));
    if (report_.events.has_misses && all.misses[0] > 0) {
      text = fmt::format("{:.1f} % of L1D misses and {}",
                         percent(report_.named.misses[0], all.misses[0]), text);
    }
    return text + " are of data that have a name\n" + describe_measured() + "\n";
  }
  /// "?cycles: of the 882 M measured cycles those in which it waited for data, 31 %, ..."
  [[nodiscard]] std::string describe_measured() const {
    if (report_.measured_cycles == 0) return "";
    const double waited = report_.events.value_of(report_.totals).value;
    return wrap(fmt::format("?cycles: of the {} measured cycles those in which it waited for data, "
                            "{:.0f} %, by what the model has of each loop",
                            format_si(report_.measured_cycles),
                            100 * waited / report_.measured_cycles),
                style_.width, 2) +
           "\n";
  }

  /// What those are whose name alone does not say it.
  [[nodiscard]] std::string print_names(const std::vector<ObjectRow>& rows) const {
    constexpr size_t kMost = 8;
    std::string text;
    size_t shown = 0;
    for (const ObjectRow& row : rows) {
      const std::string words = describe_data(row.name);
      if (words.empty() || shown++ == kMost) continue;
      constexpr size_t kNameWidth = 28;
      text += wrap(fmt::format(
                       "{}  {}",
                       pad_right(elide_middle(printable(row.name.name), kNameWidth), kNameWidth),
                       words),
                   style_.width, kNameWidth + 2) +
              "\n";
      if (shown == kMost) break;
    }
    return text.empty() ? "" : text + "\n";
  }

  /// The members, in the order in which they lie: "24 next node*".
  [[nodiscard]] std::string print_fields(const ObjectPart& part) const {
    std::vector<const Use*> uses;
    std::vector<std::string> labels;
    for (const ObjectRow& field : part.fields) {
      const ObjectWords& name = field.name;
      uses.push_back(&field.use);
      const std::string at =
          name.place.empty() ? "" : name.place.substr(std::string_view("offset ").size());
      labels.push_back(fmt::format("{:>4} {}{}", at, printable(name.name),
                                   name.type.empty() ? "" : " " + printable(name.type)));
    }
    const std::string heading =
        fmt::format("at {} B of {}", part.name.element_bytes, printable(part.name.type));
    return print_table(columns().make(uses, heading.c_str(), labels, style_.width), style_.width) +
           "\n";
  }

  [[nodiscard]] std::string print_part(const ObjectPart& part) const {
    std::string text = printable(part.name.name) + "   " + columns().describe_cost(part.use) + "\n";
    const std::string words = describe_data(part.name);
    if (!words.empty()) text += wrap("  " + words, style_.width, 2) + "\n";
    text += "\n";
    const PartText printed(report_.caches, report_.options.level, style_);
    if (report_.has_locality) text += printed.levels(part.use, part.levels) + "\n";
    text += printed.kinds(part.kinds, report_.events, part.use) + "\n";
    if (!part.fields.empty()) text += print_fields(part);
    std::vector<const Use*> uses;
    std::vector<std::string> labels;
    for (const StatementRow& row : part.statements) {
      uses.push_back(&row.use);
      labels.push_back(row.spot.label());
    }
    text +=
        print_table(columns().make(uses, "accessed at", labels, style_.width), style_.width) + "\n";
    if (report_.has_locality) text += printed.edges(part.use, part.levels) + "\n";
    if (!part.others.empty()) {
      constexpr size_t kMost = 5;
      std::vector<std::string> shown(
          part.others.begin(),
          part.others.begin() + static_cast<ptrdiff_t>(std::min(kMost, part.others.size())));
      text += print_labelled(
          "Note",
          fmt::format("also matches: {}{}", printable(fmt::format("{}", fmt::join(shown, ", "))),
                      part.others.size() > kMost
                          ? fmt::format(" and {} more", part.others.size() - kMost)
                          : ""),
          style_);
    }
    return text;
  }

  [[nodiscard]] std::string next_step() const {
    if (!report_.part && !report_.rows.empty()) {
      const std::string& name = report_.rows.front().name.name;
      return print_next(with_file("culprit data " + shell_word(printable(name)), style_),
                        "its statements, and who evicts it", style_);
    }
    if (report_.part && !report_.part->statements.empty()) {
      const std::string label = report_.part->statements.front().spot.label();
      return print_next(with_file("culprit locality " + shell_word(label), style_),
                        "what else this statement does to lines", style_);
    }
    return print_next(with_file("culprit data", style_), "all data", style_);
  }

  const Profile& profile_;
  const DataReport& report_;
  const TextStyle& style_;
};

}  // namespace

std::string print_data_text(const Profile& profile, const DataReport& report,
                            const TextStyle& style) {
  return DataText(profile, report, style).print();
}

}  // namespace culprit
