#include "top/live_counts.h"

#include <iterator>

#include "model/counts.h"
#include "model/merge.h"

namespace culprit {

namespace {

// Merging takes time, which many pieces share.
constexpr size_t kMostUnmerged = 20'000;

/// The tables, without any counts.
std::shared_ptr<const Profile> copy_tables(const Profile& profile) {
  auto tables = std::make_shared<Profile>();
  *tables = profile;
  clear_counts(*tables);
  return tables;
}

uint64_t count_samples(const Profile& profile) {
  if (profile.events.empty()) return 0;
  return total_sums(profile).front().samples;
}

}  // namespace

void LiveCounts::add(const Profile& profile) {
  const uint64_t end_ns = profile.runs.empty() || profile.runs.back().duration_ns < 0
                              ? 0
                              : static_cast<uint64_t>(profile.runs.back().duration_ns);
  auto tables = copy_tables(profile);
  const std::lock_guard lock(mutex_);
  tables_ = std::move(tables);
  slices_.push_back({end_ns > end_ns_ ? end_ns - end_ns_ : 0, profile.histograms});
  end_ns_ = std::max(end_ns_, end_ns);
  uint64_t kept_ns = 0;
  for (const Slice& slice : slices_) kept_ns += slice.length_ns;
  while (slices_.size() > 1 && kept_ns - slices_.front().length_ns >= kLongestWindowNs) {
    kept_ns -= slices_.front().length_ns;
    slices_.pop_front();
  }
  sum_.insert(sum_.end(), profile.histograms.begin(), profile.histograms.end());
  unmerged_ += profile.histograms.size();
  if (unmerged_ < kMostUnmerged) return;
  sum_ = merge_histograms(sum_, tables_->events);
  unmerged_ = 0;
}

LiveWindow LiveCounts::window(uint64_t window_ns) {
  LiveWindow window;
  std::vector<Histogram> pieces;
  {
    const std::lock_guard lock(mutex_);
    if (!tables_) return window;
    window.profile = *tables_;
    window.is_all = window_ns == 0;
    if (window.is_all) {
      if (unmerged_ != 0) sum_ = merge_histograms(sum_, tables_->events);
      unmerged_ = 0;
      pieces = sum_;
      window.seconds = static_cast<double>(end_ns_) * 1e-9;
    } else {
      uint64_t length_ns = 0;
      for (auto slice = slices_.rbegin(); slice != slices_.rend() && length_ns < window_ns;
           ++slice) {
        length_ns += slice->length_ns;
        pieces.insert(pieces.end(), slice->histograms.begin(), slice->histograms.end());
      }
      window.seconds = static_cast<double>(length_ns) * 1e-9;
    }
  }
  window.profile.histograms =
      window.is_all ? std::move(pieces) : merge_histograms(pieces, window.profile.events);
  window.samples = count_samples(window.profile);
  return window;
}

std::shared_ptr<const Profile> LiveCounts::tables() const {
  const std::lock_guard lock(mutex_);
  return tables_;
}

}  // namespace culprit
