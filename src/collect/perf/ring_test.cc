#include "collect/perf/ring.h"

#include <cstring>
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <unistd.h>

#include "records/parse_record.h"

namespace culprit {
namespace {

/// Plain memory laid out as the kernel's ring: a control page and one page of data.
class FakeRing {
 public:
  FakeRing()
      : page_bytes_(static_cast<size_t>(::sysconf(_SC_PAGESIZE))),
        memory_(2 * page_bytes_ / sizeof(uint64_t)),
        ring(bytes()) {}

  /// A COMM-like record: header, `words` numbers, and the time as the trailer.
  void write(uint64_t time_ns, size_t words = 0) {
    const size_t size = 16 + 8 * words;
    const perf_event_header header{PERF_RECORD_COMM, 0, static_cast<uint16_t>(size)};
    put(&header, sizeof header);
    for (size_t i = 0; i < words; ++i) put(&time_ns, sizeof time_ns);
    put(&time_ns, sizeof time_ns);
    control().data_head = head_;
  }
  uint64_t tail() { return control().data_tail; }
  [[nodiscard]] size_t data_bytes() const { return page_bytes_; }

 private:
  std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(memory_)); }
  perf_event_mmap_page& control() {
    return *reinterpret_cast<perf_event_mmap_page*>(memory_.data());
  }
  void put(const void* from, size_t size) {
    for (size_t i = 0; i < size; ++i) {
      bytes()[page_bytes_ + (head_++ % page_bytes_)] = static_cast<const std::byte*>(from)[i];
    }
  }

  size_t page_bytes_;
  std::vector<uint64_t> memory_;
  uint64_t head_ = 0;

 public:
  Ring ring;
};

RecordLayout time_only() {
  RecordLayout layout;
  layout.sample_type = PERF_SAMPLE_TIME;
  layout.sample_id_all = true;
  return layout;
}

/// Times of the records that come out of two rings.
std::vector<uint64_t> merge(FakeRing& first, FakeRing& second, uint64_t before_ns) {
  Ring* const rings[] = {&first.ring, &second.ring};
  for (Ring* const ring : rings) ring->look();
  std::vector<uint64_t> times;
  merge_rings(rings, time_only(), before_ns, [&](std::span<const std::byte> record) {
    times.push_back(find_record_time(record, time_only()).value_or(0));
  });
  return times;
}

TEST(MergeRings, OrdersByTimeAcrossRings) {
  FakeRing a;
  FakeRing b;
  for (const uint64_t time : {10u, 20u, 50u}) a.write(time);
  for (const uint64_t time : {15u, 30u, 40u}) b.write(time);
  EXPECT_EQ(merge(a, b, 100), (std::vector<uint64_t>{10, 15, 20, 30, 40, 50}));
}

TEST(MergeRings, LeavesWhatIsTooYoungForLater) {
  FakeRing a;
  FakeRing b;
  for (const uint64_t time : {10u, 60u}) a.write(time);
  for (const uint64_t time : {20u, 70u}) b.write(time);
  EXPECT_EQ(merge(a, b, 50), (std::vector<uint64_t>{10, 20}));
  EXPECT_EQ(a.tail(), 16u);  // one record of header and time was given back
  a.write(80);
  EXPECT_EQ(merge(a, b, 100), (std::vector<uint64_t>{60, 70, 80}));
}

TEST(MergeRings, JoinsRecordsThatWrapAround) {
  FakeRing a;
  FakeRing b;
  // 24 bytes each do not divide the page: some record lies across its end.
  std::vector<uint64_t> written;
  std::vector<uint64_t> read;
  for (uint64_t time = 1; time <= 3 * a.data_bytes() / 24; ++time) {
    a.write(time, 1);
    written.push_back(time);
    for (const uint64_t seen : merge(a, b, UINT64_MAX)) read.push_back(seen);
  }
  EXPECT_EQ(read, written);
}

}  // namespace
}  // namespace culprit
