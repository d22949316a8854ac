#include "scan/plan.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "base/names.h"
#include "base/number.h"
#include "base/text.h"
#include "scan/command_words.h"
#include "scan/kernel_rules.h"
#include "scan/native_costs.h"
#include "scan/plan_checks.h"
#include "toml/toml_file.h"
#include "toml/toml_section.h"

namespace culprit::scan {
namespace {

/// A scan of more cells is a mistake in the file.
constexpr size_t kMostCells = 1'000'000;
constexpr size_t kMostValues = 100'000;  // of one parameter

/// What [scan] knows; all others are parameters.
const std::vector<std::string> kKeys = {
    "program",      "build",  "run",   "runs", "machine", "timeout_s", "iterations_per_run",
    "time_percent", "events", "accept"};

/// A number or text of the file as text; nullopt: it is neither.
std::optional<std::string> text_of(const TomlValue& value) {
  if (const std::string* text = value.text()) return *text;
  if (const auto* whole = std::get_if<int64_t>(&value.value)) return std::to_string(*whole);
  if (const auto* number = std::get_if<double>(&value.value)) return fmt::format("{}", *number);
  return std::nullopt;
}

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  });
}

/// Reads the parts of a plan whose keys are the user's own.
class PlanReader {
 public:
  PlanReader(TomlFile& file, Plan& plan) : file_(file), plan_(plan) {}

  void read() {
    read_scan();
    read_setups();
    read_expectations();
    read_search();
    for (const TomlEntry& entry : *file_.root.table()) {
      const std::string& key = entry.key;
      if (key == "scan" || key == "setup" || key == "expect" || key == "search") continue;
      add(entry.value, fmt::format("there is no section '{}': only scan, setup, expect and search",
                                   printable(key)));
    }
  }

 private:
  void add(const TomlValue& at, const std::string& what) { add(at.line, what); }
  void add(uint32_t line, const std::string& what) {
    if (!file_.mistake || line < file_.mistake->line) {
      file_.mistake = TomlMistake{file_.name, line, what};
    }
  }

  const TomlValue::Table* section(const char* key) {
    for (const TomlEntry& entry : *file_.root.table()) {
      if (entry.key != key) continue;
      if (entry.value.table() == nullptr) add(entry.value, fmt::format("{} is a section", key));
      return entry.value.table();
    }
    return nullptr;
  }

  void read_scan();
  void read_runs(const TomlValue& value);
  void read_accepted(const TomlValue& value);
  void read_events(const TomlValue& value);
  void read_parameter(const std::string& name, const TomlValue& value);
  void check_use(const std::string& name, const TomlValue& value);
  bool read_texts(const std::string& key, const TomlValue& value, std::vector<std::string>& to);
  void read_setups();
  void read_setup(const std::string& name, const TomlValue& value);
  void add_setup(const std::string& pattern, const TomlValue& at, const Variables& axes,
                 const Variables& rest);
  /// A table's lists and its texts.
  bool read_axes(const TomlValue::Table& table, std::vector<Parameter>& axes, Variables& rest);
  void read_expectations();
  void read_search();

  TomlFile& file_;
  Plan& plan_;
};

bool PlanReader::read_texts(const std::string& key, const TomlValue& value,
                            std::vector<std::string>& to) {
  if (const auto one = text_of(value)) {
    to.push_back(*one);
    return true;
  }
  const TomlValue::Array* const array = value.array();
  for (const TomlValue& item : array != nullptr ? *array : TomlValue::Array()) {
    const auto text = text_of(item);
    if (!text) break;
    to.push_back(*text);
  }
  if (array != nullptr && !array->empty() && to.size() == array->size()) return true;
  add(value, fmt::format("{} is a text, a number, or a list of them", printable(key)));
  return false;
}

void PlanReader::read_runs(const TomlValue& value) {
  std::vector<std::string> texts;
  if (!read_texts("scan.runs", value, texts)) return;
  plan_.runs.clear();
  for (const std::string& text : texts) {
    const auto number = find_number(text, 10);
    if (!number) {
      add(value, "scan.runs are whole numbers");
      return;
    }
    plan_.runs.push_back(*number);
  }
  if (const Result<void> good = check_runs(plan_.runs); !good) {
    add(value, good.error().message);
  }
}

void PlanReader::read_accepted(const TomlValue& value) {
  if (!read_texts("scan.accept", value, plan_.accepted)) return;
  for (const std::string& one : plan_.accepted) {
    if (const Result<void> good = check_accepted(one); !good) add(value, good.error().message);
  }
}

void PlanReader::read_events(const TomlValue& value) {
  if (!read_texts("scan.events", value, plan_.events)) return;
  const std::set<std::string> once(plan_.events.begin(), plan_.events.end());
  if (once.size() < plan_.events.size()) add(value, "scan.events names an event twice");
  if (once.contains("")) add(value, "scan.events names no event: \"\"");
}

void PlanReader::read_parameter(const std::string& name, const TomlValue& value) {
  if (!is_name(name) || name == kProgramLabel || name == kSetupLabel || name == "out" ||
      name == "engine") {
    add(value, fmt::format("'{}' cannot be a parameter: letters, digits and _, and not a word "
                           "of scan's own",
                           printable(name)));
    return;
  }
  Parameter parameter{name, {}};
  const std::string* const text = value.text();
  if (text != nullptr && text->find("..") != std::string::npos) {
    Result<std::vector<std::string>> range = expand_range(*text);
    if (!range) {
      add(value, range.error().message);
      return;
    }
    parameter.values = *std::move(range);
  } else if (!read_texts(name, value, parameter.values)) {
    return;
  }
  for (const std::string& wrong :
       {text != nullptr ? check_text(name, *text) : std::string(), check_values(parameter)}) {
    if (!wrong.empty()) add(value, wrong);
  }
  plan_.parameters.push_back(std::move(parameter));
}

/// A misspelt key would be a parameter that changes nothing.
void PlanReader::check_use(const std::string& name, const TomlValue& value) {
  const std::string braced = "{" + name + "}";
  if (plan_.build.find(braced) != std::string::npos) return;
  if (plan_.run.find(braced) != std::string::npos) return;
  const std::string nearest = nearest_word(name, kKeys);
  const bool is_label = nearest.empty() && plan_.parameters.back().values.size() == 1;
  if (is_label) return;
  add(value,
      fmt::format("nothing uses the parameter {0}: {{{0}}} stands in neither build nor run{1}",
                  name, nearest.empty() ? "" : " (did you mean " + nearest + "?)"));
}

void PlanReader::read_scan() {
  const TomlValue::Table* const scan = section("scan");
  if (scan == nullptr) {
    add(1, "there is no section [scan]");
    return;
  }
  TomlSection known = TomlSection(file_).section("scan");
  known.text("build", plan_.build);
  known.text("run", plan_.run);
  known.text("machine", plan_.machine);
  known.integer("timeout_s", plan_.timeout_s, 1, 1'000'000);
  known.number("time_percent", plan_.time_percent, 0, 50);
  known.integer("iterations_per_run", plan_.iterations_per_run, 1, 1'000'000'000);
  known.needs({"program", "run"});
  for (const TomlEntry& entry : *scan) {
    const std::string& key = entry.key;
    if (key == "program") {
      read_texts("scan.program", entry.value, plan_.programs);
    } else if (key == "runs") {
      read_runs(entry.value);
    } else if (key == "accept") {
      read_accepted(entry.value);
    } else if (key == "events") {
      read_events(entry.value);
    } else if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) {
      read_parameter(key, entry.value);
      if (!file_.mistake) check_use(key, entry.value);
    }
  }
  if (plan_.run.find("{runs}") == std::string::npos && !plan_.run.empty()) {
    known.mistake("run", "scan.run needs {runs}: without loop counts there is no difference");
  }
  if (const std::string wrong = check_build(plan_); !wrong.empty()) known.mistake("build", wrong);
}

void PlanReader::add_setup(const std::string& pattern, const TomlValue& at, const Variables& axes,
                           const Variables& rest) {
  Setup setup;
  Result<std::string> name = fill_in(pattern, axes, "the setup's name");
  if (!name) {
    add(at, name.error().message);
    return;
  }
  setup.name = *std::move(name);
  setup.variables = axes;
  for (const Variable& one : rest) {
    Result<std::string> value = fill_in(one.value, axes, one.name);
    if (!value) {
      add(at, value.error().message);
      return;
    }
    setup.variables.push_back({one.name, *std::move(value)});
  }
  for (const Setup& other : plan_.setups) {
    if (other.name == setup.name) {
      add(at, fmt::format("there are two setups '{}'", printable(setup.name)));
      return;
    }
  }
  plan_.setups.push_back(std::move(setup));
}

bool PlanReader::read_axes(const TomlValue::Table& table, std::vector<Parameter>& axes,
                           Variables& rest) {
  for (const auto& [key, entry] : table) {
    if (entry.array() != nullptr) {
      axes.push_back({key, {}});
      if (!read_texts(key, entry, axes.back().values)) return false;
    } else if (const auto text = text_of(entry)) {
      rest.push_back({key, *text});
    } else {
      add(entry, fmt::format("{} is a text, a number, or a list of them", printable(key)));
      return false;
    }
  }
  return true;
}

void PlanReader::read_setup(const std::string& name, const TomlValue& value) {
  if (value.table() == nullptr) {
    add(value, fmt::format("setup.{0} is a table: {0} = {{ cc = \"gcc\" }}", printable(name)));
    return;
  }
  std::vector<Parameter> axes;
  Variables rest;
  if (!read_axes(*value.table(), axes, rest)) return;
  // Every combination, the last axis the fastest.
  std::vector<size_t> at(axes.size());
  while (plan_.setups.size() < kMostCells) {
    Variables chosen;
    for (size_t i = 0; i < axes.size(); ++i)
      chosen.push_back({axes[i].name, axes[i].values[at[i]]});
    add_setup(name, value, chosen, rest);
    if (file_.mistake) return;
    size_t i = axes.size();
    while (i > 0 && ++at[i - 1] == axes[i - 1].values.size()) at[--i] = 0;
    if (i == 0) break;
  }
  for (const auto& [key, entry] : *value.table()) {
    const std::string wrong = check_variable(plan_, key);
    if (!wrong.empty()) {
      add(entry, wrong);
    } else if (!is_used(plan_, key, rest)) {
      add(entry, tell_unused(plan_, key));
    }
  }
}

void PlanReader::read_setups() {
  const TomlValue::Table* const setups = section("setup");
  if (setups == nullptr || setups->empty()) {
    const bool has_search = section("search") != nullptr;
    if (!file_.mistake && !has_search) add(1, "there is no setup: [setup] has a line for each");
    return;
  }
  for (const auto& [name, value] : *setups) read_setup(name, value);
}

void PlanReader::read_expectations() {
  const TomlValue::Table* const all = section("expect");
  if (all == nullptr) return;
  for (const auto& [left, value] : *all) {
    const std::string* const text = value.text();
    Expectation one{left, "", "", value.line};
    for (const char* comparison : {">=", "<=", "==", ">", "<"}) {
      if (text == nullptr || !text->starts_with(comparison)) continue;
      one.comparison = comparison;
      one.right = trim(std::string_view(*text).substr(one.comparison.size()));
      break;
    }
    if (one.right.empty()) {
      add(value, fmt::format("expect.{} is a comparison: \">= DIM\"", printable(left)));
      return;
    }
    plan_.expectations.push_back(std::move(one));
  }
}

void PlanReader::read_search() {
  const TomlValue::Table* const table = section("search");
  if (table == nullptr) return;
  SearchSpace& space = plan_.search;
  if (!read_axes(*table, space.factors, space.rest)) return;
  for (const auto& [key, entry] : *table) {
    if (!is_name(key)) {
      add(entry, fmt::format("'{}' is no name: letters, digits and _", printable(key)));
    } else if (plan_.find_parameter(key) != nullptr) {
      add(entry, fmt::format("{} is a parameter of [scan] already", key));
    }
  }
  for (const Parameter& factor : space.factors) {
    std::vector<std::string> values = factor.values;
    std::sort(values.begin(), values.end());
    if (std::adjacent_find(values.begin(), values.end()) == values.end()) continue;
    for (const auto& [key, entry] : *table) {
      if (key == factor.name) add(entry, fmt::format("{} has a value twice", key));
    }
  }
  if (space.factors.empty() && !file_.mistake) {
    add(1, "[search] has nothing to choose: a list for each factor, O = [\"-O2\", \"-O3\"]");
  }
}

}  // namespace

std::vector<std::string> Plan::native_names() const {
  if (native_percent() <= 0) return {};
  std::vector<std::string> names = {std::string(kTime)};
  for (const std::string& event : events) names.push_back(std::string(kNativePrefix) + event);
  return names;
}

const Parameter* Plan::find_parameter(std::string_view name) const {
  for (const Parameter& one : parameters) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

Result<std::vector<std::string>> expand_range(std::string_view text) {
  const size_t dots = text.find("..");
  const size_t step_at = text.find_first_of("+*", dots == std::string_view::npos ? 0 : dots);
  const auto first = find_number(trim(text.substr(0, dots)), 10);
  std::optional<uint64_t> last;
  std::optional<uint64_t> step = 1;
  if (dots != std::string_view::npos) {
    const size_t length = step_at == std::string_view::npos ? step_at : step_at - dots - 2;
    last = find_number(trim(text.substr(dots + 2, length)), 10);
    if (step_at != std::string_view::npos) step = find_number(trim(text.substr(step_at + 1)), 10);
  }
  const bool multiplies = step_at != std::string_view::npos && text[step_at] == '*';
  if (!first || !last || !step || *last < *first || *last > 1'000'000'000'000 || *step == 0 ||
      (multiplies && (*step < 2 || *first == 0))) {
    return Error{
        fmt::format("'{}' is no range: \"1..20\", \"0..100+5\", \"16..1024*2\"", printable(text))};
  }
  std::vector<std::string> values;
  for (uint64_t value = *first; value <= *last;
       value = multiplies ? value * *step : value + *step) {
    if (values.size() == kMostValues) {
      return Error{fmt::format("'{}' has more than {} values", printable(text), kMostValues)};
    }
    values.push_back(std::to_string(value));
  }
  return values;
}

Result<Plan> parse_plan(std::string_view text, const std::string& name) {
  TomlFile file = parse_toml(text, name);
  Plan plan;
  plan.file = name;
  if (!file.mistake) PlanReader(file, plan).read();
  if (file.mistake) return file.mistake->error();
  return plan;
}

namespace {

/// The program's name in tables: its file without folder and suffix, unless two are called so.
std::string stem(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string file = path.substr(slash == std::string::npos ? 0 : slash + 1);
  const size_t dot = file.rfind('.');
  return dot == 0 || dot == std::string::npos ? file : file.substr(0, dot);
}

std::vector<std::string> name_programs(const std::vector<std::string>& programs) {
  std::vector<std::string> names;
  for (const std::string& path : programs) {
    const bool is_alone = std::count_if(programs.begin(), programs.end(), [&](const auto& other) {
                            return stem(other) == stem(path);
                          }) == 1;
    names.push_back(is_alone ? stem(path) : path);
  }
  return names;
}

}  // namespace

Result<std::vector<PlannedCell>> make_cells(const Plan& plan,
                                            const std::vector<std::string>& programs) {
  std::vector<Variables> points = {{}};  // of all parameters
  for (const Parameter& parameter : plan.parameters) {
    std::vector<Variables> more;
    for (const Variables& point : points) {
      for (const std::string& value : parameter.values) {
        more.push_back(point);
        more.back().push_back({parameter.name, value});
      }
      if (more.size() > kMostCells) break;
    }
    points = std::move(more);
  }
  if (points.size() * programs.size() > kMostCells / std::max<size_t>(plan.setups.size(), 1)) {
    return Error{fmt::format("{}: more than {} cells", printable(plan.file), kMostCells)};
  }
  std::vector<PlannedCell> cells;
  const std::vector<std::string> names = name_programs(programs);
  for (size_t i = 0; i < programs.size(); ++i) {
    for (const Setup& setup : plan.setups) {
      for (const Variables& point : points) {
        PlannedCell cell{{names[i], setup.name, point}, programs[i], setup.variables};
        cell.variables.insert(cell.variables.end(), point.begin(), point.end());
        cells.push_back(std::move(cell));
      }
    }
  }
  return cells;
}

}  // namespace culprit::scan
