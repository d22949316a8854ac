#include "collect/timer/posix_timer_rings.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <memory>
#include <signal.h>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>
#include <utility>

#include "base/read_at.h"
#include "base/text.h"

namespace culprit {
namespace {

/// Where the time is: in samples behind ip, pid and tid; in all others at the end.
constexpr size_t kSampleTimeOffset = sizeof(perf_event_header) + 16;
constexpr size_t kMinRecordBytes = sizeof(perf_event_header) + 16;

uint64_t read_u64(std::span<const std::byte> bytes, size_t offset) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

void write_field(int fd, size_t offset, uint64_t value) {
  // A ring that cannot be written to goes on until it is full, which it counts.
  [[maybe_unused]] const ssize_t ignored =
      ::pwrite(fd, &value, sizeof value, static_cast<off_t>(offset));
}

bool process_is_gone(uint32_t pid) {
  return ::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
}

}  // namespace

Result<TimerRings> TimerRings::make(bool with_stacks) {
  ASSIGN_OR_RETURN(SharedFolder folder, SharedFolder::make(0));
  return TimerRings(std::move(folder), with_stacks);
}

TimerRings::TimerRings(SharedFolder folder, bool with_stacks)
    : folder_(std::move(folder)),
      data_bytes_(with_stacks ? CULPRIT_RING_DATA_BYTES_STACKS : CULPRIT_RING_DATA_BYTES) {}

std::vector<TimerRecord> TimerRings::read(uint64_t now_ns) {
  open_new();
  for (Ring& ring : rings_) drain(ring);
  drop_ended(now_ns);
  // What was written before the previous reading has surely been seen by this one.
  return release(std::exchange(previous_read_ns_, now_ns));
}

std::vector<TimerRecord> TimerRings::read_rest() {
  open_new();
  for (Ring& ring : rings_) drain(ring);
  return release(UINT64_MAX);
}

void TimerRings::stop() {
  open_new();
  for (const Ring& ring : rings_) write_field(ring.fd.get(), offsetof(culprit_ring, stop), 1);
}

void TimerRings::open_new() {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder().c_str()), ::closedir);
  if (!entries) return;
  std::vector<Ring> fresh;
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name(entry->d_name);
    if (!name.ends_with(CULPRIT_RING_SUFFIX)) continue;
    // Out of descriptors: the file stays for the next time. Otherwise it is ours alone now.
    if (!open_ring(folder() + "/" + std::string(name), fresh)) break;
  }
  // A process may have forked and executed since the last time; folders have no order.
  std::sort(fresh.begin(), fresh.end(),
            [](const Ring& a, const Ring& b) { return a.header.start_ns < b.header.start_ns; });
  for (Ring& ring : fresh) adopt(std::move(ring));
}

bool TimerRings::open_ring(const std::string& path, std::vector<Ring>& fresh) {
  Ring ring;
  ring.fd = Fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!ring.fd && (errno == EMFILE || errno == ENFILE)) return false;
  struct stat status{};
  const bool usable = ring.fd && ::fstat(ring.fd.get(), &status) == 0 && S_ISREG(status.st_mode);
  const bool is_complete = usable && read_at(ring.fd.get(), &ring.header, sizeof ring.header, 0) &&
                           ring.header.magic == CULPRIT_RING_MAGIC;
  if (usable && !is_complete) return true;  // still being made
  ::unlink(path.c_str());
  if (usable && ring.header.data_bytes == data_bytes_) {
    fresh.push_back(std::move(ring));
  } else {
    ++gone_.damaged;
  }
  return true;
}

void TimerRings::adopt(Ring ring) {
  // A new program, or a new process of the same number: its older rings are history.
  if (ring.header.origin != CULPRIT_ORIGIN_THREAD) {
    for (Ring& older : rings_) {
      if (older.header.pid == ring.header.pid) older.ended = true;
    }
  }
  const bool is_new = processes_.insert(ring.header.pid).second;
  if (is_new && ring.header.origin == CULPRIT_ORIGIN_EXEC) {
    add_task_record(PERF_RECORD_FORK, ring.header, ring.header.start_ns);
  }
  ++gone_.rings;
  rings_.push_back(std::move(ring));
}

void TimerRings::drain(Ring& ring) {
  const bool was_gone = process_is_gone(ring.header.pid);
  culprit_ring header{};
  if (!read_at(ring.fd.get(), &header, sizeof header, 0)) {
    ++gone_.damaged;
    ring.ended = true;
    return;
  }
  // Who it is was settled at the start; only the counters may change.
  header.pid = ring.header.pid;
  header.origin = ring.header.origin;
  header.start_ns = ring.header.start_ns;
  ring.header = header;

  const uint64_t held = header.head - ring.tail;
  const uint64_t offset = ring.tail % data_bytes_;
  const uint64_t first = std::min(held, data_bytes_ - offset);
  std::vector<std::byte> bytes(held <= data_bytes_ ? held : 0);
  const bool is_whole =
      held <= data_bytes_ &&
      read_at(ring.fd.get(), bytes.data(), first, CULPRIT_RING_DATA_OFFSET + offset) &&
      read_at(ring.fd.get(), bytes.data() + first, held - first, CULPRIT_RING_DATA_OFFSET);
  if (!is_whole || !take_records(bytes)) {
    ++gone_.damaged;
    ring.ended = true;
    return;
  }
  ring.tail = header.head;
  write_field(ring.fd.get(), offsetof(culprit_ring, tail), ring.tail);
  if (header.closed != 0 || was_gone) ring.ended = true;
  ring.process_ended = was_gone;
}

bool TimerRings::take_records(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    perf_event_header header{};
    if (bytes.size() < sizeof header) return false;
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.size < kMinRecordBytes || header.size > bytes.size()) return false;
    const std::span<const std::byte> record = bytes.first(header.size);
    const bool is_sample = header.type == PERF_RECORD_SAMPLE;
    if (is_sample && record.size() < kSampleTimeOffset + sizeof(uint64_t)) return false;
    const size_t at = is_sample ? kSampleTimeOffset : record.size() - sizeof(uint64_t);
    waiting_.push_back({read_u64(record, at), next_sequence_++, {record.begin(), record.end()}});
    bytes = bytes.subspan(header.size);
  }
  return true;
}

void TimerRings::drop_ended(uint64_t now_ns) {
  rings_.remove_if([&](const Ring& ring) {
    if (!ring.ended) return false;
    add_totals(ring.header, gone_);
    if (ring.process_ended && processes_.erase(ring.header.pid) == 1) {
      add_task_record(PERF_RECORD_EXIT, ring.header, now_ns);
    }
    return true;
  });
}

void TimerRings::add_task_record(uint32_t type, const culprit_ring& header, uint64_t time_ns) {
  struct {
    perf_event_header header;
    uint32_t pid, parent_pid, tid, parent_tid;
    uint64_t time;
    uint32_t id_pid, id_tid;
    uint64_t id_time;
  } const record = {{type, 0, sizeof record},
                    header.pid,
                    header.parent_pid,
                    header.pid,
                    header.parent_pid,
                    time_ns,
                    header.pid,
                    header.pid,
                    time_ns};
  const auto bytes = std::as_bytes(std::span(&record, 1));
  waiting_.push_back({time_ns, next_sequence_++, {bytes.begin(), bytes.end()}});
}

std::vector<TimerRecord> TimerRings::release(uint64_t before_ns) {
  std::sort(waiting_.begin(), waiting_.end(), [](const TimerRecord& a, const TimerRecord& b) {
    return std::tie(a.time_ns, a.sequence) < std::tie(b.time_ns, b.sequence);
  });
  const auto end = std::find_if(waiting_.begin(), waiting_.end(), [&](const TimerRecord& record) {
    return record.time_ns >= before_ns;
  });
  std::vector<TimerRecord> released(std::make_move_iterator(waiting_.begin()),
                                    std::make_move_iterator(end));
  waiting_.erase(waiting_.begin(), end);
  return released;
}

void TimerRings::add_totals(const culprit_ring& header, TimerTotals& totals) {
  totals.samples += header.samples;
  totals.lost_samples += header.lost_samples;
  totals.lost_records += header.lost_records;
  totals.merged_samples += header.merged_samples;
  totals.kernel_ns += header.kernel_ns;
  totals.cut_stacks += header.cut_stacks;
  totals.unfollowed += header.unfollowed;
  if (header.sandboxed != 0) ++totals.sandboxed;
  if (header.timer_errno != 0) {
    ++totals.without_timer;
    totals.timer_errno = static_cast<int>(header.timer_errno);
  }
}

TimerTotals TimerRings::totals() const {
  TimerTotals totals = gone_;
  for (const Ring& ring : rings_) add_totals(ring.header, totals);
  return totals;
}

}  // namespace culprit
