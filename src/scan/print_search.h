#pragma once

// What a search found, for people and for programs.
//
//     time of an iteration of dot 16, against base   median of 9 rounds, 95 % interval
//
//      against base           against the best      changes
//      0.254  0.251 to 0.257  1                     march=-march=x86-64-v3 math=-ffast-math
//      0.256  0.252 to 0.259  1.008  0.994 to 1.02  ...
//      1                      3.94   3.89 to 3.98   base

#include <string>

#include "base/text_style.h"
#include "scan/search.h"

namespace culprit::scan {

/// What was searched, in words.
struct SearchSubject {
  std::string cells;   // "dot 16"
  std::string screen;  // "modelled cycles of zen4"
};

/// Errors: as make_setup()
Result<std::string> print_search_text(const SearchResult& result, const SearchSpace& space,
                                      const SearchSubject& subject, const TextStyle& style);
/// Schema: culprit-scan-search-1
Result<std::string> print_search_json(const SearchResult& result, const SearchSpace& space,
                                      const SearchSubject& subject);

}  // namespace culprit::scan
