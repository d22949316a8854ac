#include "simulate/counting/window_schedule.h"

#include <algorithm>

namespace culprit::counting {
namespace {

constexpr uint64_t kWarmShare = 2;         // one of so many instructions of a window warms up
constexpr uint64_t kLearningLengths = 12;  // of a window: so long the predictor learns before it

}  // namespace

WindowSchedule::WindowSchedule(const WindowOptions& options)
    : options_(options), random_(options.seed) {
  const uint64_t first = std::max<uint64_t>(options_.first, kSegments);
  segment_end_ = first / kSegments * kSegments;
  now_ = {.phase = WindowPhase::measured,
          .end = segment_end_,
          .segment = segment_end_,
          .measured = segment_end_};
}

/// The length of a window with its warm-up.
uint64_t WindowSchedule::length() const {
  constexpr double kMillion = 1e6;
  const double length = static_cast<double>(now_.segment) * per_million_ / kMillion;
  return std::clamp<uint64_t>(static_cast<uint64_t>(length), 1, now_.segment);
}

void WindowSchedule::begin_segment() {
  if (segments_left_ == 0) {
    segments_left_ = kSegments;
    now_.segment = segment_end_ / kSegments;  // the stratum is as long as all before it
    ++now_.stratum;
  }
  --segments_left_;
  per_million_ = options_.per_million;
  now_.measured = length() - length() / kWarmShare;
  ++now_.window;
  now_.phase = WindowPhase::gap;
  place_ = segment_end_ + random_() % (now_.segment - length() + 1);
  now_.end = std::max(now_.end, place_ - std::min(place_, kLearningLengths * length()));
  segment_end_ += now_.segment;
}

void WindowSchedule::next() {
  switch (now_.phase) {
    case WindowPhase::measured:
      begin_segment();  // the gap behind a window and that before the next are one
      break;
    case WindowPhase::gap:
      now_.phase = WindowPhase::learning;
      now_.end = place_;
      break;
    case WindowPhase::learning:
      now_.phase = WindowPhase::warming;
      now_.end += length() / kWarmShare;
      break;
    case WindowPhase::warming:
      now_.phase = WindowPhase::measured;
      now_.end += now_.measured;
      break;
  }
}

}  // namespace culprit::counting
