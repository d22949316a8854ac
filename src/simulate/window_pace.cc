#include "simulate/window_pace.h"

#include <algorithm>

namespace culprit {
namespace {

// What most programs take at most, in times of the native run: counting all of it, and modelling it
// if all were in windows. A guess to begin with: look() finds what this run takes.
constexpr double kCounting = 15;
constexpr double kModelling = 150;
constexpr double kBeginningNs = 4e9;  // modelling the beginning

double times_of(uint32_t share) {
  return kCounting + kModelling * share / 1e6;
}

uint32_t share_of(double times) {
  constexpr double kLeast = 0.005;
  constexpr double kMost = 0.2;
  return static_cast<uint32_t>(1e6 * std::clamp((times - kCounting) / kModelling, kLeast, kMost));
}

}  // namespace

WindowPace::WindowPace(double budget_ns, double cpu_ns)
    : budget_ns_(budget_ns),
      cpu_ns_(std::max(cpu_ns, 1.0)),
      share_(share_of((budget_ns - kBeginningNs) / cpu_ns_)) {}

void WindowPace::look(double elapsed_ns, double done) {
  constexpr double kStep = 0.02;  // of the run, from one choice to the next
  constexpr double kUsed = 0.95;  // of the budget
  if (has_begun_ && done - last_done_ < kStep) return;
  if (has_begun_) {
    const double foretold_ns = (done - last_done_) * times_of(share_) * cpu_ns_;
    const double now = (elapsed_ns - last_ns_) / foretold_ns;
    slowness_ = slowness_ == 0 ? now : (slowness_ + now) / 2;
    const double left = std::max(1 - done, kStep);
    share_ = share_of((kUsed * budget_ns_ - elapsed_ns) / left / (slowness_ * cpu_ns_));
  }
  has_begun_ = true;
  last_ns_ = elapsed_ns;
  last_done_ = done;
}

}  // namespace culprit
