#include "scan/cells.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "base/number.h"

namespace culprit::scan {
namespace {

/// A label that engines write (model/engine.h).
constexpr std::string_view kEngineLabel = "engine";

/// What a run's labels say of its cell; nullopt: it is of none.
std::optional<Cell> read_run(const Profile& profile, RunId id) {
  Cell cell;
  cell.first = id;
  bool has_program = false;
  for (const auto& [name, value] : profile.runs[id.value].labels) {
    const std::string& label = profile.strings.text(name);
    const std::string& text = profile.strings.text(value);
    if (label == kProgramLabel) {
      cell.name.program = text;
      has_program = true;
    } else if (label == kSetupLabel) {
      cell.name.setup = text;
    } else if (label == kRunsLabel) {
      if (const auto runs = find_number(text, 10)) cell.points.push_back({id, *runs});
    } else if (label.starts_with(kDetailPrefix)) {
      cell.details.emplace(label, text);
    } else if (label != kEngineLabel) {
      cell.name.parameters.push_back({label, text});
    }
  }
  if (!has_program) return std::nullopt;
  std::sort(cell.name.parameters.begin(), cell.name.parameters.end(),
            [](const Variable& a, const Variable& b) { return a.name < b.name; });
  return cell;
}

}  // namespace

const std::string& Cell::detail(std::string_view label) const {
  static const std::string kNone;
  const auto found = details.find(std::string(label));
  return found == details.end() ? kNone : found->second;
}

uint64_t Cell::iterations_per_run() const {
  const auto number = find_number(detail(kPerRunLabel), 10);
  return number && *number > 0 ? *number : 1;
}

std::vector<Cell> find_cells(const Profile& profile) {
  std::vector<Cell> cells;
  std::map<std::string, size_t> places;
  for (size_t run = 0; run < profile.runs.size(); ++run) {
    std::optional<Cell> read = read_run(profile, RunId(run));
    if (!read) continue;
    std::string key = read->label() + '\0' + read->name.program + '\0' + read->name.setup;
    for (const Variable& one : read->name.parameters) key += '\0' + one.name + '\0' + one.value;
    const auto [place, is_new] = places.try_emplace(std::move(key), cells.size());
    if (is_new) {
      cells.push_back(*std::move(read));
    } else if (!read->detail(kStatusLabel).empty()) {  // measured again
      cells[place->second] = *std::move(read);
    } else {
      Cell& cell = cells[place->second];
      cell.points.insert(cell.points.end(), read->points.begin(), read->points.end());
    }
  }
  for (Cell& cell : cells) {
    std::sort(cell.points.begin(), cell.points.end(),
              [](const Point& a, const Point& b) { return a.runs < b.runs; });
  }
  return cells;
}

std::string count_cells(size_t cells) {
  return fmt::format("{} cell{}", cells, cells == 1 ? "" : "s");
}

std::string name_cells(const std::vector<std::string>& cells) {
  const size_t others = cells.size() - 1;
  return cells.front() +
         (others > 0 ? fmt::format(" and {} more cell{}", others, others > 1 ? "s" : "") : "");
}

std::string find_last_label(const std::vector<Cell>& cells) {
  const auto last = std::max_element(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
    return a.first.value < b.first.value;
  });
  return last == cells.end() ? "" : last->label();
}

void label_run(StringTable& strings, Run& run, std::string_view label, std::string_view value) {
  run.labels[strings.intern(label)] = strings.intern(value);
}

void label_run(StringTable& strings, Run& run, const CellName& name) {
  label_run(strings, run, kProgramLabel, name.program);
  label_run(strings, run, kSetupLabel, name.setup);
  for (const Variable& one : name.parameters) label_run(strings, run, one.name, one.value);
}

}  // namespace culprit::scan
