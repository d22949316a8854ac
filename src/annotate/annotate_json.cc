// A listing for programs: schema/annotate.schema.json; and for spreadsheets.

#include "annotate/annotation.h"
#include "base/names.h"
#include "print/csv.h"
#include "print/json_parts.h"

namespace culprit {

namespace {

using Names = std::vector<std::string>;

// Columns of the CSV for profiles of two runs.
constexpr const char* kRange[] = {"cycles per instruction low", "cycles per instruction high"};
constexpr const char* kEstimate[] = {"cycles per instruction value",
                                     "cycles per instruction error"};

/// Into `object`, of profiles of two runs; null: nothing was sampled or executed there.
void add_cpi(const Annotation& annotation, const std::optional<Estimate>& cpi, Json& object) {
  if (!annotation.executed) return;
  object["cycles_per_instruction"] =
      cpi ? Json{{"value", cpi->value}, {"error", cpi->standard_error}} : Json();
}

Json json_causes(const std::vector<AnnotatedCause>& all) {
  Json causes = Json::array();
  for (const AnnotatedCause& cause : all) {
    Json one = {{"cause", cause.key}, {"letter", cause.letter}, {"bounded_by", cause.bounded_by}};
    if (cause.cycles) {
      one["low_cycles"] = cause.cycles->low;
      one["high_cycles"] = cause.cycles->high;
    }
    if (cause.most) one["most_ratio"] = *cause.most;
    causes.push_back(std::move(one));
  }
  return causes;
}

Json json_stall(const AnnotatedStall& stall) {
  Json json = {{"waits_for", json_address(stall.waits_for)}, {"causes", json_causes(stall.causes)}};
  if (!stall.ruled_out.empty()) json["ruled_out"] = json_causes(stall.ruled_out);
  if (stall.cycles) {
    json["cycles"] = *stall.cycles;
    json["unexplained_cycles"] = stall.unexplained;
  }
  return json;
}

/// The control flow of a place; null ends are outside of it.
void add_flow(const AnnotatedPlace& place, Json& object) {
  if (place.executions.empty()) return;
  object["executions"] = place.executions;
  Json edges = Json::array();
  for (const AnnotatedEdge& edge : place.edges) {
    Json one = {{"from", edge.from ? Json(json_address(*edge.from)) : Json()},
                {"to", edge.to ? Json(json_address(*edge.to)) : Json()},
                {"assumed", edge.is_assumed}};
    if (edge.runs) {
      one["runs"] = *edge.runs;
      one["confidence"] = edge.confidence;
    }
    edges.push_back(std::move(one));
  }
  object["edges"] = std::move(edges);
  Json loops = Json::array();
  for (const AnnotatedLoop& loop : place.loops) {
    Json one = {{"address", json_address(loop.begin)},
                {"end_address", json_address(loop.end)},
                {"depth", loop.depth},
                {"irreducible", loop.is_irreducible}};
    if (loop.rounds) one["rounds"] = *loop.rounds;
    loops.push_back(std::move(one));
  }
  object["loops"] = std::move(loops);
}

Json json_instruction(const AnnotatedInstruction& one, const Names& names) {
  Json object = {{"address", json_address(one.address)}, {"size", one.size}};
  if (one.size > 0) object["text"] = printable(one.text);
  if (one.line != 0) {
    object["file"] = printable(one.file);
    object["line"] = one.line;
  }
  Json calls = Json::array();
  for (const InlineCall& call : one.inlined) {
    calls.push_back({{"function", printable(call.function)},
                     {"call_file", printable(call.call_file)},
                     {"call_line", call.call_line}});
  }
  if (!calls.empty()) object["inlined"] = std::move(calls);
  object["values"] = json_values(names, one.values);
  if (one.cpi) {
    object["cycles_per_instruction"] = {{"low", one.cpi->low}, {"high", one.cpi->high}};
  }
  if (one.stall) object["stall"] = json_stall(*one.stall);
  return object;
}

Json json_place(const Annotation& annotation, const AnnotatedPlace& place, const Names& names) {
  Json blocks = Json::array();
  for (const AnnotatedBlock& block : place.blocks) {
    Json instructions = Json::array();
    for (const AnnotatedInstruction& one : block.instructions) {
      instructions.push_back(json_instruction(one, names));
    }
    Json object = {{"address", json_address(block.begin)},
                   {"end_address", json_address(block.end)},
                   {"values", json_values(names, block.values)},
                   {"instructions", std::move(instructions)}};
    add_cpi(annotation, block.cpi, object);
    if (block.best_cpi) object["best_case_per_instruction"] = *block.best_cpi;
    blocks.push_back(std::move(object));
  }
  Json object = {{"function", printable(place.function)},
                 {"address", json_address(place.begin)},
                 {"end_address", json_address(place.end)},
                 {"values", json_values(names, place.values)},
                 {"blocks", std::move(blocks)}};
  if (!place.problem.empty()) object["problem"] = printable(place.problem);
  add_flow(place, object);
  return object;
}

Json json_lines(const Annotation& annotation, const Names& names) {
  Json lines = Json::array();
  for (const AnnotatedLine& line : annotation.lines) {
    Json object = Json::object();
    if (line.line != 0) {
      object["file"] = printable(line.file);
      object["line"] = line.line;
    }
    if (line.text) object["text"] = expand_tabs(*line.text);
    object["values"] = json_values(names, line.values);
    add_cpi(annotation, line.cpi, object);
    lines.push_back(std::move(object));
  }
  return lines;
}

}  // namespace

std::string print_annotation_json(const Profile& profile, const Annotation& annotation) {
  Names names;
  for (const std::string& name : annotation.event_names) names.push_back(printable(name));
  Json function = {{"name", printable(annotation.function)},
                   {"module", printable(annotation.module)},
                   {"inlined", annotation.inlined}};
  if (annotation.line != 0) {
    function["file"] = printable(annotation.file);
    function["line"] = annotation.line;
  }
  function["values"] = json_values(names, annotation.values);
  add_cpi(annotation, annotation.cpi, function);
  Json places = Json::array();
  for (const AnnotatedPlace& place : annotation.places) {
    places.push_back(json_place(annotation, place, names));
  }
  Json remarks = Json::array();
  for (const std::string& remark : annotation.remarks) remarks.push_back(printable(remark));
  return dump({{"schema", "culprit-annotate-1"},
               {"runs", json_runs(profile)},
               {"machine", json_machine(profile.machine)},
               {"clock", json_clock(profile.machine)},
               {"events", json_events(profile, names, annotation.totals)},
               {"function", std::move(function)},
               {"places", std::move(places)},
               {"lines", json_lines(annotation, names)},
               {"remarks", std::move(remarks)},
               {"ledger", json_ledger(profile.ledger)}});
}

std::string print_annotation_csv(const Annotation& annotation, const AnnotateOptions& options) {
  std::string text;
  CsvLine heading(text);
  for (const char* name : {"file", "line"}) heading.add(name);
  if (options.show_assembly) {
    for (const char* name : {"function", "address", "size"}) heading.add(name);
  }
  heading.add("text");
  add_value_headings(heading, annotation.event_names);
  if (annotation.executed) {
    for (const char* name : options.show_assembly ? kRange : kEstimate) heading.add(name);
  }
  heading.end();
  const auto add_line = [](CsvLine& line, const std::string& file, uint32_t number) {
    line.add(file);
    line.add(number == 0 ? "" : std::to_string(number));
  };
  if (!options.show_assembly) {
    for (const AnnotatedLine& one : annotation.lines) {
      CsvLine line(text);
      add_line(line, one.file, one.line);
      line.add(one.text ? expand_tabs(*one.text) : "");
      add_values(line, one.values);
      if (annotation.executed) {
        line.add(one.cpi ? fmt::format("{:.6g}", one.cpi->value) : "");
        line.add(one.cpi ? fmt::format("{:.6g}", one.cpi->standard_error) : "");
      }
      line.end();
    }
    return text;
  }
  for (const AnnotatedPlace& place : annotation.places) {
    for (const AnnotatedBlock& block : place.blocks) {
      for (const AnnotatedInstruction& one : block.instructions) {
        CsvLine line(text);
        add_line(line, one.file, one.line);
        line.add(one.inlined.empty() ? place.function : one.inlined.back().function);
        line.add(json_address(one.address));
        line.add(std::to_string(one.size));
        line.add(one.text);
        add_values(line, one.values);
        if (annotation.executed) {
          line.add(one.cpi ? fmt::format("{:.6g}", one.cpi->low) : "");
          line.add(one.cpi ? fmt::format("{:.6g}", one.cpi->high) : "");
        }
        line.end();
      }
    }
  }
  return text;
}

}  // namespace culprit
