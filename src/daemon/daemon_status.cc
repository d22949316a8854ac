#include "daemon/daemon_status.h"

#include <fmt/format.h>

#include "base/text.h"
#include <nlohmann/json.hpp>

namespace culprit {

namespace {

using Json = nlohmann::ordered_json;

/// Calls visit(name, field) for each count, of one or several totals at once.
void visit_totals(auto&& visit, auto&... totals) {
  visit("handled", totals.handled...);
  visit("idle", totals.idle...);
  visit("lost", totals.lost...);
  visit("skipped", totals.skipped...);
  visit("table_hits", totals.hits...);
  visit("table_misses", totals.misses...);
  visit("table_evictions", totals.evicted...);
  visit("entries", totals.entries...);
  visit("range_hits", totals.range_hits...);
  visit("range_searches", totals.range_searches...);
  visit("range_refusals", totals.range_refusals...);
  visit("names_refused", totals.records_refused...);
  visit("handler_timed", totals.timed...);
  visit("handler_ns", totals.timed_ns...);
  visit("handler_timed_misses", totals.timed_misses...);
  visit("handler_misses_ns", totals.timed_misses_ns...);
  visit("handler_timed_searches", totals.timed_searches...);
  visit("handler_searches_ns", totals.timed_searches_ns...);
  visit("clock_ns", totals.enabled_ns...);
  visit("unknown_locked", totals.unknown_busy...);
  visit("unknown_unmapped", totals.unknown_unmapped...);
  visit("unknown_kernel", totals.unknown_kernel...);
  visit("without_file", totals.anonymous...);
}

Json to_json(const SamplingTotals& totals) {
  Json json;
  visit_totals([&](const char* name, uint64_t value) { json[name] = value; }, totals);
  return json;
}

void visit_totals_of_stacks(auto&& visit, auto& totals) {
  visit("samples", totals.samples);
  visit("lost", totals.lost);
  visit("rest_ns", totals.rest_ns);
  visit("cpu_ns", totals.cpu_ns);
}

Json to_json(const StackTotals& totals) {
  Json json;
  visit_totals_of_stacks([&](const char* name, uint64_t value) { json[name] = value; }, totals);
  json["full"] = totals.is_full;
  return json;
}

double percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string per_sample(uint64_t ns, uint64_t samples) {
  return samples == 0 ? "-"
                      : format_duration_ns(static_cast<double>(ns) / static_cast<double>(samples));
}

std::string describe_samples(const SamplingTotals& totals) {
  return fmt::format("{} samples, {:.1f} % of them idle; {} lost, {} skipped",
                     format_thousands(totals.handled), percent(totals.idle, totals.handled),
                     format_thousands(totals.lost), format_thousands(totals.skipped));
}

std::string describe_unknown(const SamplingTotals& totals) {
  const uint64_t counted = totals.hits + totals.misses;
  const uint64_t unknown = totals.unknown_busy + totals.unknown_unmapped + totals.unknown_kernel;
  return fmt::format("{:.3f} % of {}: {} locked, {} unmapped, {} in the kernel",
                     percent(unknown, counted), format_thousands(counted), totals.unknown_busy,
                     totals.unknown_unmapped, totals.unknown_kernel);
}

}  // namespace

std::string print_status_json(const DaemonStatus& status) {
  Json json{
      {"schema", "culprit-daemon-status-1"},
      {"database", printable(status.database)},
      {"collector", status.collector},
      {"fallback", printable(status.fallback)},
      {"missing_rights", Json::array()},
      {"pid", status.pid},
      {"rate_hz", status.rate_hz},
      {"cpus", status.cpus},
      {"paused", status.is_paused},
      {"running_s", status.running_s},
      {"epoch", printable(status.epoch)},
      {"epoch_s", status.epoch_s},
      {"in_epoch", to_json(status.in_epoch)},
      {"in_all", to_json(status.in_all)},
      {"start_cpu_ns", status.start_cpu_ns},
      {"cpu_ns", status.cpu_ns},
      {"resident_bytes", status.resident_bytes},
      {"peak_bytes", status.peak_bytes},
      {"kernel_bytes", status.kernel_bytes},
      {"stacks", nullptr},
      {"events", Json::array()},
      {"epochs", status.epochs},
      {"epochs_bytes", status.epochs_bytes},
      {"removed_for_space", {{"epochs", status.removed_epochs}, {"bytes", status.removed_bytes}}},
      {"problems", Json::array()}};
  if (status.stacks_hz > 0) {
    json["stacks"] = {{"rate_hz", status.stacks_hz},
                      {"in_epoch", to_json(status.stacks)},
                      {"in_all", to_json(status.stacks_in_all)}};
  }
  for (const std::string& problem : status.problems) json["problems"].push_back(printable(problem));
  for (const std::string& right : status.missing_rights) json["missing_rights"].push_back(right);
  for (const EventTotals& event : status.events) {
    json["events"].push_back({{"name", printable(event.name)},
                              {"period", event.period},
                              {"value", event.value},
                              {"enabled_ns", event.enabled_ns},
                              {"running_ns", event.running_ns}});
  }
  return json.dump(1) + "\n";
}

Result<DaemonStatus> parse_status(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  const auto schema = json.is_object() ? json.find("schema") : json.end();
  if (schema == json.end() || *schema != "culprit-daemon-status-1") {
    return Error{"the daemon's answer is not understood: it may be of another version"};
  }
  DaemonStatus status;
  const auto word = [&](const char* name, std::string& to) {
    const auto at = json.find(name);
    if (at != json.end() && at->is_string()) to = at->get<std::string>();
  };
  const auto number = [](const Json& in, const char* name, auto& to) {
    const auto at = in.find(name);
    using Number = std::remove_reference_t<decltype(to)>;
    const bool fits =
        at != in.end() &&
        (std::is_floating_point_v<Number> ? at->is_number() : at->is_number_unsigned());
    if (fits) to = at->get<Number>();
  };
  const auto totals = [&](const char* name, SamplingTotals& to) {
    const auto at = json.find(name);
    if (at == json.end() || !at->is_object()) return;
    visit_totals([&](const char* field, uint64_t& value) { number(*at, field, value); }, to);
  };
  word("database", status.database);
  word("collector", status.collector);
  word("fallback", status.fallback);
  word("epoch", status.epoch);
  number(json, "pid", status.pid);
  number(json, "rate_hz", status.rate_hz);
  number(json, "cpus", status.cpus);
  number(json, "running_s", status.running_s);
  number(json, "epoch_s", status.epoch_s);
  number(json, "start_cpu_ns", status.start_cpu_ns);
  number(json, "cpu_ns", status.cpu_ns);
  number(json, "resident_bytes", status.resident_bytes);
  number(json, "peak_bytes", status.peak_bytes);
  number(json, "kernel_bytes", status.kernel_bytes);
  number(json, "epochs", status.epochs);
  number(json, "epochs_bytes", status.epochs_bytes);
  if (const auto removed = json.find("removed_for_space");
      removed != json.end() && removed->is_object()) {
    number(*removed, "epochs", status.removed_epochs);
    number(*removed, "bytes", status.removed_bytes);
  }
  const auto paused = json.find("paused");
  status.is_paused = paused != json.end() && paused->is_boolean() && paused->get<bool>();
  totals("in_epoch", status.in_epoch);
  totals("in_all", status.in_all);
  const auto stacks = json.find("stacks");
  if (stacks != json.end() && stacks->is_object()) {
    number(*stacks, "rate_hz", status.stacks_hz);
    for (const auto& [name, to] :
         {std::pair{"in_epoch", &status.stacks}, std::pair{"in_all", &status.stacks_in_all}}) {
      const auto at = stacks->find(name);
      if (at == stacks->end() || !at->is_object()) continue;
      visit_totals_of_stacks([&](const char* field, uint64_t& value) { number(*at, field, value); },
                             *to);
      to->is_full = at->value("full", Json()) == true;
    }
  }
  const auto events = json.find("events");
  if (events != json.end() && events->is_array()) {
    for (const Json& one : *events) {
      EventTotals& event = status.events.emplace_back();
      const auto name = one.is_object() ? one.find("name") : one.end();
      if (name == one.end() || !name->is_string()) continue;
      event.name = name->get<std::string>();
      number(one, "period", event.period);
      number(one, "value", event.value);
      number(one, "enabled_ns", event.enabled_ns);
      number(one, "running_ns", event.running_ns);
    }
  }
  const auto texts = [&](const char* name, std::vector<std::string>& to) {
    const auto at = json.find(name);
    if (at == json.end() || !at->is_array()) return;
    for (const Json& text : *at) {
      if (text.is_string()) to.push_back(text.get<std::string>());
    }
  };
  texts("missing_rights", status.missing_rights);
  texts("problems", status.problems);
  return status;
}

std::string print_status_text(const DaemonStatus& status) {
  std::string text;
  const auto row = [&](const char* name, const std::string& value) {
    text += fmt::format("{:<12} {}\n", name, printable(value));
  };
  const SamplingTotals& all = status.in_all;
  row("database", status.database);
  row("collector", fmt::format("{}, {:.4g} Hz on {} CPUs{}", status.collector, status.rate_hz,
                               status.cpus, status.is_paused ? ", paused" : ""));
  if (!status.fallback.empty()) row("", "not eBPF: " + status.fallback);
  for (const std::string& right : status.missing_rights) row("", right);
  row("running", fmt::format("{} s, pid {}", format_thousands(status.running_s), status.pid));
  row("this epoch", fmt::format("{} s: {}", status.epoch_s, describe_samples(status.in_epoch)));
  for (const EventTotals& event : status.events) {
    row("", fmt::format("{} {}, a sample of {}, {:.0f} % of the time",
                        format_thousands(event.value), event.name, format_thousands(event.period),
                        percent(event.running_ns, event.enabled_ns)));
  }
  row("in all", describe_samples(all));
  row("unknown", describe_unknown(all));
  row("", fmt::format("{:.2f} % in code without a file or a name",
                      percent(all.anonymous, all.hits + all.misses)));
  if (all.hits + all.misses > 0 && all.entries > 0 && all.timed > 0) {
    row("table",
        fmt::format("{:.1f} % hits, {:.1f} % evictions, {:.2f} samples an entry",
                    percent(all.hits, all.hits + all.misses),
                    percent(all.evicted, all.hits + all.misses),
                    static_cast<double>(all.hits + all.misses) / static_cast<double>(all.entries)));
    row("ranges", fmt::format("{:.1f} % known, {} searches, {} refused",
                              percent(all.range_hits, all.range_hits + all.range_searches),
                              format_thousands(all.range_searches), all.range_refusals));
  }
  if (status.stacks_hz > 0) {
    const StackTotals& stacks = status.stacks_in_all;
    row("stacks", fmt::format("at {:.4g} Hz: {}, {} lost; {} each in the daemon", status.stacks_hz,
                              format_thousands(stacks.samples), format_thousands(stacks.lost),
                              per_sample(stacks.cpu_ns, stacks.samples)));
    if (status.stacks.is_full) row("", "this epoch has as many different ones as are kept");
    if (stacks.rest_ns > 0) {
      row("", fmt::format("none for {}, which was beyond the budget",
                          format_duration_ns(static_cast<double>(stacks.rest_ns))));
    }
  }
  row("cost",
      fmt::format("a sample takes {} in its handler, {} in the daemon",
                  per_sample(all.timed_ns, all.timed), per_sample(status.cpu_ns, all.handled)));
  if (all.timed > 0) {
    const uint64_t others = all.timed - all.timed_misses - all.timed_searches;
    const uint64_t others_ns = all.timed_ns - all.timed_misses_ns - all.timed_searches_ns;
    row("", fmt::format("in its handler {}, {} where it was new in the table,",
                        per_sample(others_ns, others),
                        per_sample(all.timed_misses_ns, all.timed_misses)));
    row("", fmt::format("{} where it needed the kernel's list of mappings ({:.1f} %)",
                        per_sample(all.timed_searches_ns, all.timed_searches),
                        percent(all.timed_searches, all.timed)));
  }
  row("", "to start took " + format_duration_ns(static_cast<double>(status.start_cpu_ns)));
  row("memory",
      fmt::format("{} resident (peak {}), {} in the kernel", format_bytes(status.resident_bytes),
                  format_bytes(status.peak_bytes), format_bytes(status.kernel_bytes)));
  row("epochs", fmt::format("{}, {}", status.epochs, format_bytes(status.epochs_bytes)));
  if (status.removed_epochs > 0) {
    row("removed", fmt::format("the oldest {}, {}, since too little space is free",
                               status.removed_epochs, format_bytes(status.removed_bytes)));
  }
  for (const std::string& problem : status.problems) row("problem", problem);
  return text;
}

}  // namespace culprit
