#pragma once

// How good counts of --sets are: the design effect of each site, from the split of its misses by
// classes of sets, and the estimates for all sets that follow.

#include <cstdint>
#include <span>
#include <vector>

#include "simulate/counts_reader.h"
#include "simulate/machine/set_sample.h"

namespace culprit {

/// How much larger the variance of a count in a sample of sets is than if each of its events
/// fell into the sample by itself: between the classes, against a Poisson count's. At least 1.
/// With few classes it is taken higher, as Student's t is than the normal distribution's
/// quantile: 1.96 roots of the variance hold 95 %.
/// Units:  counts -> [1]
/// Shape:  2 to 16 classes of equally many sets
/// Errors: the sets of a class must be drawn at random
/// Source: the method of random groups: K. M. Wolter, Introduction to Variance Estimation
///         (2nd edition, 2007), section 2.4; design effect: L. Kish, Survey Sampling (1965), 8.2
double estimate_design_effect(std::span<const uint32_t> misses_of_classes);

/// The design effects of one process, one for each site. What sites have in common (they meet the
/// same sets) shows in the sum of all sites only: it raises all, so that the variances of sites sum
/// to no less than that of their sum.
std::vector<double> estimate_design_effects(const ProcessCounts& counts);

}  // namespace culprit
