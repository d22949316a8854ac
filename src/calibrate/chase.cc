#include "calibrate/chase.h"

#include <algorithm>
#include <random>
#include <sys/mman.h>
#include <utility>

#include "base/time.h"

namespace culprit {
namespace {

constexpr size_t kLargePage = 2 << 20;
constexpr size_t kSmallPage = 4096;

void* next_of(void* place) {
  return *static_cast<void**>(place);
}

/// The compiler may not leave out what led here.
void keep(void* value) {
  asm volatile("" : : "r"(value));
}

}  // namespace

Memory::Memory(size_t bytes, Pages pages) : bytes_(bytes) {
  const size_t whole = (bytes + kLargePage - 1) / kLargePage * kLargePage;
  mapped_ = whole + kLargePage;
  void* const mapping =
      ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return;
  mapping_ = mapping;
  const auto begin = reinterpret_cast<uintptr_t>(mapping);
  data_ = reinterpret_cast<char*>((begin + kLargePage - 1) / kLargePage * kLargePage);
  ::madvise(data_, whole, pages == Pages::large ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  for (size_t at = 0; at < bytes_; at += kSmallPage) data_[at] = 1;
}

Memory::~Memory() {
  if (mapping_ != nullptr) ::munmap(mapping_, mapped_);
}

Memory::Memory(Memory&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      mapped_(other.mapped_),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(other.bytes_) {}

double thread_time_ns() {
  return static_cast<double>(read_clock_ns(CLOCK_THREAD_CPUTIME_ID));
}

Chase::Chase(std::vector<char*> places) : order_(std::move(places)) {
  std::mt19937_64 random(order_.size());  // the same in every run
  std::shuffle(order_.begin(), order_.end(), random);
  for (size_t i = 0; i < order_.size(); ++i) {
    *reinterpret_cast<void**>(order_[i]) = order_[(i + 1) % order_.size()];
  }
  at_ = order_.front();
}

double Chase::time_ns(size_t loads) {
  void* at = at_;
  const double start = thread_time_ns();
  for (size_t i = 0; i < loads; ++i) at = next_of(at);
  keep(at);
  const double taken = thread_time_ns() - start;
  at_ = at;
  return taken;
}

double Chase::measure_ns(double aim_ns) {
  constexpr size_t kLeastLoads = 2000;
  time_ns(order_.size());
  const double each = std::max(0.1, time_ns(kLeastLoads) / kLeastLoads);
  const auto loads = static_cast<size_t>(aim_ns / each) + kLeastLoads;
  return time_ns(loads) / static_cast<double>(loads);
}

double Chase::measure_many_ns(size_t walks, double aim_ns) {
  constexpr double kLikelyNs = 30;  // a load of several at once
  const size_t steps =
      std::min(order_.size() / walks, static_cast<size_t>(aim_ns / kLikelyNs) / walks + 1);
  std::vector<void*> at;
  for (size_t i = 0; i < walks; ++i) at.push_back(order_[i * (order_.size() / walks)]);
  const double start = thread_time_ns();
  for (size_t step = 0; step < steps; ++step) {
    for (void*& one : at) one = next_of(one);
  }
  for (void* const one : at) keep(one);
  return (thread_time_ns() - start) / static_cast<double>(steps * walks);
}

std::vector<char*> list_lines(const Memory& memory, size_t line_bytes) {
  std::vector<char*> places;
  for (size_t at = 0; at + line_bytes <= memory.bytes(); at += line_bytes)
    places.push_back(memory.data() + at);
  return places;
}

std::vector<char*> list_pages(const Memory& memory, size_t pages, size_t line_bytes) {
  constexpr size_t kSpread = 5;
  const size_t lines = kSmallPage / line_bytes;
  std::vector<char*> places;
  for (size_t page = 0; page < pages; ++page) {
    const size_t line = page * kSpread % lines;
    places.push_back(memory.data() + page * kSmallPage + line * line_bytes);
  }
  return places;
}

}  // namespace culprit
