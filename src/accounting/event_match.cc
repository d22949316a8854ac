#include "accounting/event_match.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "model/engine.h"
#include "model/event_names.h"
#include "model/static_events.h"
#include "stats/repeated.h"

namespace culprit {
namespace {

// These stand in linux/perf_event.h, which a room that only calculates does not need.
constexpr uint32_t kHardwareType = 0;
constexpr uint32_t kRawType = 4;
constexpr uint32_t kFirstDynamicType = 6;
constexpr uint64_t kGenericCycles = 0;
constexpr uint64_t kGenericInstructions = 1;

/// What libpfm4 and perf may set in x86 configs besides the event: privilege levels, INT, EN.
constexpr uint64_t kPolicyBits = 0x530000;

struct EventName {
  std::string base;       // in small letters, with one kind of separator
  std::string modifiers;  // "u", "kpp"
};

/// "MEM_LOAD_RETIRED:L2_HIT:u" and "cpu/mem_load_retired.l2_hit/u" are both
/// {"mem_load_retired.l2_hit", "u"}.
EventName read_name(std::string_view text) {
  EventName name;
  if (const size_t slash = text.find('/'); slash != text.npos) {
    const size_t end = text.rfind('/');
    if (end != slash) {
      name.modifiers = text.substr(end + 1);
      text = text.substr(0, end);
    }
    text.remove_prefix(slash + 1);
  } else if (const size_t colon = text.rfind(':'); colon != text.npos) {
    constexpr std::string_view kModifiers = "ukhGHpPSDeIW";
    const std::string_view last = text.substr(colon + 1);
    if (!last.empty() && last.find_first_not_of(kModifiers) == last.npos) {
      name.modifiers = last;
      text = text.substr(0, colon);
    }
  }
  if (name.modifiers.starts_with(':')) name.modifiers.erase(0, 1);
  if (const size_t pmu = text.find("::"); pmu != text.npos) text.remove_prefix(pmu + 2);
  for (const char c : text) {
    const bool separates = c == ':' || c == '.';
    name.base += separates ? '.' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return name;
}

/// Events of packages, small cores and others that count something else under the same code.
bool is_of_another_pmu(std::string_view name) {
  const size_t slash = name.find('/');
  const std::string_view pmu = slash == name.npos ? "" : name.substr(0, slash);
  return pmu.starts_with("uncore") || pmu == "cpu_atom" || pmu == "msr" || pmu == "power" ||
         pmu.find("cstate") != pmu.npos;
}

bool is_x86(const Machine& machine) {
  const std::string& name = machine.architecture;
  return name.starts_with("x86") || (name.size() == 4 && name[0] == 'i' && name.ends_with("86"));
}

bool is_row_of_instructions(const TemplateRow& row) {
  return row.branch == CostBranch::general && row.label == kInstructionsLabel;
}

/// How an event is known to be a row's. `ignored`: bits of a code that are not the event's.
bool is_row(const TemplateRow& row, bool is_first_cycles, const std::optional<EventCode>& code,
            uint64_t ignored, const EventName& name) {
  if (code) {
    const uint64_t config = code->config & 0xffff'ffff;
    if (code->type == kHardwareType) {
      return (config == kGenericCycles && is_first_cycles) ||
             (config == kGenericInstructions && is_row_of_instructions(row));
    }
    const bool is_raw = code->type == kRawType || code->type >= kFirstDynamicType;
    const bool has_code = row.code != 0 || row.code1 != 0;
    if (is_raw && has_code) {
      return ((code->config ^ row.code) & ~ignored) == 0 && code->config1 == row.code1;
    }
    if (!is_raw) return false;
  }
  // The text of perf stat has no codes: generic names say what the events are.
  const bool is_cycles = name.base == "cycles" || name.base == "cpu-cycles";
  if (is_cycles && is_first_cycles) return true;
  if (name.base == "instructions" && is_row_of_instructions(row)) return true;
  return name.base == read_name(row.event).base;
}

/// Enabled and running time of each event, over all its counts; and what is not known of the
/// time that it had no counter.
struct Time {
  double enabled = 0;
  double running = 0;
  std::map<std::pair<ContextId, uint32_t>, std::vector<CountedSlice>> slices;  // and repetition

  [[nodiscard]] double factor() const { return std::max(1.0, enabled / running); }
  /// Standard error of the scaled count, as a part of it; nothing: too few turns to tell.
  [[nodiscard]] std::optional<double> relative_error() const {
    double value = 0;
    double variance = 0;
    for (const auto& [key, counted] : slices) {
      const ScaledCount scaled = estimate_scaled_count(counted);
      value += scaled.value;
      if (!scaled.interval95) return std::nullopt;
      const double error = (scaled.interval95->high - scaled.value) / kNormal95;
      variance += error * error;
    }
    return value > 0 ? std::sqrt(variance) / value : 0;
  }
};
using Times = std::map<size_t, Time>;  // by event

Times add_up_times(const Profile& profile) {
  Times times;
  for (const Count& count : profile.counts) {
    Time& time = times[count.event.value];
    const CountedSlice slice{static_cast<double>(count.value),
                             static_cast<double>(count.time_enabled_ns),
                             static_cast<double>(count.time_running_ns)};
    time.enabled += slice.enabled;
    time.running += slice.running;
    time.slices[{count.context, count.repetition}].push_back(slice);
  }
  return times;
}

struct Candidate {
  size_t event;
  std::string modifiers;
};

/// Chooses which of several events of one row are added: those of user and of kernel code are parts
/// of one number, the same words twice are two measurements of it.
std::vector<size_t> choose_parts(const std::vector<Candidate>& candidates) {
  const auto levels = [](const Candidate& one) {
    std::string text;
    for (const char c : one.modifiers) {
      if (c == 'u' || c == 'k' || c == 'h') text += c;
    }
    std::sort(text.begin(), text.end());
    return text;
  };
  std::vector<size_t> parts;
  std::set<std::string> seen;
  for (const Candidate& one : candidates) {
    const std::string of = levels(one);
    if (of.empty()) return {one.event};  // all levels: it is the whole
    const bool overlaps = std::any_of(seen.begin(), seen.end(), [&](const std::string& other) {
      return other.find_first_of(of) != other.npos;
    });
    if (!overlaps && seen.insert(of).second) parts.push_back(one.event);
  }
  return parts;
}

/// The profile's events that each row of the template may mean.
struct Candidates {
  std::vector<std::vector<Candidate>> of_rows;
  std::vector<size_t> others;  // known by no row
  std::vector<std::string> never_counted;
};

Candidates find_candidates(const Profile& profile, const Template& cpu, size_t cycles_row,
                           const Times& times) {
  Candidates found;
  found.of_rows.resize(cpu.rows.size());
  const uint64_t ignored = is_x86(profile.machine) ? kPolicyBits : 0;
  for (size_t event = 0; event < profile.events.size(); ++event) {
    const Event& what = profile.events[event];
    const std::string& text = profile.strings.text(what.name);
    const auto time = times.find(event);
    // Samples and the simulator's counts need no turn on a counter: without them there are 0.
    const bool takes_turns =
        what.provenance == Provenance::counted && engine_of(profile, what) != Engine::simulate;
    const bool had_no_counter = time == times.end() ? takes_turns && profile.histograms.empty()
                                                    : !(time->second.running > 0);
    if (had_no_counter) {
      found.never_counted.push_back(printable(text));
      continue;
    }
    const bool is_time = what.unit == Unit::ns && what.provenance == Provenance::sampled;
    bool is_known = is_time;
    if (!is_of_another_pmu(text)) {
      const EventName name = read_name(text);
      const auto code = parse_event_code(profile.strings.text(what.encoding));
      for (size_t row = 0; row < cpu.rows.size(); ++row) {
        if (!is_row(cpu.rows[row], row == cycles_row, code, ignored, name)) continue;
        found.of_rows[row].push_back({event, name.modifiers});
        is_known = true;
      }
    }
    const bool is_static = engine_of(profile, what) == Engine::static_model;
    if (!is_known && !is_static) found.others.push_back(event);
  }
  return found;
}

/// Time is cycles where the clock is known.
std::optional<EventMatch::Part> find_time(const Profile& profile) {
  const std::optional<ClockCalibration>& clock = profile.machine.clock;
  if (!clock || !(clock->hertz > 0)) return std::nullopt;
  for (size_t event = 0; event < profile.events.size(); ++event) {
    const Event& what = profile.events[event];
    if (what.unit != Unit::ns || what.provenance != Provenance::sampled) continue;
    return EventMatch::Part{event, clock->hertz / 1e9, 0};
  }
  return std::nullopt;
}

}  // namespace

RowAmounts EventMatch::amounts(std::span<const Estimate> values) const {
  RowAmounts amounts(rows_.size());
  for (size_t row = 0; row < rows_.size(); ++row) {
    for (const Part& part : rows_[row]) {
      if (part.event >= values.size()) continue;
      if (!amounts[row]) amounts[row] = RowAmount{{}, provenance_[part.event]};
      Estimate scaled = values[part.event] * part.factor;
      scaled.standard_error = std::hypot(scaled.standard_error, scaled.value * part.relative_error);
      amounts[row]->events = amounts[row]->events + scaled;
    }
  }
  return amounts;
}

EventMatch match_events(const Profile& profile, const Template& cpu) {
  EventMatch match;
  match.rows_.resize(cpu.rows.size());
  for (const Event& event : profile.events) match.provenance_.push_back(event.provenance);
  const auto first_cycles =
      std::find_if(cpu.rows.begin(), cpu.rows.end(), [](const TemplateRow& row) {
        return row.branch == CostBranch::unhalted && row.role == Role::sum;
      });
  const size_t cycles_row = static_cast<size_t>(first_cycles - cpu.rows.begin());
  const Times times = add_up_times(profile);
  Candidates candidates = find_candidates(profile, cpu, cycles_row, times);
  match.others_ = std::move(candidates.others);

  std::set<size_t> uncorrected;
  std::set<size_t> without_error;
  for (size_t row = 0; row < cpu.rows.size(); ++row) {
    for (const size_t event : choose_parts(candidates.of_rows[row])) {
      EventMatch::Part part{event, 1, 0};
      const auto time = times.find(event);
      if (time != times.end()) {
        part.factor = time->second.factor();
        const std::optional<double> error = time->second.relative_error();
        if (profile.events[event].provenance == Provenance::counted) {
          part.relative_error = error.value_or(0);
          if (!error) without_error.insert(event);
        }
      } else if (profile.events[event].provenance == Provenance::sampled &&
                 engine_of(profile, profile.events[event]) != Engine::simulate) {
        uncorrected.insert(event);
      }
      match.rows_[row].push_back(part);
    }
  }
  if (cycles_row < cpu.rows.size() && match.rows_[cycles_row].empty()) {
    if (const auto time = find_time(profile)) match.rows_[cycles_row].push_back(*time);
  }

  if (!candidates.never_counted.empty()) {
    match.remarks_.push_back(
        fmt::format("never had a counter: {}", fmt::join(candidates.never_counted, ", ")));
  }
  if (!without_error.empty()) {
    match.remarks_.push_back(
        fmt::format("{} counts were scaled up from too few turns on a counter to tell their error",
                    without_error.size()));
  }
  // A handful of events fit the counters of any CPU; more took turns.
  constexpr size_t kCounters = 4;
  if (uncorrected.size() > kCounters) {
    match.remarks_.push_back(
        fmt::format("{} events may have shared counters, and the recording does not say for how "
                    "long each was counted: their cycles are the least that there were",
                    uncorrected.size()));
  }
  return match;
}

}  // namespace culprit
