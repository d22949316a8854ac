#include "perfdata/stat_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "base/text.h"
#include "model/engine.h"
#include "perfdata/attributes.h"
#include "perfdata/script_words.h"
#include <nlohmann/json.hpp>

namespace culprit {
namespace {

constexpr std::string_view kNotCounted = "<not ";
constexpr uint64_t kPartsOfWhole = 10'000;  // perf prints hundredths of a percent
constexpr uint64_t kMostScaled = UINT64_MAX / kPartsOfWhole;

std::optional<double> find_decimal(std::string_view text) {
  const std::string word(trim(text));
  if (word.empty() || word.find_first_not_of("0123456789.eE+-") != word.npos) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  if (*end != '\0' || !std::isfinite(value)) return std::nullopt;
  return value;
}

bool is_whole_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

bool is_value(std::string_view field) {
  return trim(field).starts_with(kNotCounted) || find_decimal(field).has_value();
}

/// [interval,] [cpu,] value, unit, event, [error %,] ns, percent [, metric, its unit]. An event
/// may have the separator in it.
std::optional<StatLine> parse_fields(const std::vector<std::string_view>& fields) {
  size_t value = 0;
  while (value + 1 < fields.size() && !(is_value(fields[value]) && !is_value(fields[value + 1]))) {
    ++value;
  }
  if (value + 4 >= fields.size()) return std::nullopt;
  size_t time = value + 3;
  const auto is_percent = [](std::string_view field) {
    return field.find('.') != field.npos && find_decimal(field).has_value();
  };
  while (time + 1 < fields.size() &&
         !(is_whole_number(fields[time]) && is_percent(fields[time + 1]))) {
    ++time;
  }
  if (time + 1 >= fields.size()) return std::nullopt;
  StatLine line;
  line.value = find_decimal(fields[value]);
  line.unit = trim(fields[value + 1]);
  size_t event_end = time;
  if (event_end > value + 3 && fields[event_end - 1].ends_with('%')) --event_end;
  // The fields are of one text: the event is what lies between two of them.
  const char* const begin = fields[value + 2].data();
  const char* const end = fields[event_end - 1].data() + fields[event_end - 1].size();
  line.event = trim(std::string_view(begin, static_cast<size_t>(end - begin)));
  line.running_ns = std::strtoull(std::string(fields[time]).c_str(), nullptr, 10);
  line.running_percent = find_decimal(fields[time + 1]).value_or(0);
  if (value > 0 && is_value(fields[0])) line.interval = trim(fields[0]);
  if (line.event.empty()) return std::nullopt;
  return line;
}

std::optional<StatLine> parse_object(std::string_view text) {
  const nlohmann::json object = nlohmann::json::parse(text, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  const auto text_of = [&](const char* key) {
    const auto at = object.find(key);
    return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
  };
  const auto number_of = [&](const char* key, double otherwise) {
    const auto at = object.find(key);
    return at != object.end() && at->is_number() ? at->get<double>() : otherwise;
  };
  StatLine line;
  line.event = text_of("event");
  if (line.event.empty() || !object.contains("counter-value")) return std::nullopt;
  line.unit = text_of("unit");
  line.value = find_decimal(text_of("counter-value"));
  const double running = number_of("event-runtime", 0);
  line.running_ns = running > 0 && running < 1e18 ? static_cast<uint64_t>(running) : 0;
  line.running_percent = number_of("pcnt-running", 100);
  const double interval = number_of("interval", -1);
  if (interval >= 0) line.interval = std::to_string(interval);
  return line;
}

}  // namespace

std::optional<StatLine> parse_stat_line(std::string_view line) {
  if (line.starts_with('{')) return parse_object(line);
  for (const char separator : {',', ';', '\t', '|', ':'}) {
    if (line.find(separator) == line.npos) continue;
    if (auto parsed = parse_fields(split(line, separator))) return parsed;
  }
  return std::nullopt;
}

bool is_stat_text(std::string_view beginning) {
  while (!beginning.empty()) {
    const size_t end = std::min(beginning.find('\n'), beginning.size());
    const std::string_view line = beginning.substr(0, end);
    beginning.remove_prefix(std::min(end + 1, beginning.size()));
    if (line.find('\0') != line.npos) return false;
    if (trim(line).empty() || line.starts_with('#')) continue;
    return parse_stat_line(line).has_value();
  }
  return false;
}

StatCounts::StatCounts() {
  Run run;
  run.command = profile_.strings.intern("(counts of perf stat)");
  profile_.runs.push_back(run);
  Context context;
  context.run = RunId(profile_.runs.size() - 1);
  profile_.contexts.push_back(context);
}

EventId StatCounts::find_or_add(const StatLine& line) {
  const StringId name = profile_.strings.intern(line.event);
  for (size_t i = 0; i < profile_.events.size(); ++i) {
    if (profile_.events[i].name == name) return EventId(i);
  }
  Event event;
  event.name = name;
  event.provenance = Provenance::counted;
  const std::string_view plain = std::string_view(line.event).substr(0, line.event.find(':'));
  event.engine =
      profile_.strings.intern(word_of(find_software_event(plain) ? Engine::software : Engine::pmu));
  if (line.unit == "msec" || line.unit == "ns") {
    event.unit = Unit::ns;
  } else if (!line.unit.empty()) {
    event.scale = 1e-6;  // Joules and others come in parts
  }
  profile_.machine.has_pmu |= event.unit == Unit::events && !find_software_event(plain);
  profile_.events.push_back(event);
  return EventId(profile_.events.size() - 1);
}

void StatCounts::add(const StatLine& line) {
  const EventId id = find_or_add(line);
  if (!line.value) return;
  const Event& event = profile_.events[id.value];
  const double in_unit = *line.value * (line.unit == "msec" ? 1e6 : 1) / event.scale;
  if (!(in_unit >= 0) || in_unit > 1e18) return;
  auto interval = std::find(intervals_.begin(), intervals_.end(), line.interval);
  if (interval == intervals_.end()) interval = intervals_.insert(interval, line.interval);
  Count count;
  count.context = ContextId(0u);
  count.event = id;
  count.interval = static_cast<uint32_t>(interval - intervals_.begin());
  count.value = static_cast<uint64_t>(std::llround(in_unit));
  const double part = std::clamp(line.running_percent / 100, 0.0, 1.0);
  parts_.push_back(static_cast<uint64_t>(std::llround(part * kPartsOfWhole)));
  count.time_running_ns = count.time_enabled_ns = line.running_ns;
  profile_.counts.push_back(count);
}

/// Counts of an event that shared its counter become those of its part of the time, in so small
/// units that what perf printed comes back exactly: 777 of 25 % of the time are 777 x 2500 units of
/// 1/10000 there. Times are of whole parts, too, which they are short of by less than 5 us.
void StatCounts::unscale(EventId event) {
  const auto shares_counter = [&](size_t row) {
    return profile_.counts[row].event == event && parts_[row] < kPartsOfWhole;
  };
  bool is_shared = false;
  bool fits = true;
  for (size_t row = 0; row < parts_.size(); ++row) {
    is_shared = is_shared || shares_counter(row);
    fits =
        fits && (profile_.counts[row].event != event || profile_.counts[row].value < kMostScaled);
  }
  if (!is_shared) return;
  if (fits) profile_.events[event.value].scale /= kPartsOfWhole;
  for (size_t row = 0; row < parts_.size(); ++row) {
    Count& count = profile_.counts[row];
    if (count.event != event) continue;
    const uint64_t part = parts_[row];
    if (fits) {
      count.value *= part;
    } else {
      count.value =
          static_cast<uint64_t>(static_cast<double>(count.value) /
                                static_cast<double>(kPartsOfWhole) * static_cast<double>(part));
    }
    if (part == 0) {
      count.time_enabled_ns = 0;
    } else if (part < kPartsOfWhole) {
      const uint64_t unit =
          std::clamp<uint64_t>((count.time_running_ns + part / 2) / part, 1, kMostScaled);
      count.time_running_ns = unit * part;
      count.time_enabled_ns = unit * kPartsOfWhole;
    }
  }
}

Profile StatCounts::take(uint64_t damaged_lines) {
  for (size_t event = 0; event < profile_.events.size(); ++event) unscale(EventId(event));
  parts_.clear();
  if (damaged_lines > 0) profile_.ledger.add(ledger::kDamagedRecords, damaged_lines);
  return std::move(profile_);
}

}  // namespace culprit
