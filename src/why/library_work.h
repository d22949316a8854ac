#pragma once

// Work of the C library that a program can do without, or have done more cheaply: told by the names
// of the library's functions, measured by time.
//
//     strcoll_l, get_next_seq (inlined)   61 %   → locale_order: LC_ALL=C compares bytes
//     getc                                65 %   → stream_characters: getc_unlocked
//
// What such functions wait for is of no matter to their caller, who cannot change it.

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "attribute/attribution.h"
#include "stats/estimate.h"

namespace culprit {

/// One kind of work. `key` is what JSON uses.
struct LibraryKind {
  std::string_view key;
  std::string_view title;
  std::string_view problem;
  std::string_view advice;
  bool reads_callers_data = false;  // what it waits for in memory is the caller's to lay out
};

/// All work of one kind.
struct LibraryPart {
  const LibraryKind* kind = nullptr;
  Estimate share;  // of everything's time, in these functions themselves [0 to 1]
  uint64_t samples = 0;
  uint64_t all_samples = 0;             // of everything
  std::string function;                 // the one with most of it
  double function_share = 0;            // of this part [0 to 1]
  std::set<std::string> all_functions;  // of this part, with those inlined into them
};

/// The kind of a function of the C library; nullptr of all others. Names that the library has for
/// itself (__GI_, __libc_, _IO_, _internal) are those of the function.
const LibraryKind* find_library_kind(std::string_view function);

/// Parts of everything's time, most first. Functions of the program's own with such names do not
/// count.
/// Errors: standard errors of Poisson counts; empty where no time or cycles were sampled
std::vector<LibraryPart> find_library_work(const Profile& profile, const FactsLookup& facts);

}  // namespace culprit
