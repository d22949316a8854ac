#include "cli/chosen_periods.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "collect/perf/perf_attr.h"
#include "collect/period.h"
#include "counts/count_table.h"
#include "model/event_names.h"

namespace culprit {
namespace {

/// More samples a second of CPU time would measure the sampling: each takes about 15 us.
constexpr double kMostPerSecond = 10'000;
constexpr uint64_t kShortestClockNs = 10'000;

/// "cycles:u" is of "u"; "cpu/event=0xc0/k" of "k": whose events are counted.
std::string counted_levels(std::string_view name) {
  const size_t end = name.find_last_of(":/");
  std::string levels;
  if (end == name.npos) return levels;
  for (const char c : name.substr(end + 1)) {
    if (c == 'u' || c == 'k' || c == 'h') levels += c;
  }
  std::sort(levels.begin(), levels.end());
  return levels;
}

class PeriodChooser {
 public:
  PeriodChooser(const Profile& counts, const PeriodChoice& choice)
      : counts_(counts), choice_(choice), table_(make_count_table(counts, {})) {}

  [[nodiscard]] bool has_counts() const { return !table_.rows.empty(); }

  Result<uint64_t> choose(const EventRequest& event) {
    ASSIGN_OR_RETURN(const double counted, find_count(event));
    const double seconds = table_.cpu_s.value_or(table_.elapsed_s);
    double samples = static_cast<double>(choice_.samples);
    if (seconds > 0 && samples > kMostPerSecond * seconds) {
      samples = std::max(1.0, kMostPerSecond * seconds);
      is_limited_ = true;
    }
    const double wanted = counted / samples;
    const uint64_t least = is_clock(event) ? kShortestClockNs : 1;
    if (wanted <= static_cast<double>(least)) return least;
    return find_prime_period(static_cast<uint64_t>(std::llround(wanted)));
  }

  [[nodiscard]] bool is_limited() const { return is_limited_; }

 private:
  /// Whether the counted event is this one, by its name or its code.
  [[nodiscard]] bool is_same(const Event& counted, const EventRequest& event) const {
    const std::string& name = counts_.strings.text(counted.name);
    if (name == event.name) return true;
    const std::optional<EventCode> code = parse_event_code(counts_.strings.text(counted.encoding));
    const EventCode wanted{event.type, event.config, event.config1, event.config2};
    return code == wanted && counted_levels(name) == counted_levels(event.name);
  }

  Result<double> find_count(const EventRequest& event) const {
    std::optional<std::string> found;
    for (const Event& counted : counts_.events) {
      if (!is_same(counted, event)) continue;
      found = counts_.strings.text(counted.name);
      break;
    }
    const std::string shown = printable(event.name);
    if (!found) {
      return Error{fmt::format("'{}' was not counted in {}\n-> culprit stat -e {} -o FILE PROGRAM",
                               shown, choice_.source, shown)};
    }
    double sum = 0;  // over threads, where they were told apart
    bool is_counted = false;
    for (const CountRow& row : table_.rows) {
      if (row.event != *found || !row.value) continue;
      sum += *row.value;
      is_counted = true;
    }
    if (is_counted) return sum;
    return Error{
        fmt::format("'{}' had no counter in {}: nothing tells its period", shown, choice_.source)};
  }

  const Profile& counts_;
  const PeriodChoice& choice_;
  CountTable table_;
  bool is_limited_ = false;
};

}  // namespace

Result<std::string> choose_periods(const Profile& counts, const PeriodChoice& choice,
                                   std::vector<EventGroup>& groups) {
  PeriodChooser chooser(counts, choice);
  if (!chooser.has_counts()) {
    return Error{
        fmt::format("{} has no counts of a whole run to choose periods from\n"
                    "-> culprit stat -e EVENTS -o FILE PROGRAM counts",
                    choice.source)};
  }
  std::vector<std::string> chosen;
  for (EventGroup& group : groups) {
    for (EventRequest& event : group.members) {
      if (choice.keeps_own && (event.period || event.frequency_hz)) continue;
      ASSIGN_OR_RETURN(const uint64_t period, chooser.choose(event));
      event.period = period;
      event.frequency_hz.reset();
      chosen.push_back(fmt::format("{} every {}{}", printable(event.name), format_thousands(period),
                                   is_clock(event) ? " ns" : ""));
    }
  }
  return fmt::format("{}; from {}, for {} samples of each{}", fmt::join(chosen, ", "),
                     choice.source, format_thousands(choice.samples),
                     chooser.is_limited() ? " but at most 10,000 a second" : "");
}

}  // namespace culprit
