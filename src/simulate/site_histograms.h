#pragma once

// What a thread has counted at each instruction, as histograms: where nothing is of a data object
// or an estimate, all of a context in an image is at hand at once.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "model/profile.h"
#include "simulate/simulated_events.h"

namespace culprit {

/// One for each image. `site_of`, `locate`: what is known of a site, and where it is. Code that is
/// mapped twice has two sites at one place.
/// Units:  as `events` have them
std::vector<Histogram> make_site_histograms(const std::vector<SimulatedEvent>& events,
                                            ContextId context, std::span<const uint32_t> sites,
                                            const std::function<SimulatedSite(uint32_t)>& site_of,
                                            const std::function<Location(uint32_t)>& locate);

}  // namespace culprit
