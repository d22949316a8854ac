#include "why/cost_columns.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <utility>

#include "accounting/cost_tree.h"
#include "accounting/event_match.h"
#include "accounting/wordless_cost_tree.h"
#include "base/text.h"
#include "model/event_names.h"
#include "print/event_display.h"
#include "why/why_parts.h"

namespace culprit {
namespace {

/// A column, by its way from the root of a tree: the same in the tree of every row.
struct Column {
  std::vector<size_t> path;  // part numbers
  std::string name;
  bool is_count = false;  // events, not cycles
};

const CostNode& node_at(const CostNode& root, const std::vector<size_t>& path) {
  const CostNode* node = &root;
  for (const size_t part : path) node = &node->parts[part];
  return *node;
}

void add_columns(const CostNode& node, std::vector<size_t>& path, const CostColumns& wanted,
                 std::vector<Column>& columns) {
  const bool in_detail = wanted.detail && node.branch == *wanted.detail;
  const bool is_top = node.kind == NodeKind::level || node.kind == NodeKind::branch;
  const bool is_wanted = wanted.detail ? in_detail || node.branch == CostBranch::unhalted : is_top;
  if (is_wanted && (is_top || in_detail)) {
    if (node.cycles) {
      columns.push_back({path, node.label, false});
    } else if (node.amount) {
      columns.push_back({path, node.label, true});
    }
  }
  for (size_t part = 0; part < node.parts.size(); ++part) {
    if (node.kind == NodeKind::level && node.parts[part].kind == NodeKind::event) continue;
    path.push_back(part);
    add_columns(node.parts[part], path, wanted, columns);
    path.pop_back();
  }
}

/// Values of a row's events → values of its columns.
class Converter {
 public:
  Converter(const Profile& profile, const Template& cpu, const CostColumns& wanted,
            const std::vector<Value>& totals)
      : cpu_(cpu), match_(match_events(profile, cpu)) {
    if (const ClockCalibration* clock = find_clock(profile.machine)) options_.hertz = clock->hertz;
    total_ = make_cost_tree(cpu_, amounts_of(totals), options_);
    std::vector<size_t> path;
    add_columns(total_.unhalted, path, wanted, columns_);
    for (size_t row = 0; row < cpu.rows.size() && samples_of_.empty(); ++row) {
      if (cpu.rows[row].branch == CostBranch::unhalted && match_.is_measured(row)) {
        for (const EventMatch::Part& part : match_.parts(row)) samples_of_.push_back(part.event);
      }
    }
  }

  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  [[nodiscard]] const CostTree& total() const { return total_; }
  [[nodiscard]] const EventMatch& match() const { return match_; }

  [[nodiscard]] std::vector<Value> convert(const std::vector<Value>& events) const {
    const CostTree tree = make_wordless_cost_tree(cpu_, amounts_of(events), options_);
    std::vector<Value> values;
    for (const Column& column : columns_) {
      const CostNode& node = node_at(tree.unhalted, column.path);
      const std::optional<Estimate> estimate =
          column.is_count && node.amount ? std::optional(node.amount->events) : node.cycles;
      Value value;
      if (estimate) value = {0, estimate->value, estimate->standard_error};
      // Shares of the cycles have the error that their samples give them.
      if (node.branch == CostBranch::unhalted) value.samples = samples(events);
      values.push_back(value);
    }
    return values;
  }

 private:
  [[nodiscard]] RowAmounts amounts_of(const std::vector<Value>& values) const {
    std::vector<Estimate> estimates;
    for (const Value& value : values) estimates.push_back({value.value, value.error});
    return match_.amounts(estimates);
  }

  [[nodiscard]] uint64_t samples(const std::vector<Value>& events) const {
    uint64_t sum = 0;
    for (const size_t event : samples_of_) sum += events[event].samples;
    return sum;
  }

  const Template& cpu_;
  EventMatch match_;
  CostOptions options_;
  CostTree total_;
  std::vector<Column> columns_;
  std::vector<size_t> samples_of_;
};

/// What stands in for the profile: all but its counts, with the columns as events.
Profile make_head(const Profile& profile, const Converter& converter) {
  Profile head;
  head.machine = profile.machine;
  head.environment = profile.environment;
  head.strings = profile.strings;
  head.runs = profile.runs;
  head.processes = profile.processes;
  head.threads = profile.threads;
  head.ledger = profile.ledger;
  for (const Column& column : converter.columns()) {
    const CostNode& node = node_at(converter.total().unhalted, column.path);
    Event event;
    event.name = head.strings.intern(column.name);
    event.unit = column.is_count ? Unit::events : Unit::cycles;
    event.provenance = column.is_count ? node.amount->provenance : node.provenance;
    event.engine = head.strings.intern("template");
    head.events.push_back(event);
  }
  return head;
}

std::vector<Value> add(std::vector<Value> sum, const std::vector<Value>& more) {
  if (sum.empty()) return more;
  for (size_t i = 0; i < sum.size(); ++i) {
    sum[i].samples += more[i].samples;
    sum[i].value += more[i].value;
    sum[i].error = std::hypot(sum[i].error, more[i].error);
  }
  return sum;
}

/// "load latency" is also "load_latency".
bool is_same_word(std::string a, std::string b) {
  std::replace(a.begin(), a.end(), '_', ' ');
  std::replace(b.begin(), b.end(), '_', ' ');
  return a == b;
}

const char* short_name(CostBranch branch) {
  static constexpr const char* kNames[] = {"cycles", "stalled", "unstalled", "load",    "bandw.",
                                           "starv.", "latency", "store",     "threads", "mispred.",
                                           "ports",  "calls",   "serial",    "ucode",   "general"};
  static_assert(std::size(kNames) == kBranches);
  return kNames[static_cast<size_t>(branch)];
}

/// What people read: cycles, and the shares of them that went to each branch (or part of a branch),
/// the largest first; what only informs comes last. JSON and CSV have all as values.
void choose_text_columns(const std::vector<Column>& columns, const CostTree& total,
                         ReportTable& table) {
  constexpr double kLeastShare = 0.005;
  table.shown_events = {{0, "cycles"}};
  std::vector<size_t> shares;
  std::vector<size_t> counts;
  for (size_t i = 1; i < columns.size(); ++i) {
    const CostNode& node = node_at(total.unhalted, columns[i].path);
    if (columns[i].is_count) {
      counts.push_back(i);
    } else if (node.kind != NodeKind::level &&
               table.totals[i].value >= kLeastShare * table.totals[0].value) {
      shares.push_back(i);
    }
  }
  std::stable_sort(shares.begin(), shares.end(), [&](size_t a, size_t b) {
    return table.totals[a].value > table.totals[b].value;
  });
  for (const size_t i : shares) {
    const CostNode& node = node_at(total.unhalted, columns[i].path);
    table.derived.push_back(
        {columns[i].name + " share",
         node.kind == NodeKind::branch ? short_name(node.branch) : columns[i].name,
         DerivedColumn::Form::share,
         [i](const std::vector<Value>& values) -> std::optional<Estimate> {
           if (!(values[0].value > 0)) return std::nullopt;
           return Estimate{values[i].value / values[0].value, values[i].error / values[0].value};
         },
         node.provenance});
  }
  for (const size_t i : counts) {
    table.derived.push_back({columns[i].name + " count", columns[i].name,
                             DerivedColumn::Form::amount,
                             [i](const std::vector<Value>& values) -> std::optional<Estimate> {
                               return Estimate{values[i].value, values[i].error};
                             },
                             table.events[i].provenance});
  }
}

/// The column to sort by, if `sort` names one.
std::optional<size_t> find_column(const std::vector<Column>& columns, const std::string& sort) {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (is_same_word(columns[i].name, sort)) return i;
  }
  return std::nullopt;
}

}  // namespace

Result<CostReport> make_cost_report(const Profile& profile, const FactsLookup& facts,
                                    const Template& cpu, const ReportOptions& options,
                                    const CostColumns& columns) {
  if (options.tree != Tree::none) return Error{"call trees have events as columns, not costs"};
  ReportOptions all = options;
  all.limit = 0;
  all.sort.clear();
  all.names_hottest = false;  // by cycles, below
  ASSIGN_OR_RETURN(ReportTable events, make_report(profile, facts, all));
  const Converter converter(profile, cpu, columns, events.totals);
  if (converter.columns().empty()) {
    return Error{"this profile has no cycles: culprit report shows what it has",
                 ErrorKind::not_found};
  }
  std::optional<size_t> sort_column = 0;
  if (!options.sort.empty()) sort_column = find_column(converter.columns(), options.sort);
  if (!sort_column) {
    // A level, or an event: as without costs.
    all.sort = options.sort;
    ASSIGN_OR_RETURN(events, make_report(profile, facts, all));
  }

  CostReport report{make_head(profile, converter), std::move(events)};
  ReportTable& table = report.table;
  table.options = options;
  std::vector<std::vector<Value>> of_events;
  for (ReportRow& row : table.rows) of_events.push_back(std::exchange(row.values, {}));
  std::vector<size_t> order(table.rows.size());
  for (size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
    table.rows[i].values = converter.convert(of_events[i]);
  }
  if (sort_column) {
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return table.rows[a].values[*sort_column].value > table.rows[b].values[*sort_column].value;
    });
  }
  const size_t shown = options.limit == 0 ? order.size() : std::min(options.limit, order.size());
  std::vector<Value> rest_events = table.rest;  // below the minimum
  for (size_t i = shown; i < order.size(); ++i) {
    rest_events = add(std::move(rest_events), of_events[order[i]]);
  }
  std::vector<ReportRow> rows;
  for (size_t i = 0; i < shown; ++i) rows.push_back(std::move(table.rows[order[i]]));
  table.rows = std::move(rows);
  table.rest_rows += order.size() - shown;
  table.rest = table.rest_rows == 0 ? std::vector<Value>() : converter.convert(rest_events);
  table.totals = converter.convert(table.totals);
  table.shown = converter.convert(table.shown);
  table.events = report.head.events;
  table.event_names = distinct_event_names(report.head);
  choose_text_columns(converter.columns(), converter.total(), table);
  table.remarks.push_back(
      "cycles, and the share of them that went to each branch; by the template " +
      describe_template(cpu));
  for (const std::string& sentence : describe_missing(profile, converter.total())) {
    table.remarks.push_back("not here, or not all: " + sentence);
  }
  for (const std::string& remark : converter.match().remarks()) table.remarks.push_back(remark);
  if (options.names_hottest) name_hottest(profile, facts, table);
  return report;
}

}  // namespace culprit
