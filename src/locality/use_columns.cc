#include "locality/use_columns.h"

#include <fmt/format.h>

#include "base/text.h"
#include "print/event_display.h"

namespace culprit {
namespace {

std::string fit_label(const std::string& cell, size_t width) {
  return elide_middle(cell, width);
}

std::string waits_of(const Use& use) {
  if (!(use.cycles > 0)) return "-";
  return fmt::format("{:.0f} %", 100 * use.waits / use.cycles);
}

}  // namespace

std::string format_percent(uint64_t part, uint64_t whole) {
  if (whole == 0) return "-";
  return fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string format_spatial(const LineUse& use, uint32_t line_bytes) {
  const auto percent = compute_spatial_percent(use, line_bytes);
  return percent ? fmt::format("{:.1f} %", *percent) : "-";
}

std::string format_temporal(const LineUse& use) {
  const auto temporal = compute_temporal_use(use);
  if (!temporal) return "-";
  return *temporal < 100 ? fmt::format("{:.2f}", *temporal) : format_si(*temporal);
}

std::string UseColumns::share(const Use& use) const {
  const double all = events_.value_of(totals_).value;
  if (!(all > 0)) return "-";
  return fmt::format("{:.1f} %", 100 * events_.value_of(use).value / all);
}

std::string UseColumns::describe_cost(const Use& use) const {
  const Value cost = events_.value_of(use);
  std::string text = fmt::format("{} {}  {}", format_si(cost.value), events_.heading(), share(use));
  if (events_.has_waits && use.cycles > 0) {
    text += fmt::format(", of its modelled cycles {} wait for data", waits_of(use));
  }
  return text;
}

std::vector<TextColumn> UseColumns::make(const std::vector<const Use*>& rows,
                                         const std::string& heading,
                                         const std::vector<std::string>& labels,
                                         size_t width) const {
  const std::string mark(1, events_.heading()[0]);
  const auto column = [&](const std::string& name, auto cell) {
    TextColumn made{name, true, nullptr, 1, {}};
    for (const Use* use : rows) made.cells.push_back(cell(*use));
    return made;
  };
  const auto miss = [&](size_t level) {
    return column(fmt::format("L{}miss", level + 1),
                  [=](const Use& use) { return format_percent(use.misses[level], use.accesses); });
  };
  std::vector<TextColumn> columns;
  columns.push_back(column(events_.heading(), [&](const Use& use) {
    const double value = events_.value_of(use).value;
    return value > 0 ? format_si(value) : std::string("-");
  }));
  columns.push_back(column(mark + "share", [&](const Use& use) { return share(use); }));
  if (events_.has_waits) columns.push_back(column("waits", waits_of));
  columns.push_back(column("=accesses", [](const Use& use) {
    return use.accesses == 0 ? std::string("-") : format_si(static_cast<double>(use.accesses));
  }));
  if (events_.has_misses) columns.push_back(miss(0));
  if (events_.has_misses && caches_.levels[1]) columns.push_back(miss(1));
  constexpr size_t kRoomForL3 = 110;
  if (events_.has_misses && caches_.levels[2] && width >= kRoomForL3) columns.push_back(miss(2));
  columns.push_back(column("spatial", [&](const Use& use) {
    return format_spatial(use.levels[level_], caches_.line_bytes);
  }));
  columns.push_back(
      column("temporal", [&](const Use& use) { return format_temporal(use.levels[level_]); }));
  columns.push_back({heading, false, fit_label, 2, labels});
  return columns;
}

}  // namespace culprit
