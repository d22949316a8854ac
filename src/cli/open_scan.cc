#include "cli/open_scan.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/program_files.h"
#include "base/text.h"
#include "scan/place_table.h"

namespace culprit {

FactsLookup OpenScan::code_facts() {
  return view.facts({FactPart::functions, FactPart::lines, FactPart::inlines, FactPart::blocks,
                     FactPart::code, FactPart::sources});
}

Result<OpenScan> open_scan(const std::string& path, WhichCells which, const std::string& label) {
  ASSIGN_OR_RETURN(ProfileView view, ProfileView::open(path));
  OpenScan scan{std::move(view), {}, {}, {}};
  scan.cells = scan::find_cells(scan.view.profile());
  if (scan.cells.empty() && which != WhichCells::of_label) {
    return Error{fmt::format("'{}' holds no cells of a scan: culprit scan run makes such a file",
                             printable(path))};
  }
  if (which != WhichCells::all) {
    const std::string wanted =
        which == WhichCells::of_label ? label : scan::find_last_label(scan.cells);
    std::erase_if(scan.cells, [&](const scan::Cell& cell) { return cell.label() != wanted; });
  }
  const FactsLookup lookup = scan.view.facts(FactPart::functions);
  CodeIndex code(scan.view.profile(), lookup);
  const scan::CostReader reader(scan.view.profile());
  for (const scan::Cell& cell : scan.cells) {
    scan.costs.push_back(reader.compute(cell, scan::function_of(code)));
  }
  ASSIGN_OR_RETURN(scan.presets, read_scan_presets());
  return scan;
}

Result<std::vector<scan::Preset>> read_scan_presets() {
  const std::string file = find_scan_presets();
  if (file.empty()) return std::vector<scan::Preset>();
  ASSIGN_OR_RETURN(const std::string text, read_file(file));
  return scan::parse_presets(text, file);
}

Result<OpenScan> open_scan(const ScanCommand& command) {
  if (command.label.empty()) return open_scan(command.scan_file(), WhichCells::of_last_label);
  ASSIGN_OR_RETURN(OpenScan open,
                   open_scan(command.scan_file(), WhichCells::of_label, command.label));
  if (!open.cells.empty()) return open;
  return Error{fmt::format("'{}' has no cells with the label '{}': culprit scan trend lists labels",
                           printable(command.scan_file()), printable(command.label))};
}

void List::add(const std::string& line) {
  ++lines_;
  if (limit_ == 0 || lines_ <= limit_) text_ += "  " + printable(line) + "\n";
}

std::string List::text() const {
  if (limit_ == 0 || lines_ <= limit_) return text_;
  return text_ + fmt::format("  ({} more: --limit 0)\n", lines_ - limit_);
}

}  // namespace culprit
