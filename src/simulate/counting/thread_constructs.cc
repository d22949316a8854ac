#include "simulate/counting/thread_constructs.h"

#include <algorithm>
#include <iterator>

namespace culprit::counting {

using What = ThreadConstructs::Frame::What;

void ThreadConstructs::push(const Frame& frame) {
  // Nobody needs more; what runs away into recursion is not followed.
  constexpr size_t kDeepest = 4096;
  if (frames_.size() >= kDeepest) return;
  frames_.push_back(frame);
  highest_ = std::max(highest_, frame.height);
}

const ThreadConstructs::Frame* ThreadConstructs::function() const {
  const auto found = std::find_if(frames_.rbegin(), frames_.rend(),
                                  [](const Frame& frame) { return frame.what == What::function; });
  return found == frames_.rend() ? nullptr : &*found;
}

void ThreadConstructs::find_highest() {
  highest_ = 0;
  for (const Frame& frame : frames_) highest_ = std::max(highest_, frame.height);
}

std::optional<ThreadConstructs::Frame> ThreadConstructs::end(uint16_t kind) {
  for (size_t i = frames_.size(); i > 0; --i) {
    const Frame& frame = frames_[i - 1];
    if (frame.what == What::function || frame.what == What::call) break;
    if (frame.what != What::body || frame.kind != kind) continue;
    Frame ended = frame;
    const auto first = std::next(frames_.begin(), static_cast<ptrdiff_t>(i - 1));
    const auto is_body = [](const Frame& one) { return one.what == What::body; };
    frames_.erase(std::remove_if(first, frames_.end(), is_body), frames_.end());
    find_highest();
    return ended;
  }
  return std::nullopt;
}

std::optional<ThreadConstructs::Frame> ThreadConstructs::release(uint64_t lock) {
  const auto found = std::find_if(frames_.rbegin(), frames_.rend(), [lock](const Frame& frame) {
    return frame.what == What::lock && frame.lock == lock;
  });
  if (found == frames_.rend()) return std::nullopt;
  Frame released = *found;
  frames_.erase(std::prev(found.base()));
  return released;
}

std::optional<ThreadConstructs::Frame> ThreadConstructs::take_over(size_t height) {
  if (!is_any_over(height)) return std::nullopt;
  const auto found = std::find_if(frames_.rbegin(), frames_.rend(),
                                  [height](const Frame& frame) { return frame.height > height; });
  Frame over = *found;
  frames_.erase(std::prev(found.base()));
  find_highest();
  const bool is_member = over.what == What::function && over.kind == CULPRIT_KIND_PARALLEL;
  if (is_member && frames_.empty()) idle_ = {over.place.path, true};
  return over;
}

}  // namespace culprit::counting
