#pragma once

// TimeOrder: puts records into the order of time. A perf.data file has the rings of
// all CPUs one after the other, round by round; perf marks the end of each round, and
// with it that nothing older than what the round before had seen will come any more.
//
//   round 1: ...... round end │ round 2: ...... round end │ → what round 1 had goes out
//
// Records of the same time keep the order of the file. Without marks everything waits,
// up to a limit; what comes too late after that is passed on at once and counted.
//
// The records of one ring come in the order of time: what waits is a few ascending runs,
// one per ring and round, and merging them is all the sorting there is.

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "perfdata/record_stream.h"

namespace culprit {

class TimeOrder {
 public:
  using Sink = std::function<Result<void>(const RawRecord&)>;
  explicit TimeOrder(Sink sink, size_t most_waiting = kMostWaiting);

  /// `source` holds the block that the record is in: a PerfDataFile, a RecordStream.
  template <class Source>
  Result<void> push(uint64_t time_ns, const RawRecord& record, const Source& source) {
    if (blocks_.empty() || blocks_.back().held.get() != source.block()) add_block(source.hold());
    return push(time_ns, record);
  }
  Result<void> end_round();
  Result<void> end();

  /// Records that came after later ones had gone out.
  [[nodiscard]] uint64_t late() const { return late_; }

  static constexpr size_t kMostWaiting = size_t{1} << 20;
  /// The blocks in which waiting records lie, which may hold little else, may be so large.
  static constexpr size_t kMostWaitingBytes = size_t{256} << 20;

 private:
  // A million of them move several times: as little as will do.
  struct Waiting {
    uint64_t time_ns = 0;
    const std::byte* bytes = nullptr;
    RecordHeader header;
    uint32_t event = RawRecord::kNoEvent;
    uint32_t block = 0;  // its number, from the first that ever came, modulo 2^32
  };
  static RawRecord record_of(const Waiting& one) {
    return {one.header, {one.bytes, one.header.size}, one.event};
  }
  struct WaitingBlock {
    HeldBlock held;  // null: none of its records waits any more
    size_t records = 0;
  };

  void add_block(HeldBlock block);
  Result<void> push(uint64_t time_ns, const RawRecord& record);
  void merge_runs();
  Result<void> pass_on(uint64_t until_ns);
  void release(uint32_t block);
  void drop(WaitingBlock& block);

  Sink sink_;
  size_t most_waiting_;
  std::vector<Waiting> waiting_;
  std::vector<size_t> runs_;  // where in `waiting_` each ascending run begins
  std::deque<WaitingBlock> blocks_;
  uint32_t blocks_gone_ = 0;    // from the front of `blocks_`
  size_t waiting_bytes_ = 0;    // of blocks that are held
  uint64_t newest_ns_ = 0;      // of all so far
  uint64_t last_round_ns_ = 0;  // the newest when the round before ended
  uint64_t passed_ns_ = 0;      // the newest that has gone out
  uint64_t late_ = 0;
};

}  // namespace culprit
