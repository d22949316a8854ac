#include "collect/perf/ring.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <linux/perf_event.h>
#include <optional>
#include <sys/mman.h>
#include <unistd.h>

#include "records/parse_record.h"

namespace culprit {

namespace {

size_t page_bytes() {
  static const size_t size = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

perf_event_mmap_page& control(std::span<std::byte> memory) {
  return *reinterpret_cast<perf_event_mmap_page*>(memory.data());
}

}  // namespace

Result<Ring> Ring::map(int event, size_t data_bytes) {
  const size_t size = page_bytes() + data_bytes;
  void* const at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
  if (at == MAP_FAILED) return errno_error("cannot map the event ring", errno);
  Ring ring(std::span(static_cast<std::byte*>(at), size));
  ring.is_mapped_ = true;
  return ring;
}

Ring::Ring(std::span<std::byte> memory) : memory_(memory) {
  const size_t data_bytes = memory.size() - page_bytes();
  CHECK(memory.size() > page_bytes() && (data_bytes & (data_bytes - 1)) == 0);
}

Ring::Ring(Ring&& other) noexcept
    : memory_(std::exchange(other.memory_, {})),
      is_mapped_(std::exchange(other.is_mapped_, false)),
      head_(other.head_),
      tail_(other.tail_),
      front_bytes_(other.front_bytes_),
      joined_(std::move(other.joined_)) {}

Ring::~Ring() {
  if (is_mapped_) ::munmap(memory_.data(), memory_.size());
}

void Ring::look() {
  std::atomic_ref<__u64> head(control(memory_).data_head);
  head_ = head.load(std::memory_order_acquire);
}

std::span<const std::byte> Ring::front() {
  const std::span<std::byte> data = memory_.subspan(page_bytes());
  const uint64_t available = head_ - tail_;
  if (available < RecordHeader::kBytes || available > data.size()) return {};
  // Records are multiples of 8 bytes, so a header never wraps around.
  const size_t at = tail_ & (data.size() - 1);
  perf_event_header header;
  std::memcpy(&header, data.data() + at, sizeof header);
  if (header.size < sizeof header || header.size > available) {
    tail_ = head_;  // the kernel does not do this; go on with what comes next
    return {};
  }
  front_bytes_ = header.size;
  const size_t before_end = std::min<size_t>(header.size, data.size() - at);
  if (before_end == header.size) return data.subspan(at, header.size);
  joined_.assign(data.begin() + static_cast<ptrdiff_t>(at), data.end());
  joined_.insert(joined_.end(), data.begin(),
                 data.begin() + static_cast<ptrdiff_t>(header.size - before_end));
  return joined_;
}

void Ring::pop() {
  tail_ += front_bytes_;
  front_bytes_ = 0;
}

void Ring::release() {
  std::atomic_ref<__u64> tail(control(memory_).data_tail);
  tail.store(tail_, std::memory_order_release);
}

void merge_rings(std::span<Ring* const> rings, const RecordLayout& layout, uint64_t before_ns,
                 const std::function<void(std::span<const std::byte>)>& take) {
  struct Front {
    std::span<const std::byte> record;
    uint64_t time_ns = 0;
  };
  std::vector<Front> fronts(rings.size());
  const auto fill = [&](size_t i) {
    fronts[i].record = rings[i]->front();
    // A record without a time goes first: it holds up nothing.
    fronts[i].time_ns = fronts[i].record.empty()
                            ? UINT64_MAX
                            : find_record_time(fronts[i].record, layout).value_or(0);
  };
  for (size_t i = 0; i < rings.size(); ++i) fill(i);
  while (true) {
    const auto oldest =
        std::min_element(fronts.begin(), fronts.end(),
                         [](const Front& a, const Front& b) { return a.time_ns < b.time_ns; });
    if (oldest == fronts.end() || oldest->record.empty() || oldest->time_ns >= before_ns) break;
    take(oldest->record);
    const size_t i = static_cast<size_t>(oldest - fronts.begin());
    rings[i]->pop();
    rings[i]->release();
    fill(i);
  }
}

}  // namespace culprit
