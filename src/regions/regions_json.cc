#include "base/text.h"
#include "print/json_parts.h"
#include "regions/regions_text.h"

namespace culprit {
namespace {

/// Nobody knows the times of a run that was simulated.
Json json_times(const RegionsReport& report, const RegionTimes& times) {
  Json object = {{"executions", times.executions},
                 {"pieces", times.pieces},
                 {"whole_ns", times.whole_ns()},
                 {"enter_ns", times.enter_ns},
                 {"body_ns", times.body_ns},
                 {"exit_ns", times.exit_ns},
                 {"exit_barrier_ns", times.exit_barrier_ns},
                 {"wait_ns", times.wait_ns},
                 {"behind_single_ns", times.behind_single_ns},
                 {"inner_tasks_ns", times.inner_tasks_ns},
                 {"unfinished", times.unfinished},
                 {"unfinished_ns", times.unfinished_ns}};
  for (auto& [name, value] : object.items()) {
    if (!report.has_times && name.ends_with("_ns")) value = nullptr;
  }
  return object;
}

Json json_overheads(const Overheads& overheads) {
  return {{"synchronization_ns", overheads.synchronization_ns},
          {"imbalance_ns", overheads.imbalance_ns},
          {"limited_parallelism_ns", overheads.limited_ns},
          {"thread_management_ns", overheads.management_ns}};
}

/// {"instructions": {"inside": 2880000, "waiting": 312}}
Json json_counts(const RegionsReport& report, const RegionCounts& counts) {
  Json object = Json::object();
  for (size_t i = 0; i < report.counters.size(); ++i) {
    object[report.counters[i].name] = {{"inside", counts.inside[i]},
                                       {"waiting", counts.waiting[i]}};
  }
  return object;
}

const char* lines_word(LinesAre lines) {
  if (lines == LinesAre::construct) return "construct";
  return lines == LinesAre::function ? "function" : "unknown";
}

Json json_construct(const RegionsReport& report, size_t index) {
  const Construct& construct = report.constructs[index];
  Json object = {{"id", construct_number(index)},
                 {"kind", word_of(construct.kind)},
                 {"type", construct.type},
                 {"name", construct.name},
                 {"file", construct.place.file},
                 {"first_line", construct.place.first_line},
                 {"last_line", construct.place.last_line},
                 {"function", construct.place.function},
                 {"lines_are", lines_word(construct.place.lines)},
                 {"region", construct.region ? Json(construct_number(*construct.region)) : Json()},
                 {"sum", json_times(report, construct.sum)}};
  object["sum"]["counts"] = json_counts(report, construct.counts);
  Json threads = Json::array();
  for (const Construct::Thread& one : construct.threads) {
    Json row = {{"thread", report.threads[one.thread].label}};
    row.update(json_times(report, one.times));
    row["counts"] = json_counts(report, one.counts);
    threads.push_back(row);
  }
  object["threads"] = threads;
  return object;
}

}  // namespace

std::string print_regions_json(const Profile& profile, const RegionsReport& report) {
  Json json;
  json["schema"] = "culprit-regions-1";
  json["runs"] = json_runs(profile);
  json["machine"] = json_machine(profile.machine);
  json["program_wall_ns"] = report.program_wall_ns;
  json["parallel_wall_ns"] = report.parallel_wall_ns;
  json["most_threads"] = report.most_threads;
  json["has_times"] = report.has_times;
  json["object"] = report.object.empty() ? Json() : Json(printable(report.object));
  json["counts"] = Json::object();
  for (size_t i = 0; i < report.counters.size(); ++i) {
    const bool is_known = !report.counters[i].is_of_regions;
    json["counts"][report.counters[i].name] =
        is_known ? Json(report.program_counts.inside[i]) : Json();
  }
  json["overheads"] = json_overheads(report.program);
  json["threads"] = Json::array();
  for (const RegionsReport::Thread& thread : report.threads) {
    json["threads"].push_back(
        {{"thread", printable(thread.label)},
         {"rank", thread.rank.empty() ? Json() : Json(printable(thread.rank))},
         {"pid", thread.pid},
         {"tid", thread.tid}});
  }
  json["constructs"] = Json::array();
  for (size_t i = 0; i < report.constructs.size(); ++i) {
    json["constructs"].push_back(json_construct(report, i));
  }
  const auto when_timed = [&](double ns) { return report.has_times ? Json(ns) : Json(); };
  json["call_graph"] = Json::array();
  for (const CallPath& path : report.call_paths) {
    json["call_graph"].push_back({{"construct", construct_number(path.construct)},
                                  {"parent", path.parent ? Json(*path.parent) : Json()},
                                  {"executions", path.sum.executions},
                                  {"inclusive_ns", when_timed(path.sum.whole_ns())},
                                  {"exclusive_ns", when_timed(path.exclusive_ns)},
                                  {"counts", json_counts(report, path.counts)}});
  }
  json["regions"] = Json::array();
  for (const RegionOverheads& region : report.regions) {
    json["regions"].push_back({{"construct", construct_number(region.construct)},
                               {"executions", region.executions},
                               {"threads", region.threads},
                               {"wall_ns", region.wall_ns},
                               {"whole_ns", region.whole_ns},
                               {"overheads", json_overheads(region.overheads)}});
  }
  json["findings"] = Json::array();
  for (const Finding& finding : report.findings) {
    json["findings"].push_back({{"property", finding.property},
                                {"construct", construct_number(finding.construct)},
                                {"severity", finding.severity},
                                {"waiting_ns", finding.waiting_ns},
                                {"saves_at_most_ns", finding.at_most_ns},
                                {"advice", finding.advice}});
  }
  json["remarks"] = report.remarks;
  json["ledger"] = json_ledger(profile.ledger);
  return dump(json);
}

}  // namespace culprit
