#include "why/why_table.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/text.h"
#include "print/event_display.h"
#include "why/why_parts.h"

namespace culprit {
namespace {

class WhyTable {
 public:
  WhyTable(const Profile& profile, const WhyReport& why) : profile_(profile), why_(why) {
    collect_lines();
  }

  std::vector<TextColumn> columns() const {
    Columns table;
    size_t above = 0;  // lines that the tree is a part of
    if (why_.halted) {
      add_halted(table);
      above = 1;
    } else if (has_measured(why_)) {
      add_measured(table);
      above = 1;
    }
    for (const Line& line : lines_) {
      const CostNode& node = *line.node;
      const std::optional<double> tried = find_tried(node);
      const bool has_cycles = node.cycles.has_value() && !tried;
      table.add(has_cycles ? format_si(node.cycles->value)
                : tried    ? format_si(*tried)
                           : "-",
                has_cycles ? format_share(why_, node.cycles->value)
                : tried    ? format_share(why_, *tried)
                           : "-",
                has_cycles ? format_error(*node.cycles) : "",
                has_cycles ? std::string(1, provenance_mark(node.provenance))
                : tried    ? "~"
                           : "",
                std::string(2 * (line.depth + above), ' ') + describe(node),
                describe_amounts(node));
    }
    if (!has_measured(why_)) add_kernel(table, above + 1, true);
    std::vector<TextColumn> all{table.cycles, table.shares, table.errors, table.marks, table.what};
    const bool any = std::any_of(table.events.cells.begin(), table.events.cells.end(),
                                 [](const std::string& cell) { return !cell.empty(); });
    if (any) all.push_back(table.events);
    return all;
  }

  /// Labels of the branches that are left out for costing nothing.
  std::vector<std::string> list_nothings() const {
    std::vector<std::string> labels;
    for (const CostNode& level : why_.tree.unhalted.parts) {
      for (const CostNode& branch : level.parts) {
        if (branch.kind != NodeKind::branch || why_.options.show_events) continue;
        if (is_possible(profile_, branch) && is_next_to_nothing(branch)) {
          labels.push_back(printable(branch.label));
        }
      }
    }
    return labels;
  }

 private:
  struct Line {
    const CostNode* node;
    size_t depth;
  };

  /// The columns of the tree.
  struct Columns {
    TextColumn cycles{"cycles", true, nullptr, 2, {}};
    TextColumn shares{"share", true, nullptr, 2, {}};
    TextColumn errors{"+-", true, nullptr, 2, {}};
    TextColumn marks{"", false, nullptr, 1, {}};
    TextColumn what{"", false, fit, 1, {}};
    TextColumn events{"events", false, nullptr, 2, {}};

    void add(std::string amount, std::string share, std::string error, std::string mark,
             std::string label, std::string event = "") {
      cycles.cells.push_back(std::move(amount));
      shares.cells.push_back(std::move(share));
      errors.cells.push_back(std::move(error));
      marks.cells.push_back(std::move(mark));
      what.cells.push_back(std::move(label));
      events.cells.push_back(std::move(event));
    }
  };

  void collect_lines() {
    if (is_bare(why_) && !why_.options.show_events) {
      lines_.push_back({&why_.tree.unhalted, 0});
      return;
    }
    add(why_.tree.unhalted, 0);
    for (const CostNode& node : why_.tree.general) {
      if (why_.options.show_events && node.amount) lines_.push_back({&node, 0});
    }
  }

  /// Levels 1 to 3, but for what cannot be and what costs nothing; below them what costs something,
  /// or everything.
  bool is_shown(const CostNode& node) const {
    if (node.kind == NodeKind::level) return true;
    if (node.kind == NodeKind::branch) {
      return why_.options.show_events || (is_possible(profile_, node) && !is_next_to_nothing(node));
    }
    const bool is_known = node.cycles || node.amount || node.ratio;
    if (why_.options.show_events) return is_known;
    return node.in_sum && node.cycles &&
           node.cycles->value >= kLeastShownShare * unhalted_of(why_) && node.cycles->value > 0;
  }

  /// What would be shown as 0.0 %.
  bool is_next_to_nothing(const CostNode& node) const {
    constexpr double kLeastShown = 0.0005;
    return node.state == NodeState::measured && node.cycles && unhalted_of(why_) > 0 &&
           node.cycles->value < kLeastShown * unhalted_of(why_) && &node != why_.verdict.branch;
  }

  void add(const CostNode& node, size_t depth) {
    if (!is_shown(node)) return;
    lines_.push_back({&node, depth});
    for (const CostNode& part : node.parts) {
      // The only event of a level says what the level says.
      const bool is_level_event = node.kind == NodeKind::level && part.kind == NodeKind::event;
      const bool repeats = is_level_event || is_only_part(node, part);
      if (!repeats || why_.options.show_events) add(part, depth + 1);
    }
  }

  /// What is all of its parent: the parent's line says it.
  static bool is_only_part(const CostNode& node, const CostNode& part) {
    return find_only_part(node) == &part;
  }

  static const CostNode* find_only_part(const CostNode& node) {
    const CostNode* only = nullptr;
    for (const CostNode& part : node.parts) {
      if (!part.in_sum) continue;
      if (only != nullptr) return nullptr;
      only = &part;
    }
    const bool has_all =
        only != nullptr && only->cycles && node.cycles && only->cycles->value == node.cycles->value;
    return has_all && node.kind != NodeKind::level ? only : nullptr;
  }

  /// What an experiment says of a branch [cycles], which is no part of what was modelled.
  std::optional<double> find_tried(const CostNode& node) const {
    std::optional<double> cycles;
    for (const PlacedAdvice& one : why_.advice) {
      if (node.kind != NodeKind::branch || one.tried == nullptr || one.branch != node.branch)
        continue;
      cycles = cycles.value_or(0) + one.cycles.value;
    }
    return cycles;
  }

  /// Above what ran stands what could have.
  void add_halted(Columns& table) const {
    const auto add = [&](const std::optional<double>& amount, const std::string& label) {
      table.add(amount ? format_si(*amount) : "-", "", "", amount ? "=" : "", label);
    };
    add(why_.halted->total_cycles, describe_total(*why_.halted));
    add(why_.halted->cycles, "  " + describe_halted(*why_.halted));
  }

  /// Above what the model says stands what was measured.
  void add_measured(Columns& table) const {
    const MeasuredCycles& both = *why_.measured;
    const auto add = [&](const Estimate& value, const char* mark, const char* label) {
      table.add((value.value < 0 ? "-" : "") + format_si(std::abs(value.value)),
                format_share(why_, value.value), format_error(value), mark, label);
    };
    add(both.measured, "~", "measured: time x clock, natively");
    add(both.kernel, "~", "  in the kernel: not simulated");
    add_kernel(table, 2, false);
    add(both.unexplained, "", "  unexplained = measured - modelled - kernel");
  }

  /// What the kernel does for the program, the largest first.
  void add_kernel(Columns& table, size_t depth, bool with_total) const {
    constexpr double kLeastPart = 0.01;
    constexpr size_t kMostParts = 5;
    if (!why_.kernel || !why_.part.empty()) return;
    const auto add = [&](const Estimate& share, size_t at, const std::string& label,
                         const std::string& calls) {
      const Estimate cycles = share * whole_of(why_);
      table.add(whole_of(why_) > 0 ? format_si(cycles.value) : "-",
                fmt::format("{:.1f} %", 100 * share.value), format_error(cycles), "~",
                std::string(2 * at, ' ') + label, calls);
    };
    if (why_.kernel->share.value < kLeastPart) return;
    if (with_total) add(why_.kernel->share, depth++, "in the kernel", "");
    for (size_t i = 0; i < std::min(kMostParts, why_.kernel->parts.size()); ++i) {
      const KernelPart& part = why_.kernel->parts[i];
      if (part.share.value < kLeastPart) break;
      std::string label(part.kind->title);
      if (&part == why_.verdict.kernel) label += mark_of(why_.verdict.certainty);
      add(part.share, depth, label, list_calls(part));
    }
  }

  static std::string fit(const std::string& cell, size_t width) {
    return count_columns(cell) <= width ? cell : cell.substr(0, width - 2) + "..";
  }

  /// Half of the 95 % interval, in points of the share.
  std::string format_error(const Estimate& cycles) const {
    if (cycles.standard_error == 0 || !(whole_of(why_) > 0)) return "";
    return fmt::format("{:.1f}", 100 * kNormal95 * cycles.standard_error / whole_of(why_));
  }

  std::string describe(const CostNode& node) const {
    std::string text = printable(node.label);
    if (!node.in_sum && node.kind != NodeKind::level) text = fmt::format("({})", text);
    if (find_tried(node)) {
      text += ": tried";
    } else {
      if (node.state == NodeState::not_covered) text += ": not covered";
      if (node.state == NodeState::not_recorded) text += ": not recorded";
    }
    if (node.uncapped)
      text += fmt::format(", at most ({} before)", format_si(node.uncapped->value));
    if (&node == why_.verdict.branch) text += mark_of(why_.verdict.certainty);
    return text;
  }

  static std::string mark_of(Certainty certainty) {
    if (certainty == Certainty::firm) return "   <== culprit";
    return certainty == Certainty::candidate ? "   <== candidate ?" : "";
  }

  /// Those of the node; of one that is not shown by itself, too.
  std::string describe_amounts(const CostNode& node) const {
    const std::string own = describe_amount(node);
    const CostNode* const only = find_only_part(node);
    if (!own.empty() || only == nullptr || why_.options.show_events) return own;
    return describe_amounts(*only);
  }

  static std::string describe_amount(const CostNode& node) {
    if (node.ratio) return fmt::format("{:.3g} each", node.ratio->value);
    if (!node.amount || node.row == nullptr) return "";
    std::string text = fmt::format("{} {}", provenance_mark(node.amount->provenance),
                                   pad_left(format_si(node.amount->events.value), 7));
    const std::optional<double>& each = node.row->penalty.value;
    const bool has_price = node.row->role == Role::sum && each && *each != 1;
    if (has_price) {
      text +=
          fmt::format(" x {:.3g}{}", *each, node.row->penalty.unit == PenaltyUnit::ns ? " ns" : "");
    }
    return text;
  }

  const Profile& profile_;
  const WhyReport& why_;
  std::vector<Line> lines_;
};

}  // namespace

std::vector<TextColumn> make_why_table(const Profile& profile, const WhyReport& why) {
  return WhyTable(profile, why).columns();
}

std::vector<std::string> list_next_to_nothing(const Profile& profile, const WhyReport& why) {
  return WhyTable(profile, why).list_nothings();
}

bool is_bare(const WhyReport& why) {
  if (has_no_cycles(why.tree)) return true;
  const std::string* reason = nullptr;
  for (const CostNode& level : why.tree.unhalted.parts) {
    for (const CostNode& branch : level.parts) {
      if (branch.kind != NodeKind::branch) continue;
      if (branch.cycles || branch.reason.empty()) return false;
      if (reason != nullptr && *reason != branch.reason) return false;
      reason = &branch.reason;
    }
  }
  return reason != nullptr;
}

}  // namespace culprit
