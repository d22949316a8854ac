#include "locality/use_columns.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "print/event_display.h"
#include "stats/estimate.h"

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

std::string format_count(double count, const SampleError& error) {
  if (error.is_exact) return format_si(count);
  if (!error.half_width || !(count > 0)) return format_si(count) + " *";
  return fmt::format("{} ±{:.2g} %", format_si(count), 100 * *error.half_width / count);
}

std::string format_accesses(uint64_t accesses, double variance) {
  const auto count = static_cast<double>(accesses);
  const double half_width = kNormal95 * std::sqrt(variance);
  constexpr double kShown = 0.005;  // of the count: its digits show
  const bool is_shown = half_width >= kShown * count && accesses > 0;
  return is_shown ? format_count(count, {false, half_width}) : format_si(count);
}

std::string format_misses(uint64_t misses, double variance, uint64_t accesses,
                          const Caches& caches) {
  const bool is_exact = caches.sampling.one_of == 1 && !(variance > 0);
  if (is_exact || accesses == 0) return format_percent(misses, accesses);
  const auto all = static_cast<double>(accesses);
  const double half_width = kNormal95 * std::sqrt(variance);
  SampleError error{false, std::nullopt};  // no drawn set has seen any, or too few for their number
  if (variance > 0 && half_width < static_cast<double>(misses)) {
    error.half_width = 100 * half_width / all;
  }
  return format_estimate(100 * static_cast<double>(misses) / all, error, 1, " %");
}

std::string format_spatial(const LineUse& use, const Caches& caches) {
  const auto percent = compute_spatial_percent(use, caches.line_bytes);
  if (!percent) return "-";
  return format_estimate(*percent, estimate_spatial_error(use, caches), 1, " %");
}

std::string format_temporal(const LineUse& use, const Caches& caches) {
  const auto temporal = compute_temporal_use(use);
  if (!temporal) return "-";
  const SampleError error = estimate_temporal_error(use, caches);
  if (*temporal < 100) return format_estimate(*temporal, error, 2);
  if (error.is_exact) return format_si(*temporal);
  return format_si(*temporal) + (error.half_width ? "±" + format_si(*error.half_width) : "*");
}

std::string describe_sampling(const Caches& caches) {
  if (caches.sampling.one_of == 1) return "";
  return " ±: half of the 95 % interval, of a sample of the cache sets, where its digits show; *: "
         "seen in too few sets "
         "(in "
         "fewer than four random groups of them), so that the error is not known. TLBs and "
         "prefetchers are not covered: --sets all.";
}

std::string UseColumns::share(const Use& use) const {
  const bool is_measured = events_.cost == UseEvents::Cost::measured;
  if (!(all_ > 0) || (is_measured && use.cost.samples == 0)) return "-";
  return fmt::format("{:.1f} %", 100 * events_.value_of(use).value / all_);
}

std::string UseColumns::describe_cost(const Use& use) const {
  const Value cost = events_.value_of(use);
  std::string text = fmt::format("{} {}  {}", format_si(cost.value), events_.heading(), share(use));
  if (of_ == Of::code && events_.has_waits && use.cycles > 0) {
    text += fmt::format(", of its modelled cycles {} wait for data", waits_of(use));
  }
  return text;
}

std::string UseColumns::describe_gaps(const std::vector<const Use*>& rows, uint64_t samples) const {
  const bool is_measured = events_.cost == UseEvents::Cost::measured;
  bool has_no_samples = false;
  bool is_not_simulated = false;
  bool brings_nothing = false;
  for (const Use* const use : rows) {
    const bool was_simulated = use->cycles > 0 || use->accesses > 0;
    const bool brings = use->accesses > 0 && use->levels[level_].lines > 0;
    has_no_samples = has_no_samples || (is_measured && !(events_.value_of(*use).value > 0));
    is_not_simulated = is_not_simulated || !was_simulated;
    brings_nothing = brings_nothing || (was_simulated && !brings);
  }
  std::vector<std::string> words;
  if (has_no_samples) {
    words.push_back(fmt::format("in {} none of the {} samples is there (a longer run has more)",
                                events_.heading(), format_thousands(samples)));
  }
  if (is_not_simulated) {
    words.emplace_back("where only cycles stand it was not simulated, as the kernel never is");
  }
  if (brings_nothing) words.emplace_back("else no access is there, or none that brought a line in");
  return words.empty() ? "" : fmt::format("-: {}.", fmt::join(words, "; "));
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
    return column(fmt::format("L{}miss", level + 1), [&, level](const Use& use) {
      return format_misses(use.misses[level], use.miss_variance[level], use.accesses, caches_);
    });
  };
  std::vector<TextColumn> columns;
  columns.push_back(column(events_.heading(), [&](const Use& use) {
    const double value = events_.value_of(use).value;
    return value > 0 ? format_si(value) : std::string("-");
  }));
  columns.push_back(column(mark + "share", [&](const Use& use) { return share(use); }));
  if (of_ == Of::code && events_.has_waits) columns.push_back(column("waits", waits_of));
  const bool is_exact = std::all_of(rows.begin(), rows.end(),
                                    [](const Use* use) { return !(use->access_variance > 0); });
  columns.push_back(column(is_exact ? "=accesses" : "~accesses", [](const Use& use) {
    return use.accesses == 0 ? "-" : format_accesses(use.accesses, use.access_variance);
  }));
  if (events_.has_misses) columns.push_back(miss(0));
  if (events_.has_misses && caches_.levels[1]) columns.push_back(miss(1));
  constexpr size_t kRoomForL3 = 110;
  if (events_.has_misses && caches_.levels[2] && width >= kRoomForL3) columns.push_back(miss(2));
  columns.push_back(column(
      "spatial", [&](const Use& use) { return format_spatial(use.levels[level_], caches_); }));
  columns.push_back(column(
      "temporal", [&](const Use& use) { return format_temporal(use.levels[level_], caches_); }));
  columns.push_back({heading, false, fit_label, 2, labels});
  return columns;
}

}  // namespace culprit
