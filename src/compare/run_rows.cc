#include "compare/run_rows.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <map>

#include "base/names.h"
#include "base/text.h"
#include "model/event_names.h"
#include "print/event_display.h"

namespace culprit {
namespace {

/// The file name of the program that was run: another build may call it otherwise.
std::string find_program(const Profile& profile) {
  for (const Image& image : profile.images) {
    if (image.kind == ImageKind::program) return base_name(profile.strings.text(image.path));
  }
  return "";
}

std::string key_part(RowLevel level, const ReportRow& row, const std::string& program) {
  switch (level) {
    case RowLevel::process:
    case RowLevel::comm:
      return row.process.value_or("");
    case RowLevel::thread:
      return row.thread.value_or("");
    case RowLevel::module: {
      std::string module = base_name(row.module.value_or(""));
      return module == program ? "[program]" : module;
    }
    case RowLevel::function:
      return std::string(without_clone_suffix(row.function.value_or("")));
    case RowLevel::line:
      return row.line ? fmt::format("{}:{}", base_name(row.file.value_or("?")), *row.line)
                      : std::string(without_clone_suffix(row.function.value_or("")));
    case RowLevel::object:
      return row.object.value_or("");
    case RowLevel::region:
      return row.region.value_or("");
    case RowLevel::loop:
    case RowLevel::block:
    case RowLevel::instruction:
      break;
  }
  return "";
}

/// "parse.cold", "hash (inlined)" where all of it is inlined code.
std::string describe_function(const ReportRow& row) {
  return row.function.value_or("") + (row.inlined ? " (inlined)" : "");
}

}  // namespace

void add_value(Value& sum, const Value& value) {
  sum.samples += value.samples;
  sum.value += value.value;
  sum.error = std::hypot(sum.error, value.error);
}

bool can_be_compared(RowLevel level) {
  return level != RowLevel::loop && level != RowLevel::block && level != RowLevel::instruction;
}

std::string_view without_clone_suffix(std::string_view function) {
  constexpr std::string_view kSuffixes[] = {".constprop", ".isra",     ".part", ".cold",
                                            ".llvm",      ".lto_priv", ".clone"};
  const auto is_number = [](std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(),
                                        [](unsigned char c) { return std::isdigit(c) != 0; });
  };
  // Demanglers write them as "f(int) [clone .isra.0]".
  if (const size_t clone = function.find(" [clone ");
      clone != std::string_view::npos && clone > 0) {
    function = function.substr(0, clone);
  }
  while (true) {
    std::string_view rest = function;
    const size_t last = rest.rfind('.');
    if (last != std::string_view::npos && last > 0 && is_number(rest.substr(last + 1))) {
      rest = rest.substr(0, last);
    }
    const auto* const suffix = std::find_if(
        std::begin(kSuffixes), std::end(kSuffixes),
        [&](std::string_view word) { return rest.ends_with(word) && rest.size() > word.size(); });
    if (suffix == std::end(kSuffixes)) return function;
    function = rest.substr(0, rest.size() - suffix->size());
  }
}

std::vector<ComparedKey> compared_keys(const Profile& profile, const ReportTable& table) {
  const std::string program = find_program(profile);
  std::vector<ComparedKey> keys;
  keys.reserve(table.rows.size());
  for (const ReportRow& row : table.rows) {
    ComparedKey& key = keys.emplace_back();
    for (const RowLevel level : table.options.by) key.push_back(key_part(level, row, program));
  }
  return keys;
}

Result<RunRows> make_run_rows(const Profile& profile, const ReportTable& table,
                              const std::string& name, const RunOptions& options) {
  const std::string& event = options.event;
  if (is_counts_only(profile)) {
    return Error{
        fmt::format("{} has counts of whole runs and nothing by place: compare with "
                    "culprit stat -r, or record it",
                    printable(name))};
  }
  const auto found = event.empty()
                         ? table.event_names.begin()
                         : std::find(table.event_names.begin(), table.event_names.end(), event);
  if (found == table.event_names.end()) {
    return Error{event.empty() ? fmt::format("{} has no event", printable(name))
                               : fmt::format("{} has no event '{}': it has {}", printable(name),
                                             printable(event), fmt::join(table.event_names, ", "))};
  }
  const auto index = static_cast<size_t>(found - table.event_names.begin());
  const Event& chosen = table.events[index];
  const ClockCalibration* clock =
      chosen.unit == Unit::ns && options.time_as_cycles ? find_clock(profile.machine) : nullptr;
  const double factor = clock != nullptr ? clock->hertz * 1e-9 : 1;

  RunRows run;
  run.name = name;
  run.measure = {*found, clock != nullptr ? "cycles" : unit_name(chosen.unit), chosen.provenance};
  const auto convert = [&](const Value& value) {
    return Value{value.samples, value.value * factor, value.error * factor};
  };
  const std::vector<ComparedKey> keys = compared_keys(profile, table);
  std::map<ComparedKey, Value> rows;
  const bool is_by_function = std::ranges::count(table.options.by, RowLevel::function) > 0;
  for (size_t row = 0; row < keys.size(); ++row) {
    add_value(rows[keys[row]], convert(table.rows[row].values[index]));
    if (is_by_function && table.rows[row].function) {
      run.functions[keys[row]].insert(describe_function(table.rows[row]));
    }
  }
  run.rows.assign(rows.begin(), rows.end());
  run.total = convert(table.totals[index]);
  if (run.total.samples != 0) {
    run.per_sample = run.total.value / static_cast<double>(run.total.samples);
  }
  return run;
}

}  // namespace culprit
