#pragma once

// The page around the documents, and the one file that holds both.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "documents/documents.h"

namespace culprit {

/// The page as `culprit serve` sends it: script, style and documents come from beside it.
std::string served_page();

struct HtmlFileOptions {
  // Documents of single functions, cells and pairs of cells are left out beyond that.
  uint64_t most_bytes = uint64_t{10} << 20;
};

struct HtmlFile {
  std::string html;
  size_t functions = 0;  // whose code is in it
  // For want of room:
  size_t functions_left_out = 0;
  size_t scan_details_left_out = 0;  // of cells of a scan and of pairs of them
};

/// One file that needs no network: the page, every document of the profile, and the code of the
/// functions with most, until they are 99.9 % of every event or the file is full. Of a scan,
/// details of cells come before functions. `progress` is told how many of these of how many are
/// done; false ends the making there. Errors: this build has no page; a document that should be
/// there cannot be made
Result<HtmlFile> make_html_file(const Documents& documents, const HtmlFileOptions& options,
                                const std::function<bool(size_t done, size_t all)>& progress);

}  // namespace culprit
