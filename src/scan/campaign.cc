#include "scan/campaign.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "base/text.h"
#include "print/json_parts.h"
#include "scan/place_table.h"

namespace culprit::scan {
namespace {

/// What may be looked for in: the names of fields, and where they are kept.
constexpr std::pair<const char*, std::string_view> kFields[] = {
    {"build", kBuildLabel},     {"compiler", kCompilerLabel}, {"remark", kRemarksLabel},
    {"message", kMessageLabel}, {"input", kInputsLabel},      {"output", kOutputLabel},
    {"status", kStatusLabel},   {"machine", kMachineLabel},   {"label", kHistoryLabel},
    {"key", kKeyLabel}};

/// Lines, as many as were asked for.
std::string list_lines(const std::vector<std::string>& lines, size_t limit) {
  std::string out;
  for (size_t i = 0; i < lines.size() && (limit == 0 || i < limit); ++i) {
    out += "  " + printable(lines[i]) + "\n";
  }
  if (limit == 0 || lines.size() <= limit) return out;
  return out + fmt::format("  ({} more: --limit 0)\n", lines.size() - limit);
}

std::vector<std::string> describe(const std::vector<CellProblem>& problems) {
  std::vector<std::string> lines;
  for (const CellProblem& one : problems) {
    // What is not as expected says by itself what it is.
    std::string what = one.state == kUnexpected ? "" : one.state;
    if (!one.message.empty()) what += (what.empty() ? "" : ": ") + one.message;
    lines.push_back(name_cells(one.cells) + ": " + what);
  }
  return lines;
}

Json json_problems(const std::vector<CellProblem>& problems) {
  Json all = Json::array();
  for (const CellProblem& one : problems) {
    all.push_back({{"state", one.state},
                   {"message", one.message},
                   {"details", one.details},
                   {"cells", one.cells}});
  }
  return all;
}

}  // namespace

void CampaignStatus::add(const std::string& cell, std::string_view state,
                         const std::string& message) {
  const std::string first = message.substr(0, message.find('\n'));
  const auto same = std::find_if(problems.begin(), problems.end(), [&](const CellProblem& one) {
    return one.state == state && one.message == first;
  });
  if (same != problems.end()) {
    same->cells.push_back(cell);
  } else {
    problems.push_back({std::string(state), first, message, {cell}});
  }
}

std::string print_status_text(const CampaignStatus& status, size_t limit) {
  return fmt::format(
             "{}: {}: {} done, {} failed, {} changed, {} missing{}\n", printable(status.file),
             count_cells(status.cells), status.done, status.failed, status.changed, status.missing,
             status.unexpected > 0 ? fmt::format("; {} not as expected", status.unexpected) : "") +
         list_lines(describe(status.problems), limit);
}

std::string print_status_json(const CampaignStatus& status) {
  return dump({{"schema", "culprit-scan-status-1"},
               {"plan", status.plan},
               {"file", status.file},
               {"label", status.label},
               {"cells", status.cells},
               {"done", status.done},
               {"failed", status.failed},
               {"changed", status.changed},
               {"missing", status.missing},
               {"unexpected", status.unexpected},
               {"undecided", status.undecided},
               {"problems", json_problems(status.problems)}});
}

std::vector<FoundLine> find_lines(const std::vector<Cell>& cells,
                                  const std::vector<std::optional<CellCosts>>& costs,
                                  const std::vector<size_t>& chosen, const std::string& words,
                                  CodeIndex& code) {
  // A line that many cells have is told once.
  std::vector<FoundLine> found;
  std::map<std::pair<std::string, std::string>, size_t> places;
  const std::string wanted = to_lower(words);
  const auto look = [&](const char* field, std::string_view line, const std::string& cell) {
    if (to_lower(line).find(wanted) == std::string::npos) return;
    const std::string text(trim(line));
    const auto [place, is_new] = places.try_emplace({field, text}, found.size());
    if (is_new) found.push_back({field, text, {}});
    std::vector<std::string>& names = found[place->second].cells;
    if (std::find(names.begin(), names.end(), cell) == names.end()) names.push_back(cell);
  };
  for (const size_t i : chosen) {
    const std::string name = cells[i].name.text();
    for (const auto& [field, label] : kFields) {
      for (const std::string_view line : split(cells[i].detail(label), '\n')) {
        look(field, line, name);
      }
    }
    if (!costs[i]) continue;
    for (const PlaceRow& row : make_place_table(*costs[i], code, PlaceLevel::instruction).rows) {
      look("code", row.detail, name);
    }
  }
  return found;
}

std::string print_found_text(const std::string& words, const std::vector<FoundLine>& found,
                             size_t limit) {
  std::vector<std::string> lines;
  for (const FoundLine& one : found) {
    lines.push_back(fmt::format("{}: {}   ({})", one.field, one.text, name_cells(one.cells)));
  }
  return fmt::format("'{}': {} lines\n{}", printable(words), found.size(),
                     list_lines(lines, limit));
}

std::string print_found_json(const std::string& words, const std::vector<FoundLine>& found) {
  Json lines = Json::array();
  for (const FoundLine& one : found) {
    lines.push_back({{"field", one.field}, {"text", one.text}, {"cells", one.cells}});
  }
  return dump({{"schema", "culprit-scan-find-1"}, {"words", words}, {"lines", std::move(lines)}});
}

Verification verify_cells(const std::vector<Cell>& cells,
                          const std::vector<std::optional<CellCosts>>& costs, CodeIndex& code) {
  Verification out;
  out.cells = cells.size();
  std::map<std::string, size_t> most_points;  // by label
  for (const Cell& cell : cells) {
    size_t& most = most_points[cell.label()];
    most = std::max(most, cell.points.size());
  }
  for (size_t i = 0; i < cells.size(); ++i) {
    const Cell& cell = cells[i];
    const auto wrong = [&](const char* state, const std::string& what) {
      out.problems.push_back({state, what, what, {cell.name.text()}});
    };
    if (cell.detail(kStatusLabel).empty()) {
      wrong("incomplete", "its first run is missing: forget it, and run it again");
      continue;
    }
    if (cell.detail(kKeyLabel).empty()) {
      wrong("incomplete", "has no key: it cannot be seen to have changed");
    }
    if (!cell.is_measured()) continue;
    ++out.measured;
    if (cell.points.size() < most_points[cell.label()]) {
      wrong("incomplete",
            fmt::format("has {} runs, others {}", cell.points.size(), most_points[cell.label()]));
    }
    if (!costs[i]) {
      wrong("contradicts itself", "says that it was measured, but has no counts");
      continue;
    }
    for (const PlaceCost& place : costs[i]->places) {
      if (code.facts(place.at.image) != nullptr) continue;
      wrong("incomplete",
            fmt::format("nothing is known of the code of {}", code.module(place.at.image)));
      break;
    }
  }
  return out;
}

std::string print_verification_text(const Verification& verification, size_t limit) {
  return fmt::format("{}: {}, {} measured: {} problem{}\n", printable(verification.file),
                     count_cells(verification.cells), verification.measured,
                     verification.problems.size(), verification.problems.size() == 1 ? "" : "s") +
         list_lines(describe(verification.problems), limit);
}

std::string print_verification_json(const Verification& verification) {
  return dump({{"schema", "culprit-scan-verify-1"},
               {"file", verification.file},
               {"cells", verification.cells},
               {"measured", verification.measured},
               {"problems", json_problems(verification.problems)}});
}

}  // namespace culprit::scan
