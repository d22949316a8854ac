#pragma once

// TimeOrder: puts records into the order of time. A perf.data file has the rings of
// all CPUs one after the other, round by round; perf marks the end of each round, and
// with it that nothing older than what the round before had seen will come any more.
//
//   round 1: ...... round end │ round 2: ...... round end │ → what round 1 had goes out
//
// Records of the same time keep the order of the file. Without marks everything waits,
// up to a limit; what comes too late after that is passed on at once and counted.

#include <cstdint>
#include <functional>
#include <vector>

#include "perfdata/record_stream.h"

namespace culprit {

class TimeOrder {
 public:
  using Sink = std::function<Result<void>(const RawRecord&)>;
  explicit TimeOrder(Sink sink, size_t most_waiting = kMostWaiting);

  Result<void> push(uint64_t time_ns, RawRecord record);
  Result<void> end_round();
  Result<void> end();

  /// Records that came after later ones had gone out.
  [[nodiscard]] uint64_t late() const { return late_; }

  static constexpr size_t kMostWaiting = size_t{1} << 20;
  /// Of the blocks in which waiting records lie, which may hold little else.
  static constexpr size_t kMostWaitingBytes = size_t{256} << 20;

 private:
  struct Waiting {
    uint64_t time_ns = 0;
    RawRecord record;
  };

  Result<void> pass_on(uint64_t until_ns);
  void count_waiting_bytes();

  Sink sink_;
  size_t most_waiting_;
  std::vector<Waiting> waiting_;
  size_t sorted_ = 0;  // of `waiting_`, from the front
  size_t waiting_bytes_ = 0;
  const void* last_owner_ = nullptr;
  uint64_t newest_ns_ = 0;      // of all so far
  uint64_t last_round_ns_ = 0;  // the newest when the round before ended
  uint64_t passed_ns_ = 0;      // the newest that has gone out
  uint64_t late_ = 0;
};

}  // namespace culprit
