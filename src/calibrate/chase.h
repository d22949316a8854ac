#pragma once

// Loads each of which has its address from the one before it: what one of them takes is latency.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace culprit {

/// Anonymous memory that is all there.
class Memory {
 public:
  enum class Pages : uint8_t { small, large };  // 4 KiB; the largest that the kernel grants

  /// If the kernel refuses, there is none (data() == nullptr).
  Memory(size_t bytes, Pages pages);
  ~Memory();
  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&&) = delete;

  [[nodiscard]] char* data() const { return data_; }
  [[nodiscard]] size_t bytes() const { return bytes_; }

 private:
  void* mapping_ = nullptr;
  size_t mapped_ = 0;
  char* data_ = nullptr;
  size_t bytes_ = 0;
};

/// Time of the calling thread on a CPU.
double thread_time_ns();

/// A walk through places in memory, all of them once in random order, again and again.
class Chase {
 public:
  /// The places hold a pointer each, and must live as long as this.
  explicit Chase(std::vector<char*> places);

  /// One round through all is not timed; the next ones are, for about `aim_ns`.
  /// Units:  -> [ns per load]
  double measure_ns(double aim_ns);
  /// Walks in so many places at once, far from each other, for about `aim_ns`.
  /// Units:  -> [ns per load of any of them]
  double measure_many_ns(size_t walks, double aim_ns);

 private:
  double time_ns(size_t loads);

  std::vector<char*> order_;  // as they follow each other
  void* at_;
};

/// One place in each line of the memory.
std::vector<char*> list_lines(const Memory& memory, size_t line_bytes);
/// One place in each of the first `pages` 4 KiB, of lines that take all sets.
std::vector<char*> list_pages(const Memory& memory, size_t pages, size_t line_bytes);

}  // namespace culprit
