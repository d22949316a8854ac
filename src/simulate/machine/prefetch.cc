#include "simulate/machine/prefetch.h"

#include <algorithm>

namespace culprit::simulate {

StreamPrefetcher::Stream& StreamPrefetcher::find_stream(uint64_t page) {
  Stream* oldest = &streams_[0];
  Stream* neighbour = nullptr;
  for (Stream& stream : streams_) {
    if (stream.page == page) return stream;
    const bool goes_there = stream.length >= 2 &&
                            stream.page + static_cast<uint64_t>(int64_t{stream.direction}) == page;
    if (crosses_pages_ && goes_there) neighbour = &stream;
    if (stream.used < oldest->used) oldest = &stream;
  }
  if (neighbour != nullptr) {
    neighbour->page = page;
    return *neighbour;
  }
  *oldest = Stream();
  return *oldest;
}

void StreamPrefetcher::train(uint64_t line, PrefetchList& list) {
  if (ahead_ == 0) return;
  Stream& stream = find_stream(line >> page_shift_);
  stream.used = ++clock_;
  if (stream.page == ~uint64_t{0}) {
    stream.page = line >> page_shift_;
    stream.last = line;
    return;
  }
  if (line == stream.last) return;
  const int32_t direction = line > stream.last ? 1 : -1;
  if (direction != stream.direction) {
    stream.direction = direction;
    stream.length = 0;
    stream.until = line;
  }
  stream.last = line;
  if (++stream.length < 2) return;
  // A stream goes on where the last request ended, but never behind the access.
  const uint64_t step = direction > 0 ? uint64_t{1} : ~uint64_t{0};
  uint64_t next = direction > 0 ? std::max(stream.until, line) : std::min(stream.until, line);
  const uint64_t end = line + step * std::min(ahead_, 2 * stream.length);
  while (next != end && (crosses_pages_ || (next + step) >> page_shift_ == stream.page)) {
    next += step;
    list.add(next);
  }
  stream.until = next;
}

void StridePrefetcher::train(uint64_t address, uint64_t instruction, PrefetchList& list) {
  if (ahead_ == 0) return;
  Entry& entry = entries_[instruction % entries_.size()];
  if (entry.instruction != instruction) {
    entry = {instruction, 0, address, 0};
    return;
  }
  const auto step = static_cast<int64_t>(address - entry.last);
  entry.last = address;
  if (step == 0) return;
  if (step != entry.step) {
    entry.step = step;
    entry.times = 1;
    return;
  }
  if (++entry.times < 3) return;
  uint64_t line = address >> line_shift_;
  uint64_t ahead = address;
  for (uint32_t i = 0; i < ahead_; ++i) {
    ahead += static_cast<uint64_t>(step);
    if (ahead >> kPrefetchPageShift != address >> kPrefetchPageShift) break;
    if (ahead >> line_shift_ == line) continue;
    line = ahead >> line_shift_;
    list.add(line);
  }
}

}  // namespace culprit::simulate
