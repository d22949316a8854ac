#pragma once

// perf.data files laid out by hand, for tests: events, records and features of the
// caller's choice in either form and either byte order.

#include <string>
#include <utility>
#include <vector>

#include "records/test_bytes.h"

namespace culprit::testing {

inline std::string text_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.span().data()), bytes.size()};
}

/// A perf_event_attr; flags as little-endian machines count them.
struct TestEvent {
  uint32_t type = 0;
  uint64_t config = 0;
  uint64_t period = 1;
  uint64_t sample_type = 0;
  uint64_t read_format = 0;
  uint64_t flags = kSampleIdAll;
  uint64_t branch_type = 0;
  uint64_t config1 = 0;
  uint64_t user_registers = 0;
  std::vector<uint64_t> ids{};

  static constexpr uint64_t kSampleIdAll = uint64_t{1} << 18;
  static constexpr uint32_t kBytes = 112;

  [[nodiscard]] Bytes attr(std::endian order) const {
    uint64_t bits = flags;
    if (order == std::endian::big) {
      bits = 0;
      for (unsigned bit = 0; bit < 64; ++bit) bits |= (flags >> bit & 1) << (63 - bit);
    }
    Bytes attr(order);
    attr.u32(type).u32(kBytes).u64(config).u64(period).u64(sample_type).u64(read_format);
    attr.u64(bits).u32(0).u32(0).u64(config1).u64(0).u64(branch_type);
    attr.u64(user_registers);
    return attr.zeros(kBytes - attr.size());
  }
};

class TestFile {
 public:
  explicit TestFile(std::endian order = std::endian::little) : order_(order) {}

  TestFile& event(const TestEvent& event) {
    events_.push_back(event);
    return *this;
  }
  TestFile& record(uint32_t type, uint16_t misc, const Bytes& body) {
    records_.raw(text_of(Bytes::record(type, misc, body)));
    return *this;
  }
  /// Bytes among the records, whatever they are.
  TestFile& raw(std::string_view bytes) {
    records_.raw(bytes);
    return *this;
  }
  /// Call it in ascending order of the kinds.
  TestFile& feature(uint32_t kind, const Bytes& content) {
    features_.emplace_back(kind, text_of(content));
    return *this;
  }

  [[nodiscard]] Bytes bytes() const { return Bytes(order_); }

  [[nodiscard]] std::string file_form() const {
    constexpr uint64_t kHeader = 104;
    constexpr uint64_t kEntry = TestEvent::kBytes + 16;
    Bytes ids(order_);
    Bytes attrs(order_);
    for (const TestEvent& one : events_) {
      attrs.raw(text_of(one.attr(order_))).u64(kHeader + ids.size()).u64(8 * one.ids.size());
      for (const uint64_t id : one.ids) ids.u64(id);
    }
    const uint64_t records_at = kHeader + ids.size() + attrs.size();
    Bytes table(order_);
    std::string contents;
    const uint64_t contents_at = records_at + records_.size() + 16 * features_.size();
    uint64_t map = 0;
    for (const auto& [kind, content] : features_) {
      map |= uint64_t{1} << kind;
      table.u64(contents_at + contents.size()).u64(content.size());
      contents += content;
    }
    Bytes file = magic();
    file.u64(kHeader).u64(kEntry).u64(kHeader + ids.size()).u64(attrs.size());
    file.u64(records_at).u64(records_.size()).u64(0).u64(0).u64(map).zeros(24);
    file.raw(text_of(ids)).raw(text_of(attrs)).raw(text_of(records_));
    return text_of(file.raw(text_of(table)).raw(contents));
  }

  [[nodiscard]] std::string pipe_form() const {
    constexpr uint32_t kAttribute = 64;
    constexpr uint32_t kFeature = 80;
    Bytes file = magic();
    file.u64(16);
    for (const TestEvent& one : events_) {
      Bytes body = one.attr(order_);
      for (const uint64_t id : one.ids) body.u64(id);
      file.raw(text_of(Bytes::record(kAttribute, 0, body)));
    }
    for (const auto& [kind, content] : features_) {
      file.raw(text_of(Bytes::record(kFeature, 0, Bytes(order_).u64(kind).raw(content))));
    }
    return text_of(file.raw(text_of(records_)));
  }

 private:
  [[nodiscard]] Bytes magic() const {
    return Bytes(order_).raw(order_ == std::endian::little ? "PERFILE2" : "2ELIFREP");
  }

  std::endian order_;
  std::vector<TestEvent> events_;
  Bytes records_{order_};
  std::vector<std::pair<uint32_t, std::string>> features_;
};

}  // namespace culprit::testing
