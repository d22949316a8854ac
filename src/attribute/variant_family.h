#pragma once

// Variants of one function of which the CPU's instructions decide when a program is loaded: the C
// library's (IFUNC), those that compilers clone. A native run and a simulated one of the same
// program may have chosen different ones.
//
//     __memmove_avx512_unaligned_erms, __memcpy_avx_unaligned     memmove
//     __strlen_evex, __strlen_avx2                                strlen
//     dot.avx2.0, dot.default.1                                   dot

#include <string>
#include <string_view>

namespace culprit {

/// What the function is a variant of, by its name; "": of nothing. memcpy is memmove, whose code it
/// shares.
std::string find_variant_family(std::string_view function);

/// Whether `wanted` means it as a variant: "strlen" of "__strlen_evex". Names as a program's own
/// may be ("encode_v2") are no variants of another for who asks for "encode".
bool is_variant_of(std::string_view function, std::string_view wanted);

}  // namespace culprit
