// The sample of cache sets of a Counting (--sets): when it begins, and what the counts file says of
// it.

#include "simulate/counting/counting.h"

namespace culprit::counting {

/// The thread has made some accesses more. The one that makes the last of the first ones draws the
/// sample; each other one notices it later, within as many accesses of its own.
void Counting::look_at_sample(CountedThread& thread) {
  thread.sampled.until_look = SampledThread::kLookEvery;
  if (thread.sampled.has_begun || sample_first_ == 0) return;
  const uint64_t so_far =
      sample_so_far_.fetch_add(SampledThread::kLookEvery) + SampledThread::kLookEvery;
  if (so_far >= sample_first_ && !sample_is_drawn_.exchange(true)) begin_sample();
  if (!machine_->sample().has_begun()) return;
  note_sample(*thread.memory);
  thread.sampled.has_begun = true;
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
