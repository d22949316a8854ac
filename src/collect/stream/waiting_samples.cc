#include "collect/stream/waiting_samples.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

namespace culprit {

namespace {

size_t hash_places(const PlacedSample& sample) {
  uint64_t hash = uint64_t{sample.context.value} << 32 | sample.event.value;
  hash ^= uint64_t{sample.object.value} << 16;
  for (const Location& place : sample.places) {
    hash = (hash ^ place.image.value ^ place.offset.value) * 0x9e37'79b9'7f4a'7c15;
    hash ^= hash >> 29;
  }
  return hash;
}

bool wait_for_the_same(const PlacedSample& a, const PlacedSample& b) {
  return a.context == b.context && a.event == b.event && a.has_stack == b.has_stack &&
         a.object == b.object && a.places == b.places;
}

/// Samples of a process that wait for the same names become one, so that waiting does not take
/// memory.
void merge_alike(std::vector<PlacedSample>& samples) {
  std::unordered_multimap<size_t, size_t> places;
  std::vector<PlacedSample> merged;
  for (PlacedSample& sample : samples) {
    const size_t hash = hash_places(sample);
    const auto [first, last] = places.equal_range(hash);
    const auto same = std::find_if(
        first, last, [&](const auto& at) { return wait_for_the_same(merged[at.second], sample); });
    if (same == last) {
      places.emplace(hash, merged.size());
      merged.push_back(std::move(sample));
    } else {
      merged[same->second].samples += sample.samples;
      merged[same->second].value += sample.value;
    }
  }
  samples = std::move(merged);
}

}  // namespace

void WaitingSamples::add(PlacedSample sample) {
  by_process_[sample.pid].push_back(std::move(sample));
  if (++waiting_ < resolve_at_) return;
  resolve();
  // Those that still wait differ from each other. Looking at all of them again for each one
  // that comes would take a time that grows with their square.
  resolve_at_ = std::max(kManySamples, 2 * waiting_);
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

void WaitingSamples::count_known(Samples& samples, bool is_last) {
  std::sort(samples.begin(), samples.end(),
            [](const PlacedSample& a, const PlacedSample& b) { return a.time_ns < b.time_ns; });
  const auto count_found = [&](bool for_the_last_time) {
    std::erase_if(samples, [&](PlacedSample& sample) {
      const bool is_known = find_places(sample, for_the_last_time);
      if (is_known) follower_.count(sample);
      return is_known;
    });
  };
  const size_t before = samples.size();
  count_found(false);
  if (is_last) count_found(true);
  merge_alike(samples);
  waiting_ -= before - samples.size();
}

void WaitingSamples::resolve() {
  for (auto& [pid, samples] : by_process_) {
    images_.jit().refresh(pid);
    count_known(samples, false);
  }
  std::erase_if(by_process_, [](const auto& process) { return process.second.empty(); });
}

void WaitingSamples::end(uint32_t pid) {
  const auto samples = by_process_.find(pid);
  if (samples == by_process_.end()) return;
  count_known(samples->second, true);
  by_process_.erase(samples);
}

void WaitingSamples::end() {
  resolve();
  while (!by_process_.empty()) end(by_process_.begin()->first);
}

}  // namespace culprit
