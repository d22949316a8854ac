#include "accounting/event_match.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "model/event_names.h"

namespace culprit {
namespace {

// Of linux/perf_event.h, which a room that only calculates does not need.
constexpr uint32_t kHardwareType = 0;
constexpr uint32_t kRawType = 4;
constexpr uint32_t kFirstDynamicType = 6;
constexpr uint64_t kGenericCycles = 0;
constexpr uint64_t kGenericInstructions = 1;

/// Of x86 configs, what libpfm4 and perf may set besides the event: privilege levels, INT, EN.
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

uint64_t masked(uint64_t config) {
  return config & ~kPolicyBits;
}

bool is_row_of_instructions(const TemplateRow& row) {
  return row.branch == Branch::general && row.label == kInstructionsLabel;
}

/// How an event is known to be a row's.
bool is_row(const TemplateRow& row, bool is_first_cycles, const std::optional<EventCode>& code,
            const EventName& name) {
  if (code) {
    const uint64_t config = code->config & 0xffff'ffff;
    if (code->type == kHardwareType) {
      return (config == kGenericCycles && is_first_cycles) ||
             (config == kGenericInstructions && is_row_of_instructions(row));
    }
    const bool is_raw = code->type == kRawType || code->type >= kFirstDynamicType;
    const bool has_code = row.code != 0 || row.code1 != 0;
    if (is_raw && has_code) {
      return masked(code->config) == masked(row.code) && code->config1 == row.code1;
    }
    if (!is_raw) return false;
  }
  // Without a code (the text of perf stat) the generic names say what they are.
  const bool is_cycles = name.base == "cycles" || name.base == "cpu-cycles";
  if (is_cycles && is_first_cycles) return true;
  if (name.base == "instructions" && is_row_of_instructions(row)) return true;
  return name.base == read_name(row.event).base;
}

/// Enabled and running time of each event, over all its counts.
std::map<size_t, std::pair<double, double>> add_up_times(const Profile& profile) {
  std::map<size_t, std::pair<double, double>> times;
  for (const Count& count : profile.counts) {
    auto& [enabled, running] = times[count.event.value];
    enabled += static_cast<double>(count.time_enabled_ns);
    running += static_cast<double>(count.time_running_ns);
  }
  return times;
}

struct Candidate {
  size_t event;
  std::string modifiers;
};

/// Which of several events of one row are added: those of user and of kernel code are parts of
/// one number, the same words twice are two measurements of it.
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

}  // namespace

RowAmounts EventMatch::amounts(std::span<const Estimate> values) const {
  RowAmounts amounts(rows_.size());
  for (size_t row = 0; row < rows_.size(); ++row) {
    for (const Part& part : rows_[row]) {
      if (part.event >= values.size()) continue;
      if (!amounts[row]) amounts[row] = RowAmount{{}, provenance_[part.event]};
      amounts[row]->events = amounts[row]->events + values[part.event] * part.factor;
    }
  }
  return amounts;
}

EventMatch match_events(const Profile& profile, const Template& cpu) {
  EventMatch match;
  match.rows_.resize(cpu.rows.size());
  const auto first_cycles =
      std::find_if(cpu.rows.begin(), cpu.rows.end(), [](const TemplateRow& row) {
        return row.branch == Branch::unhalted && row.role == Role::sum;
      });
  const size_t cycles_row = static_cast<size_t>(first_cycles - cpu.rows.begin());

  const auto times = add_up_times(profile);
  std::vector<std::vector<Candidate>> candidates(cpu.rows.size());
  std::vector<std::string> never_counted;
  std::vector<std::string> names;
  for (size_t event = 0; event < profile.events.size(); ++event) {
    const Event& what = profile.events[event];
    const std::string& text = profile.strings.text(what.name);
    names.push_back(printable(text));
    match.provenance_.push_back(what.provenance);
    const EventName name = read_name(text);
    const auto time = times.find(event);
    const bool had_no_counter =
        time == times.end() ? profile.histograms.empty() : !(time->second.second > 0);
    if (had_no_counter) {
      never_counted.push_back(names.back());
      continue;
    }
    const std::optional<EventCode> code = parse_event_code(profile.strings.text(what.encoding));
    bool is_known = false;
    for (size_t row = 0; row < cpu.rows.size() && !is_of_another_pmu(text); ++row) {
      if (!is_row(cpu.rows[row], row == cycles_row, code, name)) continue;
      candidates[row].push_back({event, name.modifiers});
      is_known = true;
    }
    const bool is_time = what.unit == Unit::ns && what.provenance == Provenance::sampled;
    if (!is_known && !is_time) match.others_.push_back(event);
  }

  std::vector<std::string> uncorrected;
  for (size_t row = 0; row < cpu.rows.size(); ++row) {
    for (const size_t event : choose_parts(candidates[row])) {
      double factor = 1;
      const auto time = times.find(event);
      if (time != times.end() && time->second.second > 0) {
        factor = std::max(1.0, time->second.first / time->second.second);
        match.least_counted_ = std::min(match.least_counted_, 1 / factor);
      } else if (profile.events[event].provenance == Provenance::sampled) {
        uncorrected.push_back(names[event]);
      }
      match.rows_[row].push_back({event, factor});
    }
  }
  if (!never_counted.empty()) {
    match.remarks_.push_back(
        fmt::format("never had a counter: {}", fmt::join(never_counted, ", ")));
  }
  // A handful of events fit the counters of any CPU; more took turns.
  constexpr size_t kCounters = 4;
  std::sort(uncorrected.begin(), uncorrected.end());
  uncorrected.erase(std::unique(uncorrected.begin(), uncorrected.end()), uncorrected.end());
  if (uncorrected.size() > kCounters) {
    match.remarks_.push_back(
        fmt::format("{} events may have shared counters, and the recording does not say for how "
                    "long each was counted: their cycles are the least that there were",
                    uncorrected.size()));
  }

  // Time is cycles where the clock is known and nothing counted them.
  const std::optional<ClockCalibration>& clock = profile.machine.clock;
  if (cycles_row < cpu.rows.size() && match.rows_[cycles_row].empty() && clock &&
      clock->hertz > 0) {
    for (size_t event = 0; event < profile.events.size(); ++event) {
      const Event& what = profile.events[event];
      if (what.unit != Unit::ns || what.provenance != Provenance::sampled) continue;
      match.rows_[cycles_row].push_back({event, clock->hertz / 1e9});
      break;
    }
  }
  return match;
}

}  // namespace culprit
