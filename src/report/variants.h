#pragma once

// Variants of one function of which the CPU's instructions decide when a program is loaded: the C
// library's (IFUNC), those that compilers clone. A native run and a simulated one of the same
// program may have chosen different ones.
//
//     __memmove_avx512_unaligned_erms, __memcpy_avx_unaligned     memmove
//     __strlen_evex, __strlen_avx2                                strlen
//     dot.avx2.0, dot.default.1                                   dot

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"

namespace culprit {

/// What the function is a variant of, by its name; "": of nothing. memcpy is memmove, whose code it
/// shares.
std::string find_variant_family(std::string_view function);

/// Rows of a table that are by module and function, of a profile of both runs.
struct VariantRows {
  std::vector<const ReportRow*> rows;  // one function, or variants of one in one module
  std::string family;  // of several variants of which each run chose others; else ""
};

/// Takes rows together that are variants of one function in one module, if the native run has
/// samples in one that the simulated run did not execute, and that one executed another. All
/// others stay by themselves.
/// Shape:  each row is in one of them, in the order of their first rows
std::vector<VariantRows> join_variants(const std::vector<const ReportRow*>& rows, size_t time,
                                       size_t instructions);

}  // namespace culprit
