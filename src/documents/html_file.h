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
  uint64_t most_bytes = uint64_t{10} << 20;  // documents of functions are left out beyond that
};

struct HtmlFile {
  std::string html;
  size_t functions = 0;           // whose code is in it
  size_t functions_left_out = 0;  // for want of room
};

/// One file that needs no network: the page, every document of the profile, and the code of the
/// functions with most, until they are 99.9 % of every event or the file is full.
/// `progress` is told how many functions of how many are done; false ends the making there.
/// Errors: this build has no page; a document that should be there cannot be made
Result<HtmlFile> make_html_file(const Documents& documents, const HtmlFileOptions& options,
                                const std::function<bool(size_t done, size_t all)>& progress);

}  // namespace culprit
