#include "counts/count_table.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "stats/repeated.h"

namespace culprit {

namespace {

constexpr const char* kNeverCounted =
    "it never had a counter: others hold them, or its group does not fit";
constexpr const char* kNeverEnabled = "nothing ran that it would count";

/// Rows that belong together: of one event and thread.
struct Key {
  EventId event;
  ThreadId thread;
  friend auto operator<=>(const Key&, const Key&) = default;
};
using Slices = std::vector<CountedSlice>;
using Runs = std::map<uint32_t, Slices>;  // by repetition

CountedSlice make_slice(const Count& row, double scale) {
  return {static_cast<double>(row.value) * scale, static_cast<double>(row.time_enabled_ns),
          static_cast<double>(row.time_running_ns)};
}

template <class Keep>
std::map<Key, Runs> collect(const Profile& profile, Keep keep) {
  std::map<Key, Runs> found;
  for (const Count& row : profile.counts) {
    if (row.event.value >= profile.events.size() || !keep(row)) continue;
    if (row.context.value >= profile.contexts.size()) continue;
    const Key key{row.event, profile.contexts[row.context.value].thread};
    found[key][row.repetition].push_back(make_slice(row, profile.events[row.event.value].scale));
  }
  return found;
}

void set_value(CountRow& row, const Runs& runs) {
  std::vector<double> values;
  std::optional<Interval> of_one;
  double enabled = 0;
  double running = 0;
  for (const auto& [repetition, slices] : runs) {
    double ran = 0;
    for (const CountedSlice& slice : slices) {
      enabled += slice.enabled;
      ran += slice.running;
    }
    running += ran;
    if (ran <= 0) continue;
    const ScaledCount scaled = estimate_scaled_count(slices);
    values.push_back(scaled.value);
    of_one = scaled.interval95;
    row.is_one_reading = runs.size() == 1 && slices.size() == 1;
  }
  row.counted_ratio = enabled > 0 ? std::min(running / enabled, 1.0) : 0;
  if (values.empty()) {
    row.reason = enabled > 0 ? kNeverCounted : kNeverEnabled;
    return;
  }
  const MeanEstimate mean = estimate_mean(values);
  row.value = mean.mean;
  row.interval95 = values.size() > 1 ? mean.interval95 : of_one;
}

CountRow describe_row(const Profile& profile, const Key& key) {
  CountRow row;
  const Event& event = profile.events[key.event.value];
  row.event = profile.strings.text(event.name);
  row.unit = event.unit;
  if (!key.thread.is_all() && key.thread.value < profile.threads.size()) {
    const Thread& thread = profile.threads[key.thread.value];
    row.thread_id = thread.tid;
    row.thread_name = profile.strings.text(thread.name);
  }
  return row;
}

/// "instructions:u" -> "instructions", ":u".
std::pair<std::string_view, std::string_view> split_modifiers(std::string_view name) {
  const size_t colon = std::min(name.find(':'), name.size());
  return {name.substr(0, colon), name.substr(colon)};
}

/// The row of the same thread that this one is usefully divided by.
const CountRow* find_row(const std::vector<CountRow>& rows, const CountRow& like,
                         std::initializer_list<std::string_view> names, bool same_modifiers) {
  const auto modifiers = split_modifiers(like.event).second;
  for (const CountRow& row : rows) {
    const auto [name, own] = split_modifiers(row.event);
    if (std::find(names.begin(), names.end(), name) == names.end()) continue;
    if (same_modifiers && own != modifiers) continue;
    if (row.thread_id == like.thread_id && row.value && *row.value > 0) return &row;
  }
  return nullptr;
}

std::optional<CountRate> make_rate(const std::vector<CountRow>& rows, const CountRow& row,
                                   double elapsed_s) {
  if (!row.value || *row.value == 0) return std::nullopt;
  const std::string_view name = split_modifiers(row.event).first;
  const auto over = [&](std::initializer_list<std::string_view> names) {
    return find_row(rows, row, names, true);
  };
  if (name == "instructions") {
    const CountRow* const cycles = over({"cycles", "cpu-cycles"});
    if (cycles != nullptr) return CountRate{*row.value / *cycles->value, "per cycle"};
  }
  if (name == "branch-misses") {
    const CountRow* const branches = over({"branches", "branch-instructions"});
    if (branches != nullptr) return CountRate{100 * *row.value / *branches->value, "% of branches"};
  }
  if (name == "cache-misses") {
    const CountRow* const references = over({"cache-references"});
    if (references != nullptr) {
      return CountRate{100 * *row.value / *references->value, "% of cache-references"};
    }
  }
  if (row.unit == Unit::ns && elapsed_s > 0) {
    return CountRate{*row.value * 1e-9 / elapsed_s, "CPUs used"};
  }
  const CountRow* const clock = find_row(rows, row, {"task-clock", "cpu-clock"}, false);
  if (clock != nullptr) return CountRate{*row.value / (*clock->value * 1e-9), "/s of CPU time"};
  return std::nullopt;
}

std::vector<CountRow> make_rows(const Profile& profile, const std::map<Key, Runs>& found,
                                const std::map<EventId, std::string>& reasons, double elapsed_s) {
  std::vector<CountRow> rows;
  for (size_t event = 0; event < profile.events.size(); ++event) {
    const EventId id(event);
    const auto refused = reasons.find(id);
    if (refused != reasons.end()) {
      CountRow row = describe_row(profile, {id, ThreadId()});
      row.reason = refused->second;
      rows.push_back(std::move(row));
    }
    for (auto at = found.lower_bound({id, ThreadId(0u)}); at != found.end(); ++at) {
      if (at->first.event != id) break;
      CountRow row = describe_row(profile, at->first);
      set_value(row, at->second);
      rows.push_back(std::move(row));
    }
  }
  std::vector<std::optional<CountRate>> rates;
  for (const CountRow& row : rows) rates.push_back(make_rate(rows, row, elapsed_s));
  for (size_t i = 0; i < rows.size(); ++i) rows[i].rate = std::move(rates[i]);
  return rows;
}

double interval_s(const Profile& profile) {
  const auto found = profile.environment.find("interval_ns");
  return found == profile.environment.end() ? 0
                                            : std::strtod(found->second.c_str(), nullptr) * 1e-9;
}

}  // namespace

CountTable make_count_table(const Profile& profile, const std::map<EventId, std::string>& reasons) {
  CountTable table;
  std::vector<double> elapsed_s;
  std::vector<double> cpu_s;
  for (const Run& run : profile.runs) {
    table.command = profile.strings.text(run.command);
    elapsed_s.push_back(static_cast<double>(run.duration_ns) * 1e-9);
    if (run.cpu_time_ns) cpu_s.push_back(static_cast<double>(*run.cpu_time_ns) * 1e-9);
  }
  const MeanEstimate elapsed = estimate_mean(elapsed_s);
  table.elapsed_s = elapsed.mean;
  table.elapsed95_s = elapsed.interval95;
  if (!cpu_s.empty()) table.cpu_s = estimate_mean(cpu_s).mean;
  for (const Count& row : profile.counts) {
    table.repetitions = std::max(table.repetitions, row.repetition + 1);
  }
  table.rows = make_rows(profile, collect(profile, [](const Count&) { return true; }), reasons,
                         table.elapsed_s);
  table.ledger = profile.ledger.notes();
  return table;
}

std::vector<CountRow> make_interval_rows(const Profile& profile, uint32_t repetition,
                                         uint32_t interval) {
  const auto found = collect(profile, [&](const Count& row) {
    return row.repetition == repetition && row.interval == interval;
  });
  return make_rows(profile, found, {}, interval_s(profile));
}

}  // namespace culprit
