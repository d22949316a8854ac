#include "scan/quantities.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <iterator>

#include "base/text.h"
#include "model/forecast_events.h"
#include "scan/native_costs.h"
#include "toml/toml_section.h"

namespace culprit::scan {
namespace {

/// What is known of a build or of the modelled machine, and its label.
struct BuildFact {
  std::string_view name;
  std::string_view label;
};
constexpr BuildFact kBuildFacts[] = {{"compile_ms", kCompileMsLabel},
                                     {"text_bytes", kTextBytesLabel},
                                     {"peak_flops", kPeakFlopsLabel},
                                     {"dispatch_width", kDispatchWidthLabel}};

std::optional<Estimate> read_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return Estimate{value, 0};
}

}  // namespace

Result<std::vector<Preset>> parse_presets(std::string_view text, const std::string& name) {
  TomlFile file = parse_toml(text, name);
  std::vector<Preset> presets;
  TomlSection root(file);
  for (auto& [key, section] : root.all_sections()) {
    Preset preset;
    preset.name = key;
    section.text("formula", preset.formula);
    section.text("title", preset.title);
    section.text("caveat", preset.caveat);
    section.text("peak", preset.peak);
    section.needs({"formula", "title"});
    section.end();
    presets.push_back(std::move(preset));
  }
  if (file.mistake) return file.mistake->error();
  return presets;
}

Quantities::Quantities(const Profile& profile, const std::vector<Cell>& cells,
                       const std::vector<Preset>& presets)
    : profile_(profile), all_presets_(presets) {
  std::set<std::string> names;
  for (size_t event = 0; event < profile.events.size(); ++event) {
    const std::string& name = profile.strings.text(profile.events[event].name);
    events_.emplace(name, event);
    names.insert(name);
  }
  for (const Cell& cell : cells) {
    for (const Variable& one : cell.name.parameters) names.insert(one.name);
  }
  for (const BuildFact& fact : kBuildFacts) names.insert(std::string(fact.name));
  names.insert(std::string(kTime));
  for (const Cell& cell : cells) {
    for (const std::string& name : list_native_names(cell)) native_names_.insert(name);
  }
  names.insert(native_names_.begin(), native_names_.end());
  const std::vector<std::string> own(names.begin(), names.end());
  // Presets are of what is measured, not of each other: none can be in a circle.
  for (const Preset& preset : presets) {
    if (names.contains(preset.name)) continue;
    presets_.emplace(preset.name, Expression::parse(preset.formula, own));
  }
  for (const auto& [name, formula] : presets_) names.insert(name);
  names_.assign(names.begin(), names.end());
  std::copy_if(names_.begin(), names_.end(), std::back_inserter(listed_names_),
               [](const std::string& name) { return !is_forecast_event(name); });
}

Result<Expression> Quantities::parse(std::string_view text) const {
  const auto refuse = [&](std::string message) {
    const bool is_modelled =
        message.find("sim:") != std::string::npos || message.find("-misses") != std::string::npos;
    if (is_modelled && !events_.contains("sim:cycles")) {
      message += "\nmachine = \"host\" in the setup file's [scan] models caches and cycles, too";
    }
    return Error{std::move(message)};
  };
  Result<Expression> parsed = Expression::parse(text, names_);
  const bool asks_native = text.find(kNativePrefix) != std::string_view::npos;
  if (!parsed && asks_native && native_names_.size() <= 1) {  // time at most
    return Error{
        fmt::format("{}\nevents = [\"cycles:u\"] in the setup file's [scan] counts events "
                    "in native runs, too",
                    parsed.error().message)};
  }
  if (!parsed) return refuse(parsed.error().message);
  Expression expression = *std::move(parsed);
  for (const std::string& name : expression.names()) {
    const auto preset = presets_.find(name);
    if (preset == presets_.end() || preset->second) continue;
    return refuse(fmt::format("{} needs what this scan did not count: {}", name,
                              preset->second.error().message));
  }
  const auto is_time = [](const std::string& name) { return name == kTime; };
  if (!native_names_.contains(std::string(kTime)) && names_any(expression, is_time)) {
    return Error{
        fmt::format("{}: no cell was timed: time_percent = 2 in the setup file's [scan] "
                    "measures times, too",
                    kTime)};
  }
  return expression;
}

std::optional<Estimate> Quantities::find(const std::string& name, const Cell& cell,
                                         const CellCosts* costs) const {
  if (const auto event = events_.find(name); event != events_.end()) {
    if (costs == nullptr || costs->is_refused) return std::nullopt;
    return costs->totals[event->second];
  }
  if (const auto preset = presets_.find(name); preset != presets_.end()) {
    if (!preset->second) return std::nullopt;
    return preset->second->evaluate(
        [&](const std::string& inner) { return find(inner, cell, costs); });
  }
  if (native_names_.contains(name)) return find_native_cost(cell, name);
  for (const BuildFact& fact : kBuildFacts) {
    if (name == fact.name) return read_number(cell.detail(fact.label));
  }
  const std::string* const parameter = find_variable(cell.name.parameters, name);
  return parameter != nullptr ? read_number(*parameter) : std::nullopt;
}

std::optional<Estimate> Quantities::evaluate(const Expression& expression, const Cell& cell,
                                             const CellCosts* costs) const {
  return expression.evaluate([&](const std::string& name) { return find(name, cell, costs); });
}

bool Quantities::is_idle(const CellCosts& costs) const {
  for (const char* name : {"L1-dcache-loads", "L1-dcache-stores", "flops"}) {
    const auto event = events_.find(name);
    if (event == events_.end() || costs.totals[event->second].value != 0) return false;
  }
  return !costs.is_refused;
}

std::string Quantities::title(const Expression& expression) const {
  for (const Preset& preset : all_presets_) {
    if (preset.name == expression.text() && presets_.contains(preset.name)) {
      return fmt::format("{}: {}", preset.name, preset.title);
    }
  }
  return expression.text();
}

std::string Quantities::peak(const Expression& expression) const {
  for (const Preset& preset : all_presets_) {
    if (preset.name == expression.text() && presets_.contains(preset.name)) return preset.peak;
  }
  return "";
}

std::string Quantities::caveat(const Expression& expression) const {
  std::string all;
  for (const std::string& name : expression.names()) {
    for (const Preset& preset : all_presets_) {
      if (preset.name != name || preset.caveat.empty() || !presets_.contains(name)) continue;
      const std::string sentence = fmt::format("{}: {}", name, preset.caveat);
      if (all.find(sentence) == std::string::npos) all += (all.empty() ? "" : "; ") + sentence;
    }
  }
  return all;
}

bool Quantities::names_any(const Expression& expression,
                           const std::function<bool(const std::string&)>& is_one) const {
  return std::any_of(
      expression.names().begin(), expression.names().end(), [&](const std::string& name) {
        const auto preset = presets_.find(name);
        return preset != presets_.end() && preset->second ? names_any(*preset->second, is_one)
                                                          : is_one(name);
      });
}

Provenance Quantities::provenance(const Expression& expression) const {
  const bool is_modelled = names_any(expression, [&](const std::string& name) {
    const auto event = events_.find(name);
    return event != events_.end() &&
           profile_.events[event->second].provenance == Provenance::modelled;
  });
  if (is_modelled) return Provenance::modelled;
  const bool is_native =
      names_any(expression, [&](const auto& name) { return native_names_.contains(name); });
  return is_native ? Provenance::sampled : Provenance::counted;
}

}  // namespace culprit::scan
