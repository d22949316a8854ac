#include "cli/open_scan.h"

#include <fmt/format.h>

#include "base/heap.h"
#include "base/text.h"

namespace culprit {

Result<OpenScan> open_scan(const std::string& path, scan::CostDetail detail, WhichCells which,
                           const std::string& label) {
  put_large_blocks_in_heap();
  ASSIGN_OR_RETURN(ProfileView view, ProfileView::open(path));
  ASSIGN_OR_RETURN(ScanCells scan, read_scan_cells(view, detail, which, label));
  if (scan.cells.empty() && which != WhichCells::of_label) {
    return Error{fmt::format("'{}' holds no cells of a scan: culprit scan run makes such a file",
                             printable(path))};
  }
  return OpenScan{std::move(scan), std::move(view)};
}

Result<OpenScan> open_scan(const ScanCommand& command, scan::CostDetail detail) {
  if (command.label.empty())
    return open_scan(command.scan_file(), detail, WhichCells::of_last_label);
  ASSIGN_OR_RETURN(OpenScan open,
                   open_scan(command.scan_file(), detail, WhichCells::of_label, command.label));
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
