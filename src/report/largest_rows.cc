#include "report/largest_rows.h"

#include <algorithm>
#include <numeric>
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

/// What a function or a line is told by. Of a line that is known, neither the function nor whether
/// it is inlined.
struct GroupNames {
  Name function;
  Name file;
  uint32_t line = 0;
  bool inlined = false;
  friend bool operator==(const GroupNames&, const GroupNames&) = default;
};

struct GroupNamesHash {
  size_t operator()(const GroupNames& one) const noexcept {
    uint64_t hash = uint64_t{one.line} << 1 | uint64_t{one.inlined};
    for (const Name name : {one.function, one.file}) {
      hash = (hash ^ std::hash<Name>()(name)) * 0x9e3779b97f4a7c15;
      hash ^= hash >> 29;
    }
    return static_cast<size_t>(hash);
  }
};

GroupNames function_of(const RowNames& row) {
  return {row.function, {}, 0, row.function && row.inlined};
}

GroupNames line_of(const RowNames& row) {
  return row.line ? GroupNames{{}, row.file, *row.line, false} : function_of(row);
}

/// Rows with equal names are one group.
struct Groups {
  std::vector<uint32_t> of_row;
  std::vector<GroupNames> names;
  RowIndex index;

  void add(const GroupNames& row) {
    const size_t group = index.find_or_add(GroupNamesHash()(row), names.size(),
                                           [&](size_t one) { return names[one] == row; });
    if (group == names.size()) names.push_back(row);
    of_row.push_back(static_cast<uint32_t>(group));
  }

  /// The rows, those of a group together. Shape:  begins [group + 1], rows [row]
  struct Ordered {
    std::vector<uint32_t> begins;
    std::vector<uint32_t> rows;
  };
  [[nodiscard]] Ordered order() const {
    Ordered ordered{std::vector<uint32_t>(names.size() + 1), std::vector<uint32_t>(of_row.size())};
    for (const uint32_t group : of_row) ++ordered.begins[group + 1];
    std::partial_sum(ordered.begins.begin(), ordered.begins.end(), ordered.begins.begin());
    std::vector<uint32_t> next = ordered.begins;
    for (uint32_t row = 0; row < of_row.size(); ++row) ordered.rows[next[of_row[row]]++] = row;
    return ordered;
  }
};

/// The names by which rows with equal values are ordered.
RowNames to_row_names(const GroupNames& names) {
  RowNames row;
  row.function = names.function;
  row.file = names.file;
  if (names.line != 0) row.line = names.line;
  row.inlined = names.inlined;
  return row;
}

std::string_view text_of(Name name) {
  return name ? std::string_view(*name) : std::string_view();
}

LargestRowNames to_texts(const GroupNames& names) {
  return {text_of(names.function), names.inlined, text_of(names.file), names.line};
}

LargestRow to_largest(const GroupNames& names, double share) {
  const LargestRowNames texts = to_texts(names);
  return {std::string(texts.function), texts.inlined, std::string(texts.file), texts.line, share};
}

}  // namespace

struct LargestRows::State {
  State(const Profile& counts, const FactsLookup& facts, const std::vector<Filter>& filters, Of of)
      : profile(counts),
        code(counts, facts),
        keys(code, needed_levels(filters, of),
             name_lines(filters) ? FrameChoice::innermost : FrameChoice::own, filters),
        accounts(add_up(profile, keys)) {
    RowFilter filter(filters);
    for (size_t account = 0; account < accounts.keys.size(); ++account) {
      const RowNames names = keys.name(accounts.keys[account]);
      if (!filter.passes(names)) continue;
      rows.push_back(static_cast<uint32_t>(account));
      functions.add(function_of(names));
      if (of == Of::functions_and_lines) lines.add(line_of(names));
    }
    by_function = functions.order();
  }

  /// The group with most of the event, among some of `rows`.
  std::optional<LargestRow> find(const Groups& groups, size_t event,
                                 std::vector<uint32_t> among) const {
    if (groups.names.empty()) return std::nullopt;
    std::ranges::stable_sort(among, {}, [&](uint32_t row) { return groups.of_row[row]; });
    const auto value = [&](const Sum& sum) { return to_value(profile.events[event], sum).value; };
    const RowOrder order = RowOrder::by_value(event);
    Sum all;
    double most = 0;
    std::optional<GroupNames> largest;
    for (size_t begin = 0, end = 0; begin < among.size(); begin = end) {
      const uint32_t group = groups.of_row[among[begin]];
      Sum sum;
      for (; end < among.size() && groups.of_row[among[end]] == group; ++end) {
        sum += accounts.of(rows[among[end]], event);
      }
      all += sum;
      const GroupNames& names = groups.names[group];
      const double ours = value(sum);
      const bool is_more =
          !largest || ours > most ||
          (ours == most && order.names_before(to_row_names(names), to_row_names(*largest)));
      if (!is_more) continue;
      most = ours;
      largest = names;
    }
    if (!(value(all) > 0)) return std::nullopt;
    return to_largest(*largest, most / value(all));
  }

  [[nodiscard]] std::vector<uint32_t> all_rows() const {
    std::vector<uint32_t> all(rows.size());
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  void sum(const Groups& groups, const Groups::Ordered& ordered, const VisitSums& visit) const {
    Sums sums(profile.events.size());
    std::vector<Value> values(sums.size());
    for (size_t group = 0; group < groups.names.size(); ++group) {
      std::ranges::fill(sums, Sum());
      for (uint32_t at = ordered.begins[group]; at < ordered.begins[group + 1]; ++at) {
        add_sums(sums, accounts.of(rows[ordered.rows[at]]));
      }
      for (size_t event = 0; event < sums.size(); ++event) {
        values[event] = to_value(profile.events[event], sums[event]);
      }
      visit(to_texts(groups.names[group]), values);
    }
  }

  const Profile& profile;
  CodeIndex code;
  RowKeys keys;
  const Accounts accounts;
  std::vector<uint32_t> rows;  // accounts that the filters leave
  Groups functions;            // of the rows
  Groups lines;
  Groups::Ordered by_function;
};

LargestRows::LargestRows(const Profile& profile, const FactsLookup& facts,
                         const std::vector<Filter>& filters, Of of)
    : state_(std::make_unique<State>(profile, facts, filters, of)) {}

LargestRows::~LargestRows() = default;

std::optional<LargestRow> LargestRows::find_function(size_t event) const {
  return state_->find(state_->functions, event, state_->all_rows());
}

std::optional<LargestRow> LargestRows::find_line(size_t event) const {
  return state_->find(state_->lines, event, state_->all_rows());
}

std::optional<LargestRow> LargestRows::find_line_within(const std::string& function,
                                                        size_t event) const {
  const Groups& functions = state_->functions;
  const Groups::Ordered& ordered = state_->by_function;
  std::vector<uint32_t> within;
  for (size_t group = 0; group < functions.names.size(); ++group) {
    const Name name = functions.names[group].function;
    if (!name || *name != function) continue;
    within.insert(within.end(), ordered.rows.begin() + ordered.begins[group],
                  ordered.rows.begin() + ordered.begins[group + 1]);
  }
  return state_->find(state_->lines, event, std::move(within));
}

void LargestRows::sum_functions(const VisitSums& visit) const {
  state_->sum(state_->functions, state_->by_function, visit);
}

void LargestRows::sum_lines(const VisitSums& visit) const {
  state_->sum(state_->lines, state_->lines.order(), visit);
}

std::string LargestRows::make_words(const LargestRowNames& function) const {
  const std::string name(function.function);
  return can_annotate(name) ? make_next_words(state_->code, {name, function.inlined, ""}) : "";
}

}  // namespace culprit
