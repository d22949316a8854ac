#include "collect/waiting_samples.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace culprit {

void WaitingSamples::add(PlacedSample sample) {
  samples_.push_back(std::move(sample));
  constexpr size_t kMany = 1 << 16;
  if (samples_.size() >= kMany) resolve();
}

void WaitingSamples::resolve() {
  resolve(std::nullopt, false);
}

bool WaitingSamples::find_places(PlacedSample& sample, bool is_last) {
  bool is_known = true;
  for (Location& place : sample.places) {
    if (!place.image.is_all()) continue;
    const RunAddress address(place.offset.value);
    // What is not known by the end is sought in the code's last state.
    const uint64_t time_ns = is_last ? UINT64_MAX : sample.time_ns;
    std::optional<Location> found = images_.jit().locate(sample.pid, address, time_ns, builder_);
    if (!found && is_last) {
      const bool is_mapped = follower_.spaces().find(sample.pid, address) != nullptr;
      found = Location{images_.image_of_unnamed(is_mapped), FileOffset(address.value)};
      const bool is_leaf = &place == &sample.places.front();
      if (is_leaf && images_.is_unknown(found->image)) {
        builder_.profile().ledger.add(ledger::kUnknownAddress, sample.samples);
      }
    }
    if (found) {
      place = *found;
    } else {
      is_known = false;
    }
  }
  return is_known;
}

void WaitingSamples::resolve(std::optional<uint32_t> only_pid, bool is_last) {
  if (samples_.empty()) return;
  if (!only_pid) {
    std::set<uint32_t> pids;
    for (const PlacedSample& sample : samples_) pids.insert(sample.pid);
    for (const uint32_t pid : pids) images_.jit().refresh(pid);
  }
  std::sort(samples_.begin(), samples_.end(),
            [](const PlacedSample& a, const PlacedSample& b) { return a.time_ns < b.time_ns; });
  const auto resolve_all = [&](bool for_the_last_time) {
    std::vector<PlacedSample> left;
    for (PlacedSample& sample : samples_) {
      const bool is_meant = !only_pid || sample.pid == *only_pid;
      if (is_meant && find_places(sample, for_the_last_time)) {
        follower_.count(sample);
      } else {
        left.push_back(std::move(sample));
      }
    }
    samples_ = std::move(left);
  };
  resolve_all(false);
  if (is_last) resolve_all(true);
  merge();
}

/// Samples that wait for the same names become one, so that waiting does not take memory.
void WaitingSamples::merge() {
  std::map<std::tuple<uint32_t, ContextId, EventId, bool, std::vector<Location>>, size_t> places;
  std::vector<PlacedSample> merged;
  for (PlacedSample& sample : samples_) {
    const auto [at, is_new] = places.try_emplace(
        {sample.pid, sample.context, sample.event, sample.has_stack, sample.places}, merged.size());
    if (is_new) {
      merged.push_back(std::move(sample));
    } else {
      merged[at->second].samples += sample.samples;
      merged[at->second].value += sample.value;
    }
  }
  samples_ = std::move(merged);
}

}  // namespace culprit
