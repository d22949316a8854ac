#pragma once

// Words for what the kernel does for a program: what it was asked for, told by the kernel's
// functions on the stack, and what a programmer does about it.
//
//     clear_page_erms          ─┐
//     do_anonymous_page         │ page fault
//     exc_page_fault           ─┘           → fresh_memory
//     sum_columns       sum.c:9             who asks for it

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace culprit {

/// One kind of work. `key` is what JSON uses.
struct KernelKind {
  std::string_view key;
  std::string_view title;
  std::string_view problem;
  std::string_view advice;
};

/// Calls that are no system calls.
inline constexpr std::string_view kPageFault = "page fault";
inline constexpr std::string_view kInterrupt = "interrupt";

/// What the stack of one sample in the kernel tells.
struct KernelRequest {
  const KernelKind* kind = nullptr;  // never null
  std::string_view call;  // the system call: "pread64"; "page fault", "interrupt"; "" if unknown
};

/// The kind of that key; the one for what is not known, if there is none.
const KernelKind& kernel_kind(std::string_view key);

/// What was asked of the kernel, by the names of its functions on a stack, innermost first. A stack
/// that was not walked has one name, which tells less.
/// Shape:  the call is part of a name, or of this program
KernelRequest find_kernel_request(const std::vector<std::string_view>& functions);

/// Whether a function of the kernel copies bytes between it and the program.
bool is_copying(std::string_view function);

/// Whether a function of the kernel finds or makes pages of the file cache: work by the page.
bool is_of_file_cache(std::string_view function);

}  // namespace culprit
