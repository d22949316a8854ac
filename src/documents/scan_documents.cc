#include "documents/scan_documents.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "base/number.h"
#include "documents/object_text.h"
#include "scan/answer.h"
#include "scan/explain.h"
#include "scan/place_table.h"

namespace culprit {

namespace {

constexpr std::array kLevels = {"function", "line", "instruction"};

Error no_scan_document() {
  return Error{"there is no such document of this scan", ErrorKind::not_found};
}

/// The part of a path before its first slash, which is taken off.
std::string_view take_part(std::string_view& path) {
  const size_t slash = path.find('/');
  const std::string_view part = path.substr(0, slash);
  path = slash == path.npos ? std::string_view() : path.substr(slash + 1);
  return part;
}

std::optional<size_t> take_number(std::string_view& path, size_t size) {
  const std::optional<uint64_t> number = find_number(std::string(take_part(path)), 10);
  if (!number || *number >= size) return std::nullopt;
  return static_cast<size_t>(*number);
}

/// Whether two cells differ in their setups alone.
bool are_setups_of_one(const scan::CellName& a, const scan::CellName& b) {
  return a.program == b.program && a.parameters == b.parameters;
}

}  // namespace

ScanDocuments::ScanDocuments(const ProfileView& view, ScanCells scan)
    : view_(view), scan_(std::move(scan)), quantities_(scan_.quantities(view.profile())) {
  const auto add = [&](const std::string& name, const char* kind) {
    if (quantities_.parse(name)) listed_.push_back({name, kind});
  };
  const std::vector<std::string> parameters = scan::find_dimensions(scan_.cells);
  const auto is_preset = [&](const std::string& name) {
    return std::ranges::any_of(scan_.presets, [&](const auto& one) { return one.name == name; });
  };
  for (const scan::Preset& preset : scan_.presets) add(preset.name, "preset");
  for (const std::string& name : quantities_.names()) {
    if (is_preset(name) || std::ranges::find(parameters, name) != parameters.end()) continue;
    const bool is_event = scan::find_event(view.profile(), name) != SIZE_MAX;
    add(name, is_event ? "event" : "build");
  }
}

std::vector<std::string> ScanDocuments::list() const {
  std::vector<std::string> names{"scan"};
  for (size_t i = 0; i < listed_.size(); ++i) names.push_back(fmt::format("scan/values/{}", i));
  return names;
}

std::vector<std::string> ScanDocuments::list_details() const {
  std::vector<std::string> names;
  std::vector<size_t> measured;
  for (size_t i = 0; i < scan_.cells.size(); ++i) {
    if (scan_.costs[i]) measured.push_back(i);
  }
  for (const char* level : {"line", "instruction", "function"}) {
    for (const size_t i : measured) names.push_back(fmt::format("scan/cell/{}/{}", i, level));
  }
  std::erase_if(measured, [&](size_t i) { return scan_.costs[i]->is_refused; });
  for (const size_t a : measured) {
    for (const size_t b : measured) {
      if (a >= b) continue;
      if (!are_setups_of_one(scan_.cells[a].name, scan_.cells[b].name)) continue;
      names.push_back(fmt::format("scan/explain/{}/{}", a, b));
    }
  }
  return names;
}

Result<std::string> ScanDocuments::make(std::string_view name) const {
  const bool is_whole = take_part(name) == "scan" && name.empty();
  if (is_whole) return make_cells();
  const std::string_view what = take_part(name);
  if (what == "expression") return make_values(name);
  if (what == "cell") return make_cell(name);
  if (what == "explain") return make_explanation(name);
  if (what != "values") return no_scan_document();
  const std::optional<size_t> number = take_number(name, listed_.size());
  if (!number) return no_scan_document();
  return make_values(listed_[*number].name);
}

std::string ScanDocuments::make_cells() const {
  Json names = Json::array();
  Json programs = Json::array();
  Json setups = Json::array();
  Json missing = Json::array();
  Json varies = Json::array();
  Json messages = Json::array();
  Json compilers = Json::array();
  Json builds = Json::array();
  Json idle = Json::array();
  Json parameters = Json::object();
  const std::vector<std::string> dimensions = scan::find_dimensions(scan_.cells);
  for (size_t i = 0; i < scan_.cells.size(); ++i) {
    const scan::Cell& cell = scan_.cells[i];
    const scan::CellCosts* const costs = scan_.costs[i] ? &*scan_.costs[i] : nullptr;
    names.push_back(cell.name.text());
    programs.push_back(cell.name.program);
    setups.push_back(cell.name.setup);
    missing.push_back(scan::missing_word(cell, costs));
    varies.push_back(costs != nullptr && costs->varies);
    idle.push_back(costs != nullptr && quantities_.is_idle(*costs));
    messages.push_back(cell.detail(scan::kMessageLabel));
    compilers.push_back(cell.detail(scan::kCompilerLabel));
    builds.push_back(cell.detail(scan::kBuildLabel));
    for (size_t d = 2; d < dimensions.size(); ++d) {
      const std::string* const value = scan::find_variable(cell.name.parameters, dimensions[d]);
      parameters[dimensions[d]].push_back(value != nullptr ? *value : "");
    }
  }
  Json quantities = Json::array();
  for (const Quantity& one : listed_) {
    const Result<scan::Expression> expression = quantities_.parse(one.name);
    if (!expression) continue;
    quantities.push_back(
        {{"name", one.name}, {"kind", one.kind}, {"title", quantities_.title(*expression)}});
  }
  // Which dimensions `scan plot` takes where it is not told.
  scan::Question question;
  if (!listed_.empty()) question.expression = listed_.front().name;
  const Result<scan::Answer> usual = scan::answer(question, quantities_, scan_.cells, scan_.costs);
  return dump_compact({{"schema", "culprit-web-scan-1"},
                       {"label", scan::find_last_label(scan_.cells)},
                       {"over", usual ? usual->over : "setup"},
                       {"by", usual ? usual->by : "program"},
                       {"dimensions", dimensions},
                       {"quantities", std::move(quantities)},
                       {"name", std::move(names)},
                       {"program", std::move(programs)},
                       {"setup", std::move(setups)},
                       {"parameters", std::move(parameters)},
                       {"missing", std::move(missing)},
                       {"varies", std::move(varies)},
                       {"idle", std::move(idle)},
                       {"message", std::move(messages)},
                       {"compiler", std::move(compilers)},
                       {"build", std::move(builds)}});
}

Result<std::string> ScanDocuments::make_values(std::string_view text) const {
  Result<scan::Expression> expression = quantities_.parse(text);
  if (!expression) return Error{expression.error().message, ErrorKind::bad_input};
  Json values = Json::array();
  Json errors = Json::array();
  for (size_t i = 0; i < scan_.cells.size(); ++i) {
    const std::optional<Estimate> value = quantities_.evaluate(
        *expression, scan_.cells[i], scan_.costs[i] ? &*scan_.costs[i] : nullptr);
    values.push_back(value ? Json(value->value) : Json(nullptr));
    errors.push_back(value ? value->standard_error : 0);
  }
  return dump_compact({{"schema", "culprit-web-scan-values-1"},
                       {"expression", expression->text()},
                       {"title", quantities_.title(*expression)},
                       {"caveat", quantities_.caveat(*expression)},
                       {"provenance", provenance_name(quantities_.provenance(*expression))},
                       {"values", std::move(values)},
                       {"errors", std::move(errors)}});
}

Result<size_t> ScanDocuments::find_cell(std::string_view number) const {
  const std::optional<size_t> cell = take_number(number, scan_.cells.size());
  if (!cell || !number.empty()) return no_scan_document();
  if (scan_.costs[*cell]) return *cell;
  return Error{fmt::format("{} was not measured: {}", scan_.cells[*cell].name.text(),
                           scan::missing_word(scan_.cells[*cell], nullptr)),
               ErrorKind::not_found};
}

Result<std::string> ScanDocuments::make_cell(std::string_view path) const {
  ASSIGN_OR_RETURN(const size_t cell, find_cell(take_part(path)));
  const auto level = std::ranges::find(kLevels, path);
  if (level == kLevels.end()) return no_scan_document();
  const auto by = static_cast<scan::PlaceLevel>(level - kLevels.begin());
  const FactsLookup lookup = scan_code_facts(view_);
  CodeIndex code(view_.profile(), lookup);
  scan::PlaceTable table = scan::make_place_table(*scan_.costs[cell], code, by);
  table.title = scan_.cells[cell].name.text();
  return print_place_json(table, view_.profile(), by);
}

Result<std::string> ScanDocuments::make_explanation(std::string_view path) const {
  ASSIGN_OR_RETURN(const size_t a, find_cell(take_part(path)));
  ASSIGN_OR_RETURN(const size_t b, find_cell(path));
  for (const size_t cell : {a, b}) {
    if (!scan_.costs[cell]->is_refused) continue;
    return Error{
        fmt::format("{}: its cost grows with the loop count", scan_.cells[cell].name.text()),
        ErrorKind::not_found};
  }
  const FactsLookup lookup = scan_code_facts(view_);
  CodeIndex code(view_.profile(), lookup);
  return print_explanation_json(
      scan::explain(scan_.cells[a], *scan_.costs[a], scan_.cells[b], *scan_.costs[b], code));
}

}  // namespace culprit
