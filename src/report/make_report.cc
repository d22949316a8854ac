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

#include "base/row_index.h"
#include "base/text.h"
#include "model/counts.h"
#include "model/event_names.h"
#include "print/event_display.h"
#include "print/values.h"
#include "report/add_up.h"
#include "report/execution_columns.h"
#include "report/frequency_columns.h"
#include "report/inclusive.h"
#include "report/nameless.h"
#include "report/next_function.h"
#include "report/object_columns.h"
#include "report/report.h"
#include "report/row_filter.h"
#include "report/row_key.h"
#include "report/row_order.h"
#include "report/tree.h"
#include "report/two_run_columns.h"

namespace culprit {

namespace {

/// Drops the names that were needed by filters only.
void reduce(RowNames& row, const Levels& by) {
  if (!by.names_process()) row.process = {};
  if (!by.process) row.process_id.reset();
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
  if (!by.object) row.object = {};
  if (!by.region) row.region = {};
  row.region_path = {};
  if (!by.address()) {
    row.address.reset();
    row.end_address.reset();
  }
  if (!by.code()) row.inlined = false;
  row.skid = by.instruction || row.inlined;
}

struct MergedRow {
  RowNames names;
  size_t account = 0;      // the first of its accounts: has the sums of all
  double rank = 0;         // what decides the order before names do
  bool is_hidden = false;  // only a caller, and callers are not asked for
};

/// Rows by their names.
class Merger {
 public:
  Merger(RowKeys& keys, const ReportOptions& options)
      : keys_(keys), by_(Levels::of(options.by)), filter_(options.filters) {}

  void merge(Accounts& accounts, Sums& shown) {
    rows_.reserve(accounts.keys.size());
    index_.reserve(accounts.keys.size());
    for (size_t i = 0; i < accounts.keys.size(); ++i) {
      const std::optional<RowNames> names = name(accounts.keys[i]);
      if (!names) continue;
      add_sums(shown, accounts.of(i));
      const size_t row = find_or_add(*names, i);
      MergedRow& known = rows_[row];
      if (known.account == i) continue;
      add_sums(accounts.of(known.account), accounts.of(i));
      known.names.inlined = known.names.inlined && names->inlined;
      known.names.skid = known.names.skid || names->skid;
    }
  }

  /// The row of code that stands above samples; of none of its own it is a new row if `adds`.
  std::optional<size_t> find_caller(const RowKey& key, bool adds, Accounts& accounts) {
    const std::optional<RowNames> names = name(key);
    if (!names) return std::nullopt;
    const size_t known = rows_.size();
    const size_t row = find_or_add(*names, accounts.keys.size());
    if (row < known) return row;
    accounts.add(key);
    rows_.back().is_hidden = !adds;
    return row;
  }

  std::vector<MergedRow>& rows() { return rows_; }

 private:
  std::optional<RowNames> name(const RowKey& key) {
    RowNames names = keys_.name(key);
    if (!filter_.passes(names)) return std::nullopt;
    reduce(names, by_);
    return names;
  }

  size_t find_or_add(const RowNames& names, size_t account) {
    const size_t row = index_.find_or_add(NamesHash()(names), rows_.size(), [&](size_t known) {
      return SameNames()(rows_[known].names, names);
    });
    if (row == rows_.size()) rows_.push_back({names, account, 0, false});
    return row;
  }

  RowKeys& keys_;
  Levels by_;
  RowFilter filter_;
  std::vector<MergedRow> rows_;
  RowIndex index_;
};

Levels needed_levels(const ReportOptions& options) {
  Levels levels = Levels::of(options.by);
  for (const Filter& filter : options.filters) levels.add(filter.level);
  return levels;
}

/// Own samples and those of what was called, of a row with stacks.
std::vector<Sum> with_callees(std::span<const Sum> own, std::span<const Sum> callers, size_t row) {
  std::vector<Sum> sums(own.begin(), own.end());
  const size_t first = row * own.size();
  for (size_t event = 0; event < own.size() && first + event < callers.size(); ++event) {
    sums[event] += callers[first + event];
  }
  return sums;
}

/// Sorts, keeps what the limit and the minimum leave, sums the rest. `callers`: what rows hold
/// beyond their own (rows x events); none: without stacks.
void order_and_cut(const Profile& profile, Accounts& accounts, std::vector<MergedRow>& merged,
                   const std::optional<std::vector<Sum>>& callers, const RowOrder& order,
                   ReportTable& table) {
  const double minimum =
      table.totals.empty() ? 0 : table.totals[0].value * table.options.minimum_percent / 100;
  Sums rest(profile.events.size());
  std::vector<MergedRow*> kept;  // rows are large: sort where they are
  size_t rows = 0;
  const bool by_inclusive = callers && table.options.sort == kInclusive;
  for (MergedRow& one : merged) {
    if (one.is_hidden) continue;
    ++rows;
    const std::span<const Sum> own = accounts.of(one.account);
    std::vector<Sum> all;
    if (by_inclusive) all = with_callees(own, *callers, static_cast<size_t>(&one - merged.data()));
    const std::span<const Sum> sums = by_inclusive ? std::span<const Sum>(all) : own;
    if (!sums.empty() && to_value(profile.events[0], sums[0]).value < minimum) {
      add_sums(rest, own);
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
  table.rows.reserve(shown);
  for (auto at = kept.begin(); at != cut; ++at) {
    ReportRow& row = table.rows.emplace_back(to_row((*at)->names));
    const std::span<const Sum> own = accounts.of((*at)->account);
    row.values = to_values(profile.events, own);
    if (!callers) continue;
    const auto index = static_cast<size_t>(*at - merged.data());
    row.inclusive = to_values(profile.events, with_callees(own, *callers, index));
  }
  for (auto at = cut; at != kept.end(); ++at) add_sums(rest, accounts.of((*at)->account));
  table.rest_rows = rows - shown;
  if (table.rest_rows > 0) table.rest = to_values(profile.events, rest);
}

/// The counts of whole runs, one for each event: the mean of the repetitions, made up for the time
/// in which an event shared its counter.
std::vector<Value> totals_of_counts(const Profile& profile) {
  std::vector<Value> totals(profile.events.size());
  uint32_t repetitions = 1;
  for (const Count& count : profile.counts) {
    const size_t event = count.event.value;
    repetitions = std::max(repetitions, count.repetition + 1);
    if (event >= totals.size()) continue;
    const bool is_shared =
        count.time_running_ns > 0 && count.time_running_ns < count.time_enabled_ns;
    const double factor = is_shared ? static_cast<double>(count.time_enabled_ns) /
                                          static_cast<double>(count.time_running_ns)
                                    : 1;
    totals[event].value += static_cast<double>(count.value) * profile.events[event].scale * factor;
  }
  for (Value& total : totals) total.value /= repetitions;
  return totals;
}

/// Errors: an event to be shown that the profile does not have
Result<void> check_events(const Profile& profile, const ReportOptions& options) {
  std::vector<std::string> known;
  for (const Event& event : profile.events) known.push_back(profile.strings.text(event.name));
  for (const std::string& wanted : options.events) {
    if (std::find(known.begin(), known.end(), wanted) != known.end()) continue;
    const std::string nearest = nearest_word(wanted, known);
    return Error{
        fmt::format("this profile has no event '{}'{}", printable(wanted),
                    nearest.empty() ? "" : fmt::format(" (did you mean {}?)", printable(nearest)))};
  }
  return {};
}

/// The value of the row's own code. In a tree by callers the topmost rows are the sampled
/// functions, and callers are below.
double own_value(const ReportTable& table, const ReportRow& row) {
  const bool has_self = table.options.tree == Tree::callees && !row.self.empty();
  return has_self ? row.self[0].value : row.values[0].value;
}

/// Says how to open the row with most.
void find_hottest(CodeIndex& code, ReportTable& table) {
  if (table.events.empty()) return;
  const ReportRow* hottest = nullptr;
  for (const ReportRow& row : table.rows) {
    if (!row.function || !can_annotate(*row.function)) continue;
    if (hottest == nullptr || own_value(table, row) > own_value(table, *hottest)) hottest = &row;
  }
  if (hottest == nullptr) return;
  table.hottest =
      make_next_words(code, {*hottest->function, hottest->inlined, hottest->module.value_or("")});
}

/// What a first user does not know, each only where it matters.
void add_hints(CodeIndex& code, ReportTable& table) {
  const bool is_of_functions = table.options.by == std::vector{RowLevel::function};
  if (!is_of_functions || table.options.columns != Columns::events || table.events.empty()) return;
  if (const std::string nameless = describe_nameless(code, 0); !nameless.empty()) {
    table.ledger.note(nameless);
  }
  if (!code.profile().tenures.empty() && table.options.filters.empty()) {
    table.remarks.emplace_back(
        "what became of cache lines was recorded, too: culprit locality shows it by statement, "
        "culprit data by data object");
  }
}

}  // namespace

void name_hottest(const Profile& profile, const FactsLookup& facts, ReportTable& table) {
  CodeIndex code(profile, facts);
  find_hottest(code, table);
}

bool is_counts_only(const Profile& profile) {
  return !profile.counts.empty() &&
         std::all_of(profile.histograms.begin(), profile.histograms.end(),
                     [](const Histogram& one) { return one.offsets.empty(); });
}

Result<ReportTable> make_report(const Profile& profile, const FactsLookup& facts,
                                const ReportOptions& options) {
  ASSIGN_OR_RETURN(RowOrder order, make_row_order(profile, options.sort));
  ReportTable table;
  table.options = options;
  table.events = profile.events;
  table.event_names = distinct_event_names(profile);
  table.totals = to_values(profile.events, total_sums(profile));
  if (is_counts_only(profile)) {
    table.totals = table.shown = totals_of_counts(profile);
    table.remarks.emplace_back("counts of whole runs: no part of the program has them by itself");
    table.ledger = profile.ledger;
    return table;
  }
  RETURN_IF_ERROR(check_events(profile, options));
  if (!options.filters.empty()) {
    table.remarks.push_back("only " + describe_filters(options.filters) +
                            "; percentages are of everything");
  }
  if (options.columns == Columns::executions) {
    RETURN_IF_ERROR(add_execution_columns(profile, table));
  }
  if (options.columns == Columns::frequency) {
    RETURN_IF_ERROR(add_frequency_columns(profile, table));
  }
  if (options.columns == Columns::events && options.tree == Tree::none) {
    add_two_run_columns(profile, table);
  }
  if (options.columns == Columns::events && options.tree == Tree::none) {
    RETURN_IF_ERROR(add_object_columns(profile, table, order));
  }
  table.ledger = profile.ledger;
  if (const uint64_t broken = count_broken_stacks(profile); broken > 0) {
    table.ledger.note(
        fmt::format("the stacks of {} samples lead to no code: most code is built without frame "
                    "pointers (culprit record --call-graph dwarf does without)",
                    format_thousands(broken)));
  }
  CodeIndex code(profile, facts);
  if (options.tree != Tree::none) {
    RETURN_IF_ERROR(make_tree(code, order, table));
    if (options.names_hottest) find_hottest(code, table);
    return table;
  }
  if (options.by.empty()) return Error{"a report needs at least one level to report by"};
  RowKeys keys(code, needed_levels(options), options.frames, options.filters);
  Accounts accounts = add_up(profile, keys);
  Sums shown(profile.events.size());
  Merger merger(keys, options);
  merger.merge(accounts, shown);
  table.shown = to_values(profile.events, shown);
  std::optional<std::vector<Sum>> callers;
  if (has_inclusive(profile, Levels::of(options.by)) && options.columns == Columns::events) {
    const bool adds = options.sort == kInclusive;
    callers.emplace();
    add_callers(
        code, keys, needed_levels(options),
        [&](const RowKey& key) { return merger.find_caller(key, adds, accounts); }, *callers);
  } else if (options.sort == kInclusive) {
    return Error{
        "this report has no inclusive column: it takes call stacks (culprit record -g), by "
        "function, line, module or process"};
  }
  order_and_cut(profile, accounts, merger.rows(), callers, order, table);
  if (options.names_hottest) find_hottest(code, table);
  add_hints(code, table);
  return table;
}

}  // namespace culprit
