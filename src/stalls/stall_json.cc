// A summary for programs: schema/stalls.schema.json.

#include <string>

#include "base/names.h"
#include "print/json_parts.h"
#include "stalls/stall_summary.h"

namespace culprit {
namespace {

Json json_stalls(const Stalls& stalls, const StallSummary& summary) {
  const std::vector<std::string> events = list_event_names(summary);
  Json causes = Json::array();
  for (const size_t cause : order_causes(stalls.cycles, stalls.high, stalls.likely)) {
    if (!(stalls.high[cause] > 0)) continue;
    causes.push_back({{"cause", kStallCauseNames[cause].key},
                      {"letter", kStallCauseNames[cause].letter},
                      {"low_cycles", stalls.low[cause]},
                      {"high_cycles", stalls.high[cause]},
                      {"bounded_by", name_sources(stalls.sources[cause], events)}});
  }
  Json json = {
      {"cycles", stalls.cycles}, {"samples", stalls.samples}, {"causes", std::move(causes)}};
  if (!summary.has_best) {
    json["not_told_apart_cycles"] = stalls.untold;
    return json;
  }
  json["instructions"] = stalls.executions;
  json["best_case"] = {{"execution_cycles", stalls.best.execution},
                       {"port_cycles", stalls.best.port},
                       {"chain_cycles", stalls.best.chain},
                       {"divider_cycles", stalls.best.divider},
                       {"other_cycles", stalls.best.other}};
  json["dynamic_cycles"] = stalls.explained;
  json["unexplained_cycles"] = stalls.unexplained;
  json["gain_cycles"] = stalls.gain;
  return json;
}

}  // namespace

std::string print_stall_summary_json(const Profile& profile, const StallSummary& summary) {
  Json places = Json::array();
  for (const StallPlace& place : summary.places) {
    Json json = json_stalls(place.stalls, summary);
    json["function"] = printable(place.function);
    json["module"] = printable(place.module);
    if (place.begin) {
      json["loop"] = {{"address", json_address(*place.begin)},
                      {"end_address", json_address(*place.end)}};
    }
    places.push_back(std::move(json));
  }
  Json events = Json::array();
  for (const StallEvent& event : summary.events) {
    events.push_back({{"event", event.name},
                      {"samples", event.samples},
                      {"value", event.value},
                      {"low", event.low},
                      {"high", event.high}});
  }
  return dump({{"schema", "culprit-stalls-1"},
               {"runs", json_runs(profile)},
               {"machine", json_machine(profile.machine)},
               {"clock", json_clock(profile.machine)},
               {"part", printable(summary.part)},
               {"unit", summary.is_in_cycles ? "cycles" : "ns"},
               {"executions", word_of(summary.source)},
               {"everything_cycles", summary.everything},
               {"cycles", summary.cycles},
               {"samples", summary.samples},
               {"kernel_cycles", summary.kernel},
               {"unknown_cycles", summary.other},
               {"tallied", json_stalls(summary.tallied, summary)},
               {"events", std::move(events)},
               {"remarks", summary.remarks},
               {"places", std::move(places)},
               {"verdict", printable(summary.verdict)},
               {"ledger", json_ledger(profile.ledger)}});
}

}  // namespace culprit
