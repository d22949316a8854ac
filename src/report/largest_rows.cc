#include "report/largest_rows.h"

#include <functional>
#include <utility>

#include "base/row_index.h"
#include "print/values.h"
#include "report/add_up.h"
#include "report/next_function.h"
#include "report/row_filter.h"
#include "report/row_key.h"
#include "report/row_order.h"

namespace culprit {

namespace {

Levels needed_levels(const std::vector<Filter>& filters, LargestRows::Of of) {
  Levels levels = Levels::of({RowLevel::function});
  if (of == LargestRows::Of::functions_and_lines) levels.add(RowLevel::line);
  for (const Filter& filter : filters) levels.add(filter.level);
  return levels;
}

/// Rows with equal names are one group.
struct Groups {
  std::vector<uint32_t> of_row;
  std::vector<RowNames> names;
  RowIndex index;

  void add(const RowNames& row) {
    const size_t group = index.find_or_add(
        NamesHash()(row), names.size(), [&](size_t one) { return SameNames()(names[one], row); });
    if (group == names.size()) names.push_back(row);
    of_row.push_back(static_cast<uint32_t>(group));
  }
};

RowNames function_of(const RowNames& row) {
  RowNames names;
  names.function = row.function;
  names.inlined = row.inlined;
  return names;
}

RowNames line_of(const RowNames& row) {
  if (!row.line) return function_of(row);
  RowNames names;
  names.file = row.file;
  names.line = row.line;
  return names;
}

LargestRow to_largest(const RowNames& names, double share) {
  LargestRow row;
  if (names.function) row.function = *names.function;
  if (names.file) row.file = *names.file;
  row.inlined = names.inlined;
  row.line = names.line.value_or(0);
  row.share = share;
  return row;
}

}  // namespace

struct LargestRows::State {
  State(const Profile& counts, const FactsLookup& facts, const std::vector<Filter>& filters, Of of)
      : profile(counts),
        code(counts, facts),
        keys(code, needed_levels(filters, of),
             name_code(filters) ? FrameChoice::innermost : FrameChoice::own) {
    accounts = add_up(profile, keys);
    RowFilter filter(filters);
    for (size_t account = 0; account < accounts.keys.size(); ++account) {
      const RowNames names = keys.name(accounts.keys[account]);
      if (!filter.passes(names)) continue;
      rows.push_back(static_cast<uint32_t>(account));
      functions.add(function_of(names));
      if (of == Of::functions_and_lines) lines.add(line_of(names));
    }
  }

  /// The group with most of the event, among rows for which `counts` holds.
  std::optional<LargestRow> find(const Groups& groups, size_t event,
                                 const std::function<bool(size_t)>& is_counted) const {
    if (groups.names.empty()) return std::nullopt;
    std::vector<Sum> sums(groups.names.size());
    Sum all;
    for (size_t row = 0; row < rows.size(); ++row) {
      if (is_counted && !is_counted(row)) continue;
      const Sum& sum = accounts.of(rows[row], event);
      sums[groups.of_row[row]] += sum;
      all += sum;
    }
    const auto value = [&](const Sum& sum) { return to_value(profile.events[event], sum).value; };
    const RowOrder order = RowOrder::by_value(event);
    size_t largest = 0;
    for (size_t group = 1; group < sums.size(); ++group) {
      const double ours = value(sums[group]);
      const double most = value(sums[largest]);
      const bool is_more =
          ours > most ||
          (ours == most && order.names_before(groups.names[group], groups.names[largest]));
      if (is_more) largest = group;
    }
    if (!(value(all) > 0)) return std::nullopt;
    return to_largest(groups.names[largest], value(sums[largest]) / value(all));
  }

  void sum(const Groups& groups, const VisitSums& visit) const {
    const size_t events = accounts.events;
    Sums sums(groups.names.size() * events);
    for (size_t row = 0; row < rows.size(); ++row) {
      add_sums(std::span(sums).subspan(groups.of_row[row] * events, events),
               accounts.of(rows[row]));
    }
    std::vector<Value> values(events);
    for (size_t group = 0; group < groups.names.size(); ++group) {
      for (size_t event = 0; event < events; ++event) {
        values[event] = to_value(profile.events[event], sums[group * events + event]);
      }
      visit(to_largest(groups.names[group], 0), values);
    }
  }

  const Profile& profile;
  CodeIndex code;
  RowKeys keys;
  Accounts accounts;
  std::vector<uint32_t> rows;  // accounts that the filters leave
  Groups functions;            // of the rows
  Groups lines;
};

LargestRows::LargestRows(const Profile& profile, const FactsLookup& facts,
                         const std::vector<Filter>& filters, Of of)
    : state_(std::make_unique<State>(profile, facts, filters, of)) {}

LargestRows::~LargestRows() = default;

std::optional<LargestRow> LargestRows::find_function(size_t event) const {
  return state_->find(state_->functions, event, nullptr);
}

std::optional<LargestRow> LargestRows::find_line(size_t event) const {
  return state_->find(state_->lines, event, nullptr);
}

std::optional<LargestRow> LargestRows::find_line_within(const std::string& function,
                                                        size_t event) const {
  std::vector<bool> is_wanted;  // by group of functions
  for (const RowNames& names : state_->functions.names) {
    is_wanted.push_back(names.function && *names.function == function);
  }
  return state_->find(state_->lines, event,
                      [&](size_t row) { return is_wanted[state_->functions.of_row[row]]; });
}

void LargestRows::sum_functions(const VisitSums& visit) const {
  state_->sum(state_->functions, visit);
}

void LargestRows::sum_lines(const VisitSums& visit) const {
  state_->sum(state_->lines, visit);
}

std::string LargestRows::make_words(const LargestRow& function) const {
  if (!can_annotate(function.function)) return "";
  return make_next_words(state_->code, {function.function, function.inlined, ""});
}

}  // namespace culprit
