#pragma once

// Merging: counts of one key become one count, and profiles become one profile.
//
// Canonical order is what the comments in profile.h promise: every count once, by its
// key; memory samples in time order; no cell whose samples, value and variance are all
// zero. Two profiles with the same counts, however they were collected piece by piece,
// have the same canonical form.
//
// Sums saturate at the largest uint64_t instead of wrapping.

#include <vector>

#include "model/profile.h"

namespace culprit {

/// A cell of a histogram with its whole key: the flat form of histograms.
struct HistogramRow {
  ContextId context;
  Location location;
  Cell cell;
  friend auto operator<=>(const HistogramRow&, const HistogramRow&) = default;
};

/// One row for each non-zero cell, in canonical order if the histograms are.
std::vector<HistogramRow> flatten_histograms(const std::vector<Histogram>& histograms);

/// Histograms in canonical order; rows of one key are added.
/// `events` tell what a variance of 0 means where only one of two cells has one: for
/// sampled events it is Poisson's, value^2 / samples; otherwise the value is exact.
std::vector<Histogram> make_histograms(std::vector<HistogramRow> rows,
                                       const std::vector<Event>& events);

/// Several histograms, also of the same (context, image), to one for each pair.
std::vector<Histogram> merge_histograms(const std::vector<Histogram>& histograms,
                                        const std::vector<Event>& events);

/// The same for rows of the other kinds.
void merge_rows(std::vector<HistogramRow>& rows, const std::vector<Event>& events);
void merge_rows(std::vector<StackCount>& rows, const std::vector<Event>& events);
void merge_rows(std::vector<BranchCount>& rows);
void merge_rows(std::vector<FallThrough>& rows);
void merge_rows(std::vector<MemorySample>& rows);
void merge_rows(std::vector<Count>& rows);
void merge_rows(std::vector<Access>& rows);
void merge_rows(std::vector<Tenure>& rows);
void merge_rows(std::vector<Edge>& rows);
void merge_rows(std::vector<RegionValue>& rows);

/// Brings all counts of a profile into canonical order.
void merge_counts(Profile& profile);

/// Adds another profile: its runs, processes and threads as new rows; contexts, events,
/// images, stacks, objects and regions as the rows they equal, or as new ones; counts
/// added. Images are the same by build-id, else by path, inode, size and mtime, JIT code
/// by content. The ids in `other` must be in range. `into` is canonical afterwards.
///
/// The machine and the environment stay those of `into` (or become those of `other` if
/// `into` has no runs); a note in the ledger says if they differ.
/// Returns by row of `other.images` the image of `into` that it became.
std::vector<ImageId> merge_profiles(Profile& into, const Profile& other);

}  // namespace culprit
