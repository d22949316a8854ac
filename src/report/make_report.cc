// Profile → ReportTable, in four steps:
//
//   add up     every count under a RowKey of ids, as fine as rows and filters need
//   name       each key once; filters look at the names
//   merge      rows whose names, reduced to the levels asked for, are equal
//   order      sort, cut at the limit, sum what was cut
//
// Names are words of a pool until the last step: only rows that are shown get text.

#include <algorithm>
#include <fmt/format.h>
#include <span>
#include <utility>

#include "base/text.h"
#include "model/counts.h"
#include "model/event_names.h"
#include "print/event_display.h"
#include "print/values.h"
#include "report/execution_columns.h"
#include "report/report.h"
#include "report/row_filter.h"
#include "report/row_index.h"
#include "report/row_key.h"
#include "report/row_order.h"
#include "report/tree.h"
#include "report/two_run_columns.h"

namespace culprit {

namespace {

/// Rows under construction: keys → sums, in order of arrival.
struct Accounts {
  size_t events;
  std::vector<RowKey> keys;
  std::vector<Sum> sums;  // rows x events

  [[nodiscard]] std::span<Sum> of(size_t row) { return {sums.data() + row * events, events}; }
};

Accounts add_up(const Profile& profile, RowKeys& keys) {
  Accounts accounts{profile.events.size(), {}, {}};
  RowIndex rows;
  for (const Histogram& histogram : profile.histograms) {
    const RowKey context = keys.of_context(histogram.context);
    Location last_location;
    size_t last_row = SIZE_MAX;
    for_each_count(profile, histogram, [&](const Location& at, size_t event, const Sum& sum) {
      if (last_row == SIZE_MAX || at != last_location) {
        const RowKey key = keys.of_location(context, at);
        // Neighbours in code mostly belong to the same row.
        if (last_row == SIZE_MAX || key != accounts.keys[last_row]) {
          last_row = rows.find_or_add(RowKeyHash()(key), accounts.keys.size(),
                                      [&](size_t row) { return accounts.keys[row] == key; });
          if (last_row == accounts.keys.size()) {
            accounts.keys.push_back(key);
            accounts.sums.resize(accounts.sums.size() + accounts.events);
          }
        }
        last_location = at;
      }
      accounts.of(last_row)[event] += sum;
    });
  }
  return accounts;
}

/// Drops the names that were needed by filters only.
void reduce(RowNames& row, const Levels& by) {
  if (!by.process) {
    row.process = {};
    row.process_id.reset();
  }
  if (!by.thread) {
    row.thread = {};
    row.thread_id.reset();
  }
  const bool keeps_function = by.function || by.address() || (by.line && !row.line);
  if (!keeps_function) row.function = {};
  if (!by.module && !by.address()) row.module = {};
  if (!by.line && !by.instruction) {
    row.file = {};
    row.line.reset();
  }
  if (!by.address()) {
    row.address.reset();
    row.end_address.reset();
  }
  if (!by.code()) row.inlined = false;
  row.skid = by.instruction || row.inlined;
}

struct MergedRow {
  RowNames names;
  size_t account = 0;  // the first of its accounts: has the sums of all
  double rank = 0;     // what decides the order before names do
};

std::vector<MergedRow> name_and_merge(Accounts& accounts, RowKeys& keys,
                                      const ReportOptions& options, Sums& shown) {
  const Levels by = Levels::of(options.by);
  RowFilter filter(options.filters);
  std::vector<MergedRow> merged;
  merged.reserve(accounts.keys.size());
  RowIndex rows;
  rows.reserve(accounts.keys.size());
  for (size_t i = 0; i < accounts.keys.size(); ++i) {
    RowNames names = keys.name(accounts.keys[i]);
    if (!filter.passes(names)) continue;
    reduce(names, by);
    add_sums(shown, accounts.of(i));
    const size_t row = rows.find_or_add(NamesHash()(names), merged.size(), [&](size_t known) {
      return SameNames()(merged[known].names, names);
    });
    if (row == merged.size()) {
      merged.push_back({names, i, 0});
    } else {
      MergedRow& known = merged[row];
      add_sums(accounts.of(known.account), accounts.of(i));
      known.names.inlined = known.names.inlined && names.inlined;
      known.names.skid = known.names.skid || names.skid;
    }
  }
  return merged;
}

Levels needed_levels(const ReportOptions& options) {
  Levels levels = Levels::of(options.by);
  for (const Filter& filter : options.filters) levels.add(filter.level);
  return levels;
}

/// Sorts, keeps what the limit and the minimum leave, sums the rest.
void order_and_cut(const Profile& profile, Accounts& accounts, std::vector<MergedRow> merged,
                   const RowOrder& order, ReportTable& table) {
  const double minimum =
      table.totals.empty() ? 0 : table.totals[0].value * table.options.minimum_percent / 100;
  Sums rest(profile.events.size());
  std::vector<MergedRow*> kept;  // rows are large: sort where they are
  for (MergedRow& one : merged) {
    const std::span<const Sum> sums = accounts.of(one.account);
    if (!sums.empty() && to_value(profile.events[0], sums[0]).value < minimum) {
      add_sums(rest, sums);
    } else {
      one.rank = order.rank(profile.events, sums);
      kept.push_back(&one);
    }
  }
  const size_t shown =
      table.options.limit == 0 ? kept.size() : std::min(table.options.limit, kept.size());
  const auto cut = kept.begin() + static_cast<std::ptrdiff_t>(shown);
  std::partial_sort(kept.begin(), cut, kept.end(), [&](const MergedRow* a, const MergedRow* b) {
    return a->rank != b->rank ? a->rank > b->rank : order.names_before(a->names, b->names);
  });
  for (auto at = kept.begin(); at != cut; ++at) {
    ReportRow& row = table.rows.emplace_back(to_row((*at)->names));
    row.values = to_values(profile.events, accounts.of((*at)->account));
  }
  for (auto at = cut; at != kept.end(); ++at) add_sums(rest, accounts.of((*at)->account));
  table.rest_rows = merged.size() - shown;
  if (table.rest_rows > 0) table.rest = to_values(profile.events, rest);
}

}  // namespace

Result<ReportTable> make_report(const Profile& profile, const FactsLookup& facts,
                                const ReportOptions& options) {
  ASSIGN_OR_RETURN(const RowOrder order, make_row_order(profile, options.sort));
  ReportTable table;
  table.options = options;
  table.events = profile.events;
  table.event_names = distinct_event_names(profile);
  table.totals = to_values(profile.events, total_sums(profile));
  if (!options.filters.empty()) {
    table.remarks.push_back("only " + describe_filters(options.filters) +
                            "; percentages are of everything");
  }
  if (options.columns == Columns::executions) {
    RETURN_IF_ERROR(add_execution_columns(profile, table));
  }
  if (options.columns == Columns::events && options.tree == Tree::none) {
    add_two_run_columns(profile, table);
  }
  CodeIndex code(profile, facts);
  if (options.tree != Tree::none) {
    RETURN_IF_ERROR(make_tree(code, order, table));
    return table;
  }
  if (options.by.empty()) return Error{"a report needs at least one level to report by"};
  RowKeys keys(code, needed_levels(options));
  Accounts accounts = add_up(profile, keys);
  Sums shown(profile.events.size());
  std::vector<MergedRow> merged = name_and_merge(accounts, keys, options, shown);
  table.shown = to_values(profile.events, shown);
  order_and_cut(profile, accounts, std::move(merged), order, table);
  return table;
}

}  // namespace culprit
