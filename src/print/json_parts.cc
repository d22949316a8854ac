#include "print/json_parts.h"

#include "model/event_names.h"

namespace culprit {

Json json_events(const Profile& profile, const std::vector<std::string>& event_names,
                 const std::vector<Value>& totals) {
  Json events = Json::array();
  for (size_t i = 0; i < totals.size(); ++i) {
    const Event& event = profile.events[i];
    events.push_back({{"name", printable(event_names[i])},
                      {"unit", unit_name(event.unit)},
                      {"provenance", provenance_name(event.provenance)},
                      {"engine", printable(profile.strings.text(event.engine))},
                      {"period", event.period},
                      {"samples", totals[i].samples},
                      {"total", totals[i].value}});
  }
  return events;
}

namespace {

Json json_known(const std::optional<int64_t>& value) {
  return value ? Json(*value) : Json();
}

}  // namespace

Json json_runs(const Profile& profile) {
  Json runs = Json::array();
  for (const Run& run : profile.runs) {
    Json one = {{"command", printable(profile.strings.text(run.command))},
                {"host", printable(profile.strings.text(run.host))},
                {"start_ns", run.start_ns},
                {"duration_ns", run.duration_ns}};
    one["cpu_time_ns"] = json_known(run.cpu_time_ns);
    one["system_time_ns"] = json_known(run.use.system_time_ns);
    one["minor_faults"] = json_known(run.use.minor_faults);
    one["major_faults"] = json_known(run.use.major_faults);
    one["read_calls"] = json_known(run.use.read_calls);
    one["read_bytes"] = json_known(run.use.read_bytes);
    one["write_calls"] = json_known(run.use.write_calls);
    one["written_bytes"] = json_known(run.use.written_bytes);
    one["other_programs_ns"] = json_known(run.others.other_programs_ns);
    one["stolen_ns"] = json_known(run.others.stolen_ns);
    one["wait_status"] = run.wait_status ? Json(*run.wait_status) : Json();
    runs.push_back(std::move(one));
  }
  return runs;
}

Json json_machine(const Machine& machine) {
  return {{"architecture", printable(machine.architecture)},
          {"cpu_model", printable(machine.cpu_model)},
          {"cpu_id", printable(machine.cpu_id)},
          {"kernel_release", printable(machine.kernel_release)},
          {"cpus_online", machine.cpus_online},
          {"has_pmu", machine.has_pmu},
          {"virtualization", printable(machine.virtualization)}};
}

Json json_clock(const Machine& machine) {
  const ClockCalibration* clock = find_clock(machine);
  if (clock == nullptr) return {};
  return {{"hertz", clock->hertz},
          {"low_hertz", clock->low_hertz},
          {"high_hertz", clock->high_hertz},
          {"bursts", clock->bursts}};
}

Json json_ledger(const Ledger& ledger) {
  Json object = {{"lost_samples", ledger.amount(ledger::kLostSamples)}};
  for (const auto& [key, amount] : ledger.amounts()) object[printable(key)] = amount;
  Json notes = Json::array();
  for (const std::string& note : ledger.notes()) notes.push_back(printable(note));
  object["notes"] = std::move(notes);
  return object;
}

}  // namespace culprit
