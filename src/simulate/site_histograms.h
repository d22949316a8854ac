#pragma once

// What a thread has counted at each instruction, as histograms: where nothing is of a data object
// or of a part of the caches' sets, all of a context in an image is at hand at once.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "model/profile.h"
#include "simulate/simulated_events.h"

namespace culprit {

using VarianceOf = std::function<double(uint32_t site, size_t event)>;

/// One for each image. `site_of`, `locate`: what is known of a site, and where it is. Code that is
/// mapped twice has two sites at one place. `variance_of`: of a site's value of an event, by its
/// index; nullptr: all are exact.
/// Units:  as `events` have them, and their squares
std::vector<Histogram> make_site_histograms(const std::vector<SimulatedEvent>& events,
                                            ContextId context, std::span<const uint32_t> sites,
                                            const std::function<SimulatedSite(uint32_t)>& site_of,
                                            const std::function<Location(uint32_t)>& locate,
                                            const VarianceOf& variance_of = nullptr);

}  // namespace culprit
