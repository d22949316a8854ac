#pragma once

// PlainSampleParser: samples that say where, when and of whom, and nothing of variable
// length: what most files consist of. Their fields lie at fixed places, sought once for a
// layout; parse_record() (parse_record.h) reads the same, and everything else.

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "base/address.h"
#include "model/profile.h"
#include "records/record_layout.h"

namespace culprit {

struct PlainSample {
  RunAddress ip;
  uint32_t pid = 0;
  uint32_t tid = 0;
  uint64_t time_ns = 0;
  uint64_t period = 0;  // 0: the record does not say
  Mode mode = Mode::all;
};

class PlainSampleParser {
 public:
  /// nullopt: samples of this layout have other fields, lack a time or a task, or are of the
  /// other byte order.
  static std::optional<PlainSampleParser> make(const RecordLayout& layout);

  /// Whether `record`, a SAMPLE with its header, has all fields.
  [[nodiscard]] bool fits(std::span<const std::byte> record) const {
    return record.size() >= size_bytes_;
  }
  /// The time of a record that fits.
  [[nodiscard]] uint64_t time_ns(std::span<const std::byte> record) const {
    return take(record, time_at_);
  }
  [[nodiscard]] PlainSample parse(std::span<const std::byte> record, Mode mode) const {
    PlainSample sample;
    sample.ip = RunAddress(take(record, ip_at_));
    std::memcpy(&sample.pid, record.data() + task_at_, sizeof sample.pid);
    std::memcpy(&sample.tid, record.data() + task_at_ + sizeof sample.pid, sizeof sample.tid);
    sample.time_ns = time_ns(record);
    if (period_at_ != 0) sample.period = take(record, period_at_);
    sample.mode = mode;
    return sample;
  }

 private:
  static uint64_t take(std::span<const std::byte> record, size_t at) {
    uint64_t value = 0;
    std::memcpy(&value, record.data() + at, sizeof value);
    return value;
  }

  size_t ip_at_ = 0;
  size_t task_at_ = 0;
  size_t time_at_ = 0;
  size_t period_at_ = 0;  // 0: there is none
  size_t size_bytes_ = 0;
};

}  // namespace culprit
