// The sample of cache sets of a Counting (--sets): when it begins, what is known of the accesses
// that it leaves out, and what the counts file says of it.

#include <algorithm>

#include "simulate/counting/execution.h"

namespace culprit::counting {

using counts_file::kLookedAtPeriod;

/// The thread has made some accesses more, the last of them at the address. The one that makes the
/// last of the first ones draws the sample; each other one notices it later, within as many
/// accesses of its own.
void Counting::look_at_sample(CountedThread& thread, uint64_t address) {
  SampledThread& sampled = thread.sampled;
  if (sampled.has_begun) {
    sampled.until_look = thread.draw_gap(kLookedAtPeriod);
    thread.own.header->sampled_accesses[lines_.group_of(address)] += kLookedAtPeriod;
    return;
  }
  sampled.until_look = SampledThread::kLookEvery;
  if (model_.locality == simulate::Locality::off) return;
  if (sample_first_ != 0) {
    const uint64_t so_far =
        sample_so_far_.fetch_add(SampledThread::kLookEvery) + SampledThread::kLookEvery;
    if (so_far >= sample_first_ && !sample_is_drawn_.exchange(true)) begin_sample();
  }
  if (!machine_->sample().has_begun()) return;
  if (sample_first_ != 0) note_sample(*thread.memory);
  sampled = {thread.draw_gap(kLookedAtPeriod), true, lines_.find_followed()};
}

/// An access that tells of all those around it which data object they are of. Each part of a wide
/// one tells of as much of it as it has of its bytes.
void Counting::look_at_object(CountedThread& thread, AccessPlace place, uint64_t address,
                              AccessShape shape) {
  using counts_file::Counter;
  const auto [site, object] = find_site_of(thread, place.site, address);
  if (site == place.site) return;  // there was no room for it
  const uint64_t stands_for =
      uint64_t{kLookedAtPeriod} * std::min<uint32_t>(shape.bytes, place.bytes) / place.bytes;
  const Counter first = shape.is_store ? Counter::stores : Counter::loads;
  uint64_t* const pair = thread.shared.accesses[site].value + static_cast<size_t>(first);
  pair[0] += stands_for;
  pair[1] += stands_for;
  objects_->note_offset(site, object, thread.begin_of_access(place.site, address));
}

void Counting::begin_sample() {
  std::vector<uint64_t> heat(machine_->sample().groups());
  for (size_t group = 0; group < heat.size(); ++group) heat[group] = first_fills_[group];
  machine_->begin_sample(heat);
  say_sample();
}

void Counting::say_sample() {
  const simulate::SetSample& sample = machine_->sample();
  counts_file::Header& header = writer_.header();
  header.sample_weight = sample.weight();
  if (model_.locality == simulate::Locality::off) return;
  header.sample_groups = static_cast<uint32_t>(sample.groups());
  for (uint64_t group = 0; group < sample.groups(); ++group) {
    header.strata[group] = sample.stratum_of(group);
  }
}

}  // namespace culprit::counting
