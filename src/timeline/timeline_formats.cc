// For programs: schema/timeline.schema.json, and a line for each slice of each lane and mode.

#include "timeline/timeline_formats.h"

#include <fmt/format.h>
#include <map>
#include <utility>

#include "print/csv.h"
#include "print/json_parts.h"
#include "report/row_filter.h"
#include "report/row_key.h"

namespace culprit {

namespace {

Json json_runs_in_time(const Timeline& timeline) {
  Json runs = Json::array();
  for (const RunSlices& run : timeline.runs) {
    runs.push_back({{"run", run.run.value},
                    {"offset_ns", run.offset_ns},
                    {"duration_ns", run.duration_ns},
                    {"width_ns", run.width_ns},
                    {"count", run.count}});
  }
  return runs;
}

Json json_series(const Timeline& timeline, const LaneSeries& series) {
  Json samples = Json::array();
  Json values = Json::array();
  Json errors = Json::array();
  bool has_errors = false;
  for (const Value& value : series.values) {
    samples.push_back(value.samples);
    values.push_back(value.value);
    errors.push_back(value.error);
    has_errors = has_errors || value.error != 0;
  }
  return {{"event", printable(timeline.event_names[series.event])},
          {"mode", mode_word(series.mode)},
          {"first", series.first},
          {"samples", std::move(samples)},
          {"values", std::move(values)},
          {"errors", has_errors ? std::move(errors) : Json::array()}};
}

Json json_lane(const Timeline& timeline, const std::vector<std::string>& names, const Lane& lane) {
  Json object{{"run", lane.run}};
  const ReportRow& who = lane.who;
  if (who.process) object["process"] = printable(*who.process);
  if (who.process_id) object["process_id"] = *who.process_id;
  if (who.thread) object["thread"] = printable(*who.thread);
  if (who.thread_id) object["thread_id"] = *who.thread_id;
  if (who.region) object["region"] = printable(*who.region);
  if (!lane.kind.empty()) object["kind"] = printable(lane.kind);
  object["values"] = json_values(names, lane.values);
  Json series = Json::array();
  for (const LaneSeries& one : lane.series) series.push_back(json_series(timeline, one));
  object["series"] = std::move(series);
  return object;
}

struct TimeColumn {
  const char* heading;
  bool wanted;
  std::string (*cell)(const ReportRow&);
};

std::string number_cell(const std::optional<uint32_t>& number) {
  return number ? std::to_string(*number) : "";
}

}  // namespace

std::string_view mode_word(Mode mode) {
  switch (mode) {
    case Mode::all:
      return "";
    case Mode::user:
      return "user";
    case Mode::kernel:
      return "kernel";
    case Mode::guest_user:
      return "guest user";
    case Mode::guest_kernel:
      return "guest kernel";
    case Mode::hypervisor:
      return "hypervisor";
  }
  return "";
}

std::string print_timeline_json(const Profile& profile, const Timeline& timeline) {
  std::vector<std::string> names;
  for (const std::string& name : timeline.event_names) names.push_back(printable(name));
  Json by = Json::array({"time"});
  for (const RowLevel level : timeline.options.by) by.push_back(level_name(level));
  Json filters = Json::array();
  for (const Filter& filter : timeline.options.filters) {
    filters.push_back(
        {{"level", level_name(filter.level)}, {"pattern", printable(filter.pattern)}});
  }
  Json lanes = Json::array();
  for (const Lane& lane : timeline.lanes) lanes.push_back(json_lane(timeline, names, lane));
  const Json document{{"schema", "culprit-timeline-1"},
                      {"runs", json_runs(profile)},
                      {"machine", json_machine(profile.machine)},
                      {"clock", json_clock(profile.machine)},
                      {"events", json_events(profile, names, timeline.totals)},
                      {"by", std::move(by)},
                      {"filters", std::move(filters)},
                      {"slices", json_runs_in_time(timeline)},
                      {"lanes", std::move(lanes)},
                      {"shown", json_values(names, timeline.shown)},
                      {"without_time", json_values(names, timeline.without_time)},
                      {"ledger", json_ledger(timeline.ledger)}};
  return document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string print_timeline_csv(const Timeline& timeline) {
  const Levels by = Levels::of(timeline.options.by);
  const TimeColumn columns[] = {
      {"process", by.names_process(), [](const ReportRow& r) { return r.process.value_or(""); }},
      {"process_id", by.process, [](const ReportRow& r) { return number_cell(r.process_id); }},
      {"thread", by.thread, [](const ReportRow& r) { return r.thread.value_or(""); }},
      {"thread_id", by.thread, [](const ReportRow& r) { return number_cell(r.thread_id); }},
      {"region", by.region, [](const ReportRow& r) { return r.region.value_or(""); }},
  };
  std::string text;
  CsvLine heading(text);
  for (const char* name : {"run", "begin_s", "end_s"}) heading.add(name);
  for (const TimeColumn& column : columns) {
    if (column.wanted) heading.add(column.heading);
  }
  heading.add("mode");
  add_value_headings(heading, timeline.event_names);
  heading.end();
  for (const Lane& lane : timeline.lanes) {
    std::map<std::pair<size_t, Mode>, std::vector<Value>> rows;
    for (const LaneSeries& series : lane.series) {
      for (size_t i = 0; i < series.values.size(); ++i) {
        const Value& value = series.values[i];
        if (value.samples == 0 && value.value == 0) continue;
        auto& row = rows[{series.first + i, series.mode}];
        row.resize(timeline.event_names.size());
        row[series.event] = value;
      }
    }
    const RunSlices& run = timeline.runs[lane.run];
    for (const auto& [at, values] : rows) {
      CsvLine line(text);
      const double begin_ns = static_cast<double>(at.first) * static_cast<double>(run.width_ns);
      line.add(std::to_string(run.run.value));
      line.add(fmt::format("{:.9g}", begin_ns * 1e-9));
      line.add(fmt::format("{:.9g}", (begin_ns + static_cast<double>(run.width_ns)) * 1e-9));
      for (const TimeColumn& column : columns) {
        if (column.wanted) line.add(column.cell(lane.who));
      }
      line.add(mode_word(at.second));
      add_values(line, values);
      line.end();
    }
  }
  return text;
}

std::string print_timeline(const Profile& profile, const Timeline& timeline, Format format,
                           const TextStyle& style) {
  switch (format) {
    case Format::text:
      return print_timeline_text(profile, timeline, style);
    case Format::json:
      return print_timeline_json(profile, timeline);
    case Format::csv:
      return print_timeline_csv(timeline);
  }
  return {};
}

}  // namespace culprit
