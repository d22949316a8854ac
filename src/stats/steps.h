#pragma once

// Measurements of one thing, one after another: how they scatter from one to the next, and from
// which on they are of another level.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace culprit {

/// With fewer values nothing is said of their scatter.
inline constexpr size_t kLeastSeries = 8;

/// The standard deviation of one value, from the median distance of neighbours: a few steps in the
/// series do not move it. It has what an hour, a start or a neighbour on the machine changes, which
/// the spread within one measurement has not. What drifts is in the distances of the next but one
/// and so on, up to a fifth of the series: the greatest median counts.
/// Units:  those of the values; nullopt for fewer than kLeastSeries
/// Source: J. von Neumann et al., The mean square successive difference, Annals of Mathematical
///         Statistics 12 (1941), with the median instead of the mean (robust.h)
std::optional<double> neighbour_scatter(std::span<const double> series);

/// Where the level changes: values from such a place on are of another one than those before it,
/// up to the next. The split with the greatest Student's t, again in both parts.
/// Units:  `scatter`, above 0: that of neighbour_scatter(); indices, ascending, from 1 on
/// Errors: in a series without a step one is found in at most 5 %, if neighbours are independent; a
///         drift can pass for one
/// Source: A. Scott, M. Knott, A cluster analysis method, Biometrics 30 (1974), binary
///         segmentation; Bonferroni's bound over all splits
std::vector<size_t> find_steps(std::span<const double> series, double scatter);

}  // namespace culprit
