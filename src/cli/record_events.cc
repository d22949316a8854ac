#include "cli/record_events.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <linux/perf_event.h>

#include "base/names.h"
#include "base/text.h"
#include "cli/chosen_periods.h"
#include "cli/template_events.h"
#include "collect/period.h"
#include "host/capabilities_probe.h"
#include "host/describe_machine.h"
#include "store/profile_file.h"

namespace culprit {

namespace {

constexpr uint64_t kShortestPeriodNs = 10'000;  // of cpu-clock: shorter ones are refused
constexpr uint64_t kLongestPeriodNs = 10'000'000'000;

bool is_time(const std::vector<EventGroup>& groups) {
  if (groups.size() != 1 || groups[0].members.size() != 1) return false;
  const EventRequest& event = groups[0].members[0];
  return event.type == PERF_TYPE_SOFTWARE && event.config == PERF_COUNT_SW_CPU_CLOCK;
}

// A verdict needs samples, and what is simulated runs shortly: so many where a sample takes no more
// than 15 us, which is 5 % of the time. Prime, so not in step with anything.
constexpr uint64_t kDensePeriodNs = 312'007;
constexpr double kMostOfTime = 0.05;

/// Under some hypervisors a timer's interrupt takes 40 us and more: cycles measured at kilohertz
/// would be theirs as well as the program's.
void choose_time_beside_model(bool is_asked, RecordOptions& options) {
  constexpr double kNegligible = 0.01;  // of the time: below it the measurement says little
  const double cost_ns = measure_sample_cost_ns().value_or(0);
  if (!is_asked) {
    options.period_ns =
        std::max(kDensePeriodNs, static_cast<uint64_t>(std::ceil(cost_ns / kMostOfTime)));
  }
  const double share = cost_ns / static_cast<double>(options.period_ns);
  if (share > kNegligible && share < 0.5) options.sample_cost_ns = cost_ns;
}

/// `own`: the period that the event says.
Result<void> choose_time(const RecordCommand& command, std::optional<uint64_t> own,
                         RecordOptions& options) {
  const std::optional<uint64_t> period = own ? own : command.period;
  if (period) {
    if (*period < kShortestPeriodNs || *period > kLongestPeriodNs) {
      return Error{
          fmt::format("cannot sample time every {} ns: a period is from {} to {} for cpu-clock",
                      *period, kShortestPeriodNs, kLongestPeriodNs)};
    }
    options.period_ns = *period;
  } else if (command.frequency_hz) {
    options.period_ns = period_for_frequency_ns(*command.frequency_hz);
  }
  if (options.engine == EngineChoice::timer_and_simulate) {
    choose_time_beside_model(period || command.frequency_hz, options);
  }
  return {};
}

/// Periods that follow from what was counted.
Result<void> choose_by_counts(const RecordCommand& command, RecordOptions& options) {
  if (options.groups.empty()) {
    return Error{"--periods-from is of events: name them with -e, or --template"};
  }
  ASSIGN_OR_RETURN(ProfileReader reader, ProfileReader::open(command.counts));
  ASSIGN_OR_RETURN(const Profile counts, reader.read_profile());
  PeriodChoice choice;
  choice.source = printable(base_name(command.counts));
  if (command.samples) choice.samples = *command.samples;
  choice.keeps_own = command.cpu.empty();
  ASSIGN_OR_RETURN(options.chosen_periods, choose_periods(counts, choice, options.groups));
  return {};
}

/// A tracepoint is sampled each time, unless somebody says how often: as perf does.
void set_rates(const RecordCommand& command, RecordOptions& options) {
  options.event_period = command.period.value_or(0);
  if (command.frequency_hz) {
    options.event_frequency_hz =
        std::max<uint64_t>(1, static_cast<uint64_t>(std::llround(*command.frequency_hz)));
  }
  if (command.period || command.frequency_hz) return;
  for (EventGroup& group : options.groups) {
    for (EventRequest& event : group.members) {
      const bool is_open = !event.period && !event.frequency_hz;
      if (event.type == PERF_TYPE_TRACEPOINT && is_open) event.period = 1;
    }
  }
}

}  // namespace

Result<RecordOptions> choose_events(const RecordCommand& command) {
  RecordOptions options = command.record;
  std::vector<std::string> events = command.events;
  const bool may_use_pmu =
      options.engine == EngineChoice::pmu || options.engine == EngineChoice::automatic;
  const bool has_pmu = options.engine == EngineChoice::automatic && events.empty() &&
                       command.cpu.empty() && describe_machine().has_pmu;
  const bool with_extras = options.branches || options.memory;
  if (events.empty() && (options.engine == EngineChoice::pmu || has_pmu)) {
    events = {"cycles"};
    // They say how often code ran, as branch records do: `why --stalls` and `--columns frequency`.
    if (!with_extras) events.emplace_back("instructions");
  }
  if (!command.cpu.empty()) {
    ASSIGN_OR_RETURN(options.groups, find_template_events(command.cpu, true));
  } else if (!events.empty()) {
    ASSIGN_OR_RETURN(const PmuCatalog catalog, read_pmu_catalog());
    ASSIGN_OR_RETURN(options.groups, parse_events(events, catalog));
  }
  if (!command.counts.empty()) RETURN_IF_ERROR(choose_by_counts(command, options));
  std::optional<uint64_t> own_period_ns;  // cpu-clock/period=500000/
  if (is_time(options.groups) && !with_extras && options.engine != EngineChoice::pmu) {
    options.user_only = options.groups[0].members[0].exclude_kernel;
    options.kernel_only = options.groups[0].members[0].exclude_user;
    own_period_ns = options.groups[0].members[0].period;
    options.groups.clear();
  }
  if (options.groups.empty()) {
    RETURN_IF_ERROR(choose_time(command, own_period_ns, options));
    return options;
  }
  if (!may_use_pmu) {
    return Error{fmt::format("the timer engines sample time only, not '{}'\n-> --engine pmu",
                             options.groups[0].members[0].name)};
  }
  set_rates(command, options);
  return options;
}

std::string describe_sampling(const RecordOptions& options) {
  if (options.groups.empty()) {
    const uint64_t hertz = (1'000'000'000 + options.period_ns / 2) / options.period_ns;
    return fmt::format("time at {} Hz", format_thousands(hertz));
  }
  constexpr size_t kMostNames = 8;
  if (options.groups.size() > kMostNames) {
    return fmt::format("{} events, which take turns on the counters", options.groups.size());
  }
  std::vector<std::string> names;
  for (const EventGroup& group : options.groups) {
    for (const EventRequest& event : group.members) names.push_back(event.name);
  }
  const bool has_periods =
      std::all_of(options.groups.begin(), options.groups.end(), [](const EventGroup& group) {
        return std::all_of(group.members.begin(), group.members.end(),
                           [](const EventRequest& event) { return event.period.has_value(); });
      });
  const std::string rate =
      has_periods ? "each by its own period"
      : options.event_period != 0
          ? fmt::format("every {} events", format_thousands(options.event_period))
          : fmt::format("at {} Hz", format_thousands(options.event_frequency_hz));
  return fmt::format("{} {}", fmt::join(names, ", "), rate);
}

}  // namespace culprit
