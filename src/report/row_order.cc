#include "report/row_order.h"

#include <array>
#include <cmath>
#include <fmt/format.h>
#include <tuple>
#include <vector>

#include "base/text.h"
#include "report/row_filter.h"

namespace culprit {

namespace {

constexpr std::array<const char*, 4> kValueColumns = {"cycles", "time", "share", "value"};
constexpr std::array kLevels = {RowLevel::process, RowLevel::comm,     RowLevel::thread,
                                RowLevel::module,  RowLevel::function, RowLevel::line,
                                RowLevel::loop,    RowLevel::block,    RowLevel::instruction,
                                RowLevel::object,  RowLevel::region};

/// The names of a ReportRow or of RowNames, whose fields are called alike.
template <class Row>
auto names_of(const Row& row) {
  return std::tie(row.process, row.process_id, row.thread, row.thread_id, row.module, row.function,
                  row.inlined, row.file, row.line, row.address, row.end_address, row.object,
                  row.region);
}

template <class Row>
bool level_before(RowLevel level, const Row& a, const Row& b) {
  switch (level) {
    case RowLevel::process:
      return std::tie(a.process, a.process_id) < std::tie(b.process, b.process_id);
    case RowLevel::comm:
      return a.process < b.process;
    case RowLevel::thread:
      return std::tie(a.thread, a.thread_id) < std::tie(b.thread, b.thread_id);
    case RowLevel::module:
      return a.module < b.module;
    case RowLevel::function:
      return a.function < b.function;
    case RowLevel::line:
      return std::tie(a.file, a.line) < std::tie(b.file, b.line);
    case RowLevel::loop:
    case RowLevel::block:
    case RowLevel::instruction:
      return std::tie(a.module, a.address) < std::tie(b.module, b.address);
    case RowLevel::object:
      return a.object < b.object;
    case RowLevel::region:
      return a.region < b.region;
  }
  return false;
}

template <class Row>
bool before_by_names(const std::optional<RowLevel>& level, const Row& a, const Row& b) {
  if (level) {
    if (level_before(*level, a, b)) return true;
    if (level_before(*level, b, a)) return false;
  }
  return names_of(a) < names_of(b);
}

}  // namespace

double RowOrder::rank(const Value& value) const {
  if (by_samples_) return static_cast<double>(value.samples);
  return std::isnan(value.value) ? 0 : value.value;  // a damaged profile may hold any scale
}

double RowOrder::rank(const std::vector<Value>& values) const {
  return level_ || event_ >= values.size() ? 0 : rank(values[event_]);
}

double RowOrder::rank(const std::vector<Event>& events, std::span<const Sum> sums) const {
  return level_ || event_ >= sums.size() ? 0 : rank(to_value(events[event_], sums[event_]));
}

bool RowOrder::names_before(const RowNames& a, const RowNames& b) const {
  return before_by_names(level_, a, b);
}

bool RowOrder::operator()(const ReportRow& a, const ReportRow& b) const {
  const double of_a = rank(a.values);
  const double of_b = rank(b.values);
  return of_a != of_b ? of_a > of_b : before_by_names(level_, a, b);
}

Result<RowOrder> make_row_order(const Profile& profile, const std::string& sort) {
  if (sort.empty() || sort == kInclusive) return RowOrder::by_value(0);
  std::vector<std::string> known;
  for (const char* column : kValueColumns) {
    if (sort == column) return RowOrder::by_value(0);
    known.emplace_back(column);
  }
  if (sort == "samples") return RowOrder::by_samples(0);
  known.emplace_back("samples");
  known.emplace_back(kInclusive);
  for (const RowLevel level : kLevels) {
    if (sort == level_name(level)) return RowOrder::by_level(level);
    known.emplace_back(level_name(level));
  }
  for (size_t event = 0; event < profile.events.size(); ++event) {
    const std::string& name = profile.strings.text(profile.events[event].name);
    if (sort == name) return RowOrder::by_value(event);
    known.push_back(name);
  }
  const std::string nearest = nearest_word(sort, known);
  return Error{fmt::format("cannot sort by '{}'{}", printable(sort),
                           nearest.empty() ? ": try cycles, samples or a level"
                                           : " (did you mean " + printable(nearest) + "?)")};
}

}  // namespace culprit
