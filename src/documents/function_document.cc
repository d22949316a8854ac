#include "documents/function_document.h"

#include <map>

#include "documents/object_text.h"
#include "documents/table_document.h"

namespace culprit {

namespace {

void add_value_columns(Json& to, const std::vector<size_t>& columns,
                       const std::vector<const std::vector<Value>*>& rows) {
  ValueColumns of_rows(columns, rows);
  to["values"] = std::move(of_rows.values);
  to["errors"] = std::move(of_rows.errors);
  to["samples"] = std::move(of_rows.samples);
}

Json json_estimate(const std::optional<Estimate>& estimate) {
  if (!estimate) return nullptr;
  return {{"value", estimate->value}, {"error", estimate->standard_error}};
}

Json json_interval(const std::optional<Interval>& interval) {
  if (!interval) return nullptr;
  return Json::array({interval->low, interval->high});
}

class FunctionDocument {
 public:
  FunctionDocument(const Profile& profile, const Annotation& annotation)
      : profile_(profile), annotation_(annotation) {}

  std::string write() {
    std::vector<const std::vector<Value>*> values{&annotation_.values};
    for (const AnnotatedPlace& place : annotation_.places) add_place(place);
    for (const std::vector<Value>* row : of_instructions_) values.push_back(row);
    for (const AnnotatedLine& line : annotation_.lines) values.push_back(&line.values);
    const std::vector<size_t> columns = columns_with_values(annotation_.event_names.size(), values);
    Json document{{"schema", "culprit-web-function-1"},
                  {"function", annotation_.function},
                  {"module", annotation_.module},
                  {"file", annotation_.file},
                  {"line", annotation_.line},
                  {"inlined", annotation_.inlined},
                  {"cpi", json_estimate(annotation_.cpi)},
                  {"columns", describe(columns)},
                  {"places", std::move(places_)}};
    add_value_columns(instructions_, columns, of_instructions_);
    document["instructions"] = std::move(instructions_);
    document["lines"] = lines(columns);
    document["inline_stacks"] = std::move(stacks_);
    document["files"] = Json::array();
    for (const std::string* const file : files_.texts()) document["files"].push_back(*file);
    document["more_heading"] = annotation_.more_heading;
    document["legend"] = annotation_.legend;
    document["remarks"] = annotation_.remarks;
    return dump_compact(document);
  }

 private:
  Json describe(const std::vector<size_t>& columns) const {
    const Json all = json_events(profile_, annotation_.event_names, annotation_.totals);
    Json described = Json::array();
    for (const size_t column : columns) {
      Json one = all.at(column);
      one["total"] = json_value(annotation_.totals[column]);
      one["function"] = json_value(annotation_.values[column]);
      described.push_back(std::move(one));
    }
    return described;
  }

  void add_place(const AnnotatedPlace& place) {
    Json blocks = Json::array();
    for (const AnnotatedBlock& block : place.blocks) {
      blocks.push_back({{"begin", json_address(block.begin)},
                        {"end", json_address(block.end)},
                        {"first", of_instructions_.size()},
                        {"count", block.instructions.size()},
                        {"cpi", json_estimate(block.cpi)}});
      for (const AnnotatedInstruction& one : block.instructions) add_instruction(one);
    }
    places_.push_back({{"function", place.function},
                       {"begin", json_address(place.begin)},
                       {"end", json_address(place.end)},
                       {"problem", place.problem},
                       {"blocks", std::move(blocks)},
                       {"executions", place.executions},
                       {"edges", json_edges(place)},
                       {"loops", json_loops(place)}});
  }

  /// Edges join blocks by their places among the blocks; -1 is outside.
  static Json json_edges(const AnnotatedPlace& place) {
    std::map<uint64_t, int64_t> number;
    for (const AnnotatedBlock& block : place.blocks) {
      number.emplace(block.begin, static_cast<int64_t>(number.size()));
    }
    const auto find = [&](const std::optional<uint64_t>& begin) {
      const auto found = begin ? number.find(*begin) : number.end();
      return found == number.end() ? -1 : found->second;
    };
    Json from = Json::array();
    Json to = Json::array();
    Json runs = Json::array();
    Json assumed = Json::array();
    for (const AnnotatedEdge& edge : place.edges) {
      from.push_back(find(edge.from));
      to.push_back(find(edge.to));
      runs.push_back(edge.runs ? Json(*edge.runs) : Json(nullptr));
      assumed.push_back(edge.is_assumed);
    }
    return {{"from", std::move(from)},
            {"to", std::move(to)},
            {"runs", std::move(runs)},
            {"assumed", std::move(assumed)}};
  }

  static Json json_loops(const AnnotatedPlace& place) {
    Json loops = Json::array();
    for (const AnnotatedLoop& loop : place.loops) {
      loops.push_back({{"begin", json_address(loop.begin)},
                       {"end", json_address(loop.end)},
                       {"depth", loop.depth},
                       {"irreducible", loop.is_irreducible},
                       {"rounds", loop.rounds ? Json(*loop.rounds) : Json(nullptr)}});
    }
    return loops;
  }

  static Json json_stall(const std::optional<AnnotatedStall>& stall) {
    if (!stall) return nullptr;
    Json causes = Json::array();
    for (const AnnotatedCause& cause : stall->causes) {
      causes.push_back({{"letter", cause.letter},
                        {"cause", cause.key},
                        {"cycles", json_interval(cause.cycles)}});
    }
    return {{"waits_for", json_address(stall->waits_for)},
            {"cycles", stall->cycles ? Json(*stall->cycles) : Json(nullptr)},
            {"unexplained", stall->unexplained},
            {"causes", std::move(causes)}};
  }

  void add_instruction(const AnnotatedInstruction& one) {
    instructions_["address"].push_back(json_address(one.address));
    instructions_["text"].push_back(one.text);
    instructions_["file"].push_back(files_.number_of(one.file));
    instructions_["line"].push_back(one.line);
    instructions_["stack"].push_back(stack_number(one.inlined));
    instructions_["cpi"].push_back(json_interval(one.cpi));
    instructions_["more"].push_back(one.more);
    instructions_["stall"].push_back(json_stall(one.stall));
    of_instructions_.push_back(&one.values);
  }

  /// The place of the frames among the stacks; -1: nothing is inlined there.
  int64_t stack_number(const std::vector<InlineCall>& frames) {
    if (frames.empty()) return -1;
    Json stack = Json::array();
    for (const InlineCall& frame : frames) {
      stack.push_back({{"function", frame.function},
                       {"call_file", files_.number_of(frame.call_file)},
                       {"call_line", frame.call_line}});
    }
    const auto [at, is_new] = stack_numbers_.emplace(dump_compact(stack), stacks_.size());
    if (is_new) stacks_.push_back(std::move(stack));
    return static_cast<int64_t>(at->second);
  }

  Json lines(const std::vector<size_t>& columns) {
    Json file = Json::array();
    Json number = Json::array();
    Json text = Json::array();
    Json cpi = Json::array();
    Json more = Json::array();
    std::vector<const std::vector<Value>*> values;
    for (const AnnotatedLine& line : annotation_.lines) {
      file.push_back(files_.number_of(line.file));
      number.push_back(line.line);
      text.push_back(line.text ? Json(*line.text) : Json(nullptr));
      cpi.push_back(json_estimate(line.cpi));
      more.push_back(line.more);
      values.push_back(&line.values);
    }
    Json all{{"file", std::move(file)},
             {"line", std::move(number)},
             {"text", std::move(text)},
             {"cpi", std::move(cpi)},
             {"more", std::move(more)}};
    add_value_columns(all, columns, values);
    return all;
  }

  const Profile& profile_;
  const Annotation& annotation_;
  TextNumbers files_;
  Json places_ = Json::array();
  Json instructions_{{"address", Json::array()}, {"text", Json::array()},  {"file", Json::array()},
                     {"line", Json::array()},    {"stack", Json::array()}, {"cpi", Json::array()},
                     {"more", Json::array()},    {"stall", Json::array()}};
  std::vector<const std::vector<Value>*> of_instructions_;
  Json stacks_ = Json::array();
  std::map<std::string, size_t> stack_numbers_;
};

}  // namespace

std::string function_document(const Profile& profile, const Annotation& annotation) {
  return FunctionDocument(profile, annotation).write();
}

}  // namespace culprit
