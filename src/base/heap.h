#pragma once

// The heap of a process that does its work and ends (glibc's malloc).
//
// A page of 4 KiB costs a fault when it is first touched, and again when it was given back
// meanwhile, which takes a guest many times as long as a machine. A page of 2 MiB costs one for 512
// of them: the kernel gives those to who asks where /sys/kernel/mm/transparent_hugepage/enabled
// says "madvise" or "always".

#include <cstddef>
#include <span>

namespace culprit {

/// Asks for large pages for the whole pages of `bytes`. What the kernel refuses stays as it is.
void ask_for_large_pages(std::span<std::byte> bytes);

/// Asks for large pages for the next half gigabyte of the main arena, in which blocks of up to
/// 32 MiB are from now on. Freed memory stays ours.
void put_heap_in_large_pages();

/// Blocks of any size are in the heap from now on: what reading a profile frees is what answering
/// takes.
void put_large_blocks_in_heap();

/// The same for several threads: what one frees the others take.
void share_heap_among_threads();

/// Gives the kernel back what is free, for others to use.
void give_back_freed_memory();

}  // namespace culprit
