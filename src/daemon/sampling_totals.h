#pragma once

// What was sampled, and what was not: the parts add up.

#include <cstdint>

namespace culprit {

/// Sums since the start of an epoch, or of the daemon. Units: samples, but for the times.
struct SamplingTotals {
  uint64_t handled = 0;  // = idle + hits + misses
  uint64_t idle = 0;
  uint64_t hits = 0;
  uint64_t misses = 0;
  uint64_t lost = 0;     // of the counted ones: no room in the tables
  uint64_t skipped = 0;  // the clock ran that long, but no handler was called
  uint64_t evicted = 0;  // entries
  uint64_t entries = 0;  // that were drained
  uint64_t range_hits = 0;
  uint64_t range_searches = 0;
  uint64_t range_refusals = 0;
  uint64_t records_refused = 0;
  uint64_t timed = 0;
  uint64_t timed_ns = 0;
  uint64_t timed_misses = 0;  // of `timed`: whose entry was new in the tables
  uint64_t timed_misses_ns = 0;
  uint64_t timed_searches = 0;  // of `timed`: that needed the kernel's list of mappings
  uint64_t timed_searches_ns = 0;
  uint64_t enabled_ns = 0;
  // The counted ones without an image, by reason.
  uint64_t unknown_busy = 0;      // the address space was locked, and its process is gone
  uint64_t unknown_unmapped = 0;  // nothing is mapped there
  uint64_t unknown_kernel = 0;    // no part of the kernel that we know
  uint64_t anonymous = 0;         // code without a file or a name

  void add(const SamplingTotals& other);
};

}  // namespace culprit
