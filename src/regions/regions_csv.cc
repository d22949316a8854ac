#include <fmt/format.h>

#include "print/csv.h"
#include "regions/regions_text.h"

namespace culprit {

std::string print_regions_csv(const RegionsReport& report) {
  std::string text;
  CsvLine line(text);
  for (const char* heading :
       {"construct", "kind", "name", "file", "first_line", "last_line", "function", "region",
        "thread", "executions", "pieces", "whole_ns", "enter_ns", "body_ns", "exit_ns",
        "exit_barrier_ns", "wait_ns", "unfinished", "unfinished_ns"}) {
    line.add(heading);
  }
  for (const RegionsReport::Counter& counter : report.counters) {
    line.add(counter.name);
    line.add(counter.name + " waiting");
  }
  line.end();
  for (size_t i = 0; i < report.constructs.size(); ++i) {
    const Construct& construct = report.constructs[i];
    const auto add_row = [&](const std::string& thread, const RegionTimes& times,
                             const RegionCounts& counts) {
      CsvLine row(text);
      row.add(construct_number(i));
      row.add(word_of(construct.kind));
      row.add(construct.name);
      row.add(construct.place.file);
      row.add(std::to_string(construct.place.first_line));
      row.add(std::to_string(construct.place.last_line));
      row.add(construct.place.function);
      row.add(construct.region ? construct_number(*construct.region) : "");
      row.add(thread);
      row.add(std::to_string(times.executions));
      row.add(std::to_string(times.pieces));
      for (const double ns : {times.whole_ns(), times.enter_ns, times.body_ns, times.exit_ns,
                              times.exit_barrier_ns, times.wait_ns}) {
        row.add(report.has_times ? fmt::format("{:.0f}", ns) : "");
      }
      row.add(std::to_string(times.unfinished));
      row.add(report.has_times ? fmt::format("{:.0f}", times.unfinished_ns) : "");
      for (size_t at = 0; at < report.counters.size(); ++at) {
        row.add(fmt::format("{:.0f}", counts.inside[at]));
        row.add(fmt::format("{:.0f}", counts.waiting[at]));
      }
      row.end();
    };
    for (const Construct::Thread& one : construct.threads)
      add_row(report.threads[one.thread].label, one.times, one.counts);
    add_row("SUM", construct.sum, construct.counts);
  }
  return text;
}

}  // namespace culprit
