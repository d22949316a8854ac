#include "session/scan_cells.h"

#include "base/file.h"
#include "base/program_files.h"
#include "scan/place_table.h"

namespace culprit {

Result<ScanCells> read_scan_cells(const ProfileView& view, scan::CostDetail detail,
                                  WhichCells which, const std::string& label) {
  ScanCells scan;
  scan.cells = scan::find_cells(view.profile());
  if (which != WhichCells::all) {
    const std::string wanted =
        which == WhichCells::of_label ? label : scan::find_last_label(scan.cells);
    std::erase_if(scan.cells, [&](const scan::Cell& cell) { return cell.label() != wanted; });
  }
  const FactsLookup lookup = view.facts(FactPart::functions);
  CodeIndex code(view.profile(), lookup);
  const scan::CostReader reader(view.profile());
  for (const scan::Cell& cell : scan.cells) {
    scan.costs.push_back(reader.compute(cell, scan::function_of(code), detail));
  }
  ASSIGN_OR_RETURN(scan.presets, read_scan_presets());
  return scan;
}

Result<std::vector<scan::Preset>> read_scan_presets() {
  const std::string file = find_scan_presets();
  if (file.empty()) {
    return Error{
        "names of expressions (cpi, loads, ...) are not known: this culprit is not installed "
        "whole, it lacks ../share/culprit/scan/presets.toml"};
  }
  ASSIGN_OR_RETURN(const std::string text, read_file(file));
  return scan::parse_presets(text, file);
}

FactsLookup scan_code_facts(const ProfileView& view) {
  return view.facts({FactPart::functions, FactPart::lines, FactPart::inlines, FactPart::blocks,
                     FactPart::code, FactPart::sources});
}

}  // namespace culprit
