// The tree of cycles for programs: schema/why.schema.json, and a CSV line per node.

#include "model/event_names.h"
#include "print/csv.h"
#include "print/json_parts.h"
#include "report/row_filter.h"
#include "why/why_parts.h"

namespace culprit {
namespace {

Json json_estimate(const std::optional<Estimate>& estimate) {
  if (!estimate) return {};
  return {{"value", estimate->value}, {"error", estimate->standard_error}};
}

const char* role_name(Role role) {
  switch (role) {
    case Role::sum:
      return "sum";
    case Role::info:
      return "info";
    case Role::bound:
      return "bound";
    case Role::derive:
      return "derive";
  }
  return "info";
}

Json json_event(const CostNode& node) {
  const TemplateRow& row = *node.row;
  Json event = {
      {"name", printable(row.event)},
      {"role", role_name(row.role)},
      {"count", node.amount ? json_estimate(node.amount->events) : Json()},
      {"count_provenance", node.amount ? Json(provenance_name(node.amount->provenance)) : Json()}};
  event["penalty"] = row.penalty.value ? Json(*row.penalty.value) : Json();
  event["penalty_unit"] = row.penalty.unit == PenaltyUnit::ns ? "ns" : "cycles";
  event["penalty_source"] = printable(row.penalty.source);
  event["penalty_is_estimate"] = row.penalty.is_estimate;
  event["problem"] = printable(row.problem);
  event["advice"] = printable(row.advice);
  return event;
}

Json json_node(const CostNode& node) {
  Json object = {{"kind", kind_name(node.kind)},
                 {"label", printable(node.label)},
                 {"branch", std::string(branch_key(node.branch))},
                 {"state", state_name(node.state)},
                 {"reason", printable(node.reason)},
                 {"cycles", json_estimate(node.cycles)},
                 {"provenance", provenance_name(node.provenance)},
                 {"in_sum", node.in_sum},
                 {"linear", node.is_linear},
                 {"uncapped", json_estimate(node.uncapped)},
                 {"ratio", json_estimate(node.ratio)}};
  object["event"] = node.row == nullptr ? Json() : json_event(node);
  Json parts = Json::array();
  for (const CostNode& part : node.parts) parts.push_back(json_node(part));
  object["parts"] = std::move(parts);
  return object;
}

Json json_number(const std::optional<double>& value) {
  return value ? Json(*value) : Json();
}

Json json_halted(const std::optional<HaltedTime>& halted) {
  if (!halted) return {};
  return {{"measured_by", halted->measure == HaltedTime::Measure::tsc ? "tsc" : "idle_time"},
          {"total_cycles", json_number(halted->total_cycles)},
          {"cycles", json_number(halted->cycles)},
          {"seconds", json_number(halted->seconds)},
          {"capacity_seconds", json_number(halted->capacity_seconds)},
          {"ratio", halted->ratio()}};
}

Json json_waiting(const std::optional<WaitingTime>& waiting) {
  if (!waiting) return {};
  Json kinds = Json::array();
  for (const WaitKind& kind : waiting->kinds) {
    kinds.push_back({{"kind", kind.kind},
                     {"ns", kind.ns},
                     {"function", printable(kind.function)},
                     {"share", kind.share}});
  }
  return {{"on_cpu_ns", waiting->on_cpu_ns},
          {"on_cpu_is_sampled", waiting->on_cpu_is_sampled},
          {"waiting_ns", waiting->waiting_ns},
          {"preempted_ns", waiting->preempted_ns},
          {"kinds", std::move(kinds)}};
}

Json json_kernel(const std::optional<KernelTime>& kernel) {
  if (!kernel) return {};
  Json parts = Json::array();
  for (const KernelPart& part : kernel->parts) {
    Json calls = Json::array();
    for (const NamedShare& call : part.calls) {
      calls.push_back({{"name", printable(call.name)}, {"share", call.share}});
    }
    parts.push_back({{"kind", std::string(part.kind->key)},
                     {"title", std::string(part.kind->title)},
                     {"share", json_estimate(part.share)},
                     {"samples", part.samples},
                     {"calls", std::move(calls)},
                     {"function", printable(part.function)},
                     {"line", printable(part.line)},
                     {"place_share", part.place_share},
                     {"around", json_estimate(part.around)},
                     {"copied", part.copied},
                     {"file_cache", part.file_cache}});
  }
  return {{"share", json_estimate(kernel->share)},
          {"samples", kernel->samples},
          {"by_stacks", kernel->has_stacks},
          {"parts", std::move(parts)}};
}

Json json_library(const std::vector<LibraryPart>& parts) {
  Json list = Json::array();
  for (const LibraryPart& part : parts) {
    list.push_back({{"kind", part.kind->key},
                    {"title", part.kind->title},
                    {"share", json_estimate(part.share)},
                    {"samples", part.samples},
                    {"function", printable(part.function)},
                    {"function_share", part.function_share}});
  }
  return list;
}

Json json_measured(const std::optional<MeasuredCycles>& measured) {
  if (!measured) return {};
  return {{"measured", json_estimate(measured->measured)},
          {"samples", measured->samples},
          {"kernel", json_estimate(measured->kernel)},
          {"modelled", measured->modelled.value},
          {"unexplained", json_estimate(measured->unexplained)},
          {"fit",
           {{"judged", measured->fit.judged},
            {"fitting", measured->fit.fitting},
            {"together", measured->fit.together},
            {"together_fits", measured->fit.together_fits},
            {"missing", measured->fit.missing},
            {"excess", measured->fit.excess}}},
          {"everything", json_estimate(measured->everything)}};
}

Json json_what_holds_up(const WhyReport& why) {
  const WaitKind* const kind = why.verdict.waiting;
  if (kind == nullptr) return {};
  return {{"kind", kind->kind}, {"words", describe_idle_time(*why.waiting, *kind)}};
}

Json json_verdict(const WhyReport& why) {
  const Verdict& verdict = why.verdict;
  Json object = {{"certainty", certainty_name(verdict.certainty)},
                 {"reason", printable(verdict.reason)}};
  object["kernel"] =
      verdict.kernel == nullptr ? Json() : Json(std::string(verdict.kernel->kind->key));
  object["library"] = verdict.library == nullptr ? Json() : Json(verdict.library->kind->key);
  object["waiting"] = json_what_holds_up(why);
  object["branch"] =
      verdict.branch == nullptr ? Json() : Json(std::string(branch_key(verdict.branch->branch)));
  return object;
}

Json json_gain(const std::optional<GainForecast>& gain) {
  if (!gain) return {};
  return {{"expected", gain->expected}, {"low", gain->low}, {"high", gain->high}};
}

Json json_callers(const PlacedAdvice& advice) {
  Json list = Json::array();
  for (const Caller& caller : advice.callers) {
    list.push_back({{"function", printable(caller.function)},
                    {"line", printable(caller.line)},
                    {"share", caller.share}});
  }
  return list;
}

Json json_loop(const std::optional<LoopRounds>& loop) {
  if (!loop) return {};
  return {{"line", printable(loop->line)}, {"rounds", loop->rounds}, {"entries", loop->entries}};
}

Json json_advice(const WhyReport& why) {
  Json list = Json::array();
  for (const PlacedAdvice& one : why.advice) {
    list.push_back({{"label", printable(one.label)},
                    {"branch", one.is_of_branch()    ? std::string(branch_key(one.branch))
                               : one.library.empty() ? "kernel"
                                                     : "library"},
                    {"kernel", one.kernel.empty() ? Json() : Json(one.kernel)},
                    {"library", one.library.empty() ? Json() : Json(one.library)},
                    {"cycles", json_estimate(one.cycles)},
                    {"share", one.unhalted},
                    {"at_most", one.at_most},
                    {"upper_end", one.upper_end},
                    {"gain", json_gain(one.gain)},
                    {"tried", one.tried == nullptr ? Json() : Json(one.tried->kind->key)},
                    {"here", printable(one.here)},
                    {"problem", printable(one.problem)},
                    {"advice", printable(one.advice)},
                    {"function", printable(one.function)},
                    {"line", printable(one.line)},
                    {"callers", json_callers(one)},
                    {"loop", json_loop(one.loop)},
                    {"share_of_cost", one.share}});
  }
  return list;
}

Json json_tried(const WhyReport& why) {
  Json list = Json::array();
  for (const TriedChange& one : why.tried) {
    list.push_back({{"experiment", one.kind->key},
                    {"change", one.kind->change},
                    {"pairs", one.pairs},
                    {"saved", json_gain(one.saved)}});
  }
  return list;
}

Json json_rules(const WhyReport& why) {
  Json list = Json::array();
  for (const RuleResult& rule : why.rules) {
    list.push_back({{"name", printable(rule.rule->name)},
                    {"left", json_estimate(rule.left)},
                    {"right", json_estimate(rule.right)},
                    {"difference", rule.difference},
                    {"tolerance", rule.rule->tolerance},
                    {"broken", rule.is_broken},
                    {"meaning", printable(rule.rule->meaning)}});
  }
  return list;
}

Json json_texts(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(printable(text));
  return list;
}

void add_lines(const CostNode& node, const std::string& path, std::string& text) {
  const std::string here = path.empty() ? node.label : path + " / " + node.label;
  CsvLine line(text);
  line.add(here);
  line.add(kind_name(node.kind));
  line.add(state_name(node.state));
  line.add(node.cycles ? fmt::format("{}", node.cycles->value) : "");
  line.add(node.cycles ? fmt::format("{}", node.cycles->standard_error) : "");
  line.add(node.cycles ? provenance_name(node.provenance) : "");
  line.add(node.in_sum ? "1" : "0");
  line.add(node.row == nullptr ? "" : node.row->event);
  line.add(node.amount ? fmt::format("{}", node.amount->events.value) : "");
  line.end();
  for (const CostNode& part : node.parts) add_lines(part, here, text);
}

/// A level that has no node in the tree of unhalted cycles.
void add_level(const char* name, double cycles, std::string& text) {
  CsvLine line(text);
  for (const char* word : {name, "level", "measured"}) line.add(word);
  line.add(fmt::format("{}", cycles));
  for (const char* word : {"0", "counted", "0", "", ""}) line.add(word);
  line.end();
}

}  // namespace

std::string print_why_json(const Profile& profile, const Template& cpu, const WhyReport& why) {
  Json filters = Json::array();
  for (const Filter& filter : why.options.filters) {
    filters.push_back(
        {{"level", level_name(filter.level)}, {"pattern", printable(filter.pattern)}});
  }
  Json general = Json::array();
  for (const CostNode& node : why.tree.general) general.push_back(json_node(node));
  const Json json = {{"schema", "culprit-why-2"},
                     {"runs", json_runs(profile)},
                     {"machine", json_machine(profile.machine)},
                     {"clock", json_clock(profile.machine)},
                     {"template",
                      {{"name", printable(cpu.name)},
                       {"description", printable(cpu.description)},
                       {"validated", !cpu.validated_by.empty()},
                       {"validated_by", printable(cpu.validated_by)},
                       {"source", printable(cpu.source)}}},
                     {"filters", std::move(filters)},
                     {"tree", json_node(why.tree.unhalted)},
                     {"general", std::move(general)},
                     {"everything", json_estimate(why.everything)},
                     {"overlap", json_estimate(why.tree.overlap)},
                     {"unexplained", json_estimate(why.tree.unexplained)},
                     {"halted", json_halted(why.halted)},
                     {"waiting", json_waiting(why.waiting)},
                     {"kernel", json_kernel(why.kernel)},
                     {"library", json_library(why.library)},
                     {"measured", json_measured(why.measured)},
                     {"verdict", json_verdict(why)},
                     {"tried", json_tried(why)},
                     {"advice", json_advice(why)},
                     {"rules", json_rules(why)},
                     {"remarks", json_texts(why.remarks)},
                     {"other_events", json_texts(why.other_events)},
                     {"ledger", json_ledger(profile.ledger)}};
  return dump(json);
}

std::string print_why_csv(const WhyReport& why) {
  std::string text;
  CsvLine heading(text);
  for (const char* word : {"path", "kind", "state", "cycles", "cycles error", "provenance",
                           "in sum", "event", "count"}) {
    heading.add(word);
  }
  heading.end();
  if (why.halted && why.halted->cycles) {
    add_level("total", *why.halted->total_cycles, text);
    add_level("halted", *why.halted->cycles, text);
  }
  add_lines(why.tree.unhalted, "", text);
  for (const CostNode& node : why.tree.general) add_lines(node, "general", text);
  return text;
}

std::string print_why(const Profile& profile, const Template& cpu, const WhyReport& why,
                      Format format, const TextStyle& style) {
  switch (format) {
    case Format::text:
      return print_why_text(profile, cpu, why, style);
    case Format::json:
      return print_why_json(profile, cpu, why);
    case Format::csv:
      return print_why_csv(why);
  }
  return "";
}

}  // namespace culprit
