#pragma once

// The documents of a scan, by name:
//
//     scan                   the cells, and what there is to plot of them: web_scan.schema.json
//     scan/values/N          the Nth of these quantities, a value for each cell
//     scan/expression/TEXT   any expression, likewise: web_scan_values.schema.json
//     scan/cell/N/LEVEL      costs of cell N by "function", "line" or "instruction", as `scan one`
//                            prints them
//     scan/explain/A/B       why cells A and B differ, as `scan explain` prints it
//
// Values stand by cell. The page puts them into curves as `scan plot` does, which a test compares.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "session/scan_cells.h"

namespace culprit {

/// Several threads may ask at once.
class ScanDocuments {
 public:
  /// `view` must outlive it.
  ScanDocuments(const ProfileView& view, ScanCells scan);
  ScanDocuments(const ScanDocuments&) = delete;
  ScanDocuments& operator=(const ScanDocuments&) = delete;

  /// Errors: not_found: there is no document of that name, or of that cell; a mistake in TEXT
  [[nodiscard]] Result<std::string> make(std::string_view name) const;

  /// The documents that the screen needs to begin with.
  [[nodiscard]] std::vector<std::string> list() const;
  /// Those of single cells, then of pairs of cells that differ in their setups alone, A before B.
  [[nodiscard]] std::vector<std::string> list_details() const;

 private:
  /// What the page lists by name.
  struct Quantity {
    std::string name;
    std::string kind;  // "preset", "event", "build"
  };

  [[nodiscard]] std::string make_cells() const;
  [[nodiscard]] Result<std::string> make_values(std::string_view expression) const;
  [[nodiscard]] Result<std::string> make_cell(std::string_view number_and_level) const;
  [[nodiscard]] Result<std::string> make_explanation(std::string_view numbers) const;
  /// A cell that has costs.
  [[nodiscard]] Result<size_t> find_cell(std::string_view number) const;

  const ProfileView& view_;
  const ScanCells scan_;
  const scan::Quantities quantities_;
  std::vector<Quantity> listed_;
};

}  // namespace culprit
