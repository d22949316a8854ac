#include "compare/print_causes.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/names.h"
#include "base/text.h"
#include "compare/print_parts.h"
#include "print/event_display.h"
#include "print/header_text.h"

namespace culprit {
namespace {

constexpr size_t kMostBranches = 4;    // in text
constexpr size_t kMostRows = 8;        // in text
constexpr double kLeastChange = 1e-3;  // of the whole: exact counts differ by single events, too

std::string format_signed(double value) {
  return (value < 0 ? "-" : "+") + format_si(std::abs(value));
}

std::string describe_amount(const CauseAmount& amount) {
  return fmt::format("{} {} -> {}", printable(amount.label), format_si(amount.base),
                     format_si(amount.now));
}

std::string describe_key(const ComparedKey& key) {
  std::string text;
  for (const std::string& name : key) {
    text += (text.empty() ? "" : ", ") + pretty_name(printable(name));
  }
  return text;
}

std::string describe_branch(const CauseBranch& branch) {
  std::string text = fmt::format("{} {}  {}", format_signed(branch.cycles.change()),
                                 provenance_mark(branch.provenance), branch.cycles.label);
  if (!branch.most.empty() && branch.most != branch.cycles.label) {
    text += ", most of it " + printable(branch.most);
  }
  for (size_t i = 0; i < branch.events.size(); ++i) {
    text += (i == 0 ? ": " : ", ") + describe_amount(branch.events[i]);
  }
  return text;
}

class CauseText {
 public:
  CauseText(const PrintedComparison& what, const TextStyle& style) : what_(what), style_(style) {}

  void add(const RowChange& row) {
    const Cause& cause = *row.cause;
    if (cause.state == Cause::State::unknown) {
      obstacle_ = cause.reason;
      return;
    }
    add_line("  " + describe_change(row), 4);
    for (size_t i = 0; i < std::min(cause.branches.size(), kMostBranches); ++i) {
      add_line("    " + describe_branch(cause.branches[i]), 8);
    }
    if (cause.state == Cause::State::none) add_line("    cause unknown: " + cause.reason, 8);
    if (cause.instructions) add_line("    " + describe_amount(*cause.instructions), 8);
  }

  [[nodiscard]] std::string finish() const {
    if (!obstacle_.empty()) {
      const char* hint = "";
      if (obstacle_ == kTimeAlone) {
        hint = " (culprit record --engine timer+simulate counts what took it, too)";
      } else if (obstacle_ == kCountsAlone) {
        hint = " (culprit record --engine simulate --machine host does)";
      }
      return print_labelled("Why", "cause unknown: " + obstacle_ + hint, style_);
    }
    if (lines_.empty()) return "";
    return print_labelled("Why", "what changed, by the tree of cycles of both", style_) + lines_;
  }

 private:
  [[nodiscard]] std::string describe_change(const RowChange& row) const {
    const Measure& measure = what_.rows.measure;
    const double change = row.now - row.base;
    std::string text =
        fmt::format("{}: {}{} {}", describe_key(row.key), change < 0 ? "-" : "+",
                    format_amount(measure, std::abs(change)), describe_measure(measure));
    const std::optional<CauseAmount>& tree = row.cause->tree;
    if (tree) text += fmt::format(", {} in the tree", format_signed(tree->change()));
    return text;
  }

  void add_line(const std::string& text, size_t indent) {
    lines_ += wrap(text, style_.width, indent) + "\n";
  }

  const PrintedComparison& what_;
  const TextStyle& style_;
  std::string obstacle_;
  std::string lines_;
};

Json json_amount(const CauseAmount& amount) {
  return {{"label", printable(amount.label)},
          {"unit", amount.is_cycles ? "cycles" : "events"},
          {"base", amount.base},
          {"new", amount.now},
          {"error", amount.error}};
}

const char* state_word(Cause::State state) {
  switch (state) {
    case Cause::State::found:
      return "found";
    case Cause::State::none:
      return "none";
    case Cause::State::unknown:
      return "unknown";
  }
  return "unknown";
}

}  // namespace

std::string print_causes(const PrintedComparison& what, const Difference& difference,
                         const TextStyle& style) {
  CauseText text(what, style);
  size_t shown = 0;
  const size_t most = what.limit == 0 ? difference.rows.size() : std::min(what.limit, kMostRows);
  const double whole = std::max(difference.total.base, difference.total.now);
  const double least = what.limit == 0 ? 0 : kLeastChange * whole;
  for (const RowChange& row : difference.rows) {
    if (!row.cause || shown == most || std::abs(row.now - row.base) < least) continue;
    text.add(row);
    ++shown;
  }
  if (difference.total.cause) text.add(difference.total);
  return text.finish();
}

Json json_cause(const Cause& cause) {
  Json branches = Json::array();
  for (const CauseBranch& branch : cause.branches) {
    Json events = Json::array();
    for (const CauseAmount& event : branch.events) events.push_back(json_amount(event));
    Json one = json_amount(branch.cycles);
    one["branch"] = branch.key;
    one["provenance"] = provenance_name(branch.provenance);
    one["most"] = printable(branch.most);
    one["events"] = std::move(events);
    branches.push_back(std::move(one));
  }
  return {{"state", state_word(cause.state)},
          {"reason", printable(cause.reason)},
          {"tree", cause.tree ? json_amount(*cause.tree) : Json()},
          {"instructions", cause.instructions ? json_amount(*cause.instructions) : Json()},
          {"branches", std::move(branches)}};
}

std::string csv_cause(const Cause& cause) {
  if (cause.state != Cause::State::found) return "unknown: " + cause.reason;
  std::string text;
  for (const CauseBranch& branch : cause.branches) {
    text += fmt::format("{}{} {:+}", text.empty() ? "" : "; ", branch.key, branch.cycles.change());
  }
  return text;
}

}  // namespace culprit
