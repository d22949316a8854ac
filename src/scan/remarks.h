#pragma once

// What compilers said of their optimisations, read from what they printed while they built: GCC's
// -fopt-info and clang's -Rpass.
//
//     kernel.cc:12:21: optimized: loop vectorized using 16 byte vectors
//     kernel.cc:12:3: remark: vectorized loop (vectorization width: 2, ...) [-Rpass=loop-vectorize]

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace culprit::scan {

struct Remark {
  std::string file;  // without its folders
  uint32_t line = 0;
  std::string text;
  bool is_missed = false;  // an optimisation that did not happen
};

/// The head of a loop may stand so many lines above the statement that its remark is about.
inline constexpr uint32_t kHeadAbove = 2;

/// Each once, in the order in which they were printed.
std::vector<Remark> parse_remarks(std::string_view log);

/// Keeps what a compiler says of the user's own files, each line once, without the source that it
/// quotes.
std::string keep_own_remarks(std::string_view log);

/// The options that make a compiler print remarks, ready for a shell; "" of one that is not known.
/// `command`: how it is called, "clang++-19" or "/usr/bin/g++-12 -m32".
std::string remark_options(std::string_view command);

/// Those of `remarks` that are about code at one of `places` ("kernel.cc:12"): about that line, or
/// about the head of a loop at most two lines above it.
std::vector<Remark> find_remarks_at(const std::vector<Remark>& remarks,
                                    const std::vector<std::string>& places);

}  // namespace culprit::scan
