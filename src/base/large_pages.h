#pragma once

// Memory in pages of 2 MiB, where the kernel gives them to who asks ("madvise" or "always" in
// /sys/kernel/mm/transparent_hugepage/enabled). A page of 4 KiB costs a fault when it is first
// touched, which takes 0.2 us of a machine and up to 15 of a guest.

#include <cstddef>
#include <span>

namespace culprit {

/// Asks for large pages for the whole pages of `bytes`. What the kernel refuses stays as it is.
void ask_for_large_pages(std::span<std::byte> bytes);

/// Asks for large pages for the next half gigabyte of the heap: of malloc()'s main arena, in which
/// blocks of up to 32 MiB are from now on. Freed memory stays with the process. For the beginning
/// of a process that ends when its work is done.
void put_heap_in_large_pages();

}  // namespace culprit
