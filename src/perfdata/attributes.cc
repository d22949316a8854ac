#include "perfdata/attributes.h"

#include <bit>
#include <linux/perf_event.h>

#include "base/bytes.h"
#include "records/parse_record.h"

namespace culprit {

Result<void> Attributes::add(std::span<const std::byte> attr, const std::vector<uint64_t>& ids,
                             std::endian order) {
  constexpr size_t kMostEvents = 4096;
  if (events_.size() >= kMostEvents) {
    return Error{"it has more than " + std::to_string(kMostEvents) + " events"};
  }
  // One for each event on each CPU and thread: many events may share the bytes of their ids.
  constexpr size_t kMostIds = size_t{1} << 22;
  ids_ += ids.size();
  if (ids_ > kMostIds)
    return Error{"its events have more than " + std::to_string(kMostIds) + " ids"};
  ASSIGN_OR_RETURN(EventAttr parsed, parse_event_attr(attr, order));
  for (const uint64_t id : ids) by_id_.try_emplace(id, events_.size());
  events_.push_back({parsed, ""});
  return {};
}

size_t Attributes::add(RecordedEvent event) {
  events_.push_back(std::move(event));
  return events_.size() - 1;
}

void Attributes::set_name(const std::vector<uint64_t>& ids, const std::string& name) {
  for (const uint64_t id : ids) {
    if (const auto event = find(id)) events_[*event].name = name;
  }
}

void Attributes::set_name_of(size_t event, const std::string& name) {
  if (event < events_.size() && events_[event].name.empty()) events_[event].name = name;
}

std::optional<size_t> Attributes::find(uint64_t id) const {
  const auto at = by_id_.find(id);
  if (at == by_id_.end()) return std::nullopt;
  return at->second;
}

/// The counter's id in a record. Events whose records differ in layout all have it at one place
/// (IDENTIFIER); of others the first one's layout holds for all.
std::optional<uint64_t> Attributes::find_id(std::span<const std::byte> record,
                                            uint32_t type) const {
  const RecordLayout& layout = events_.front().attr.layout;
  const auto bytes_if = [&](uint64_t bits) {
    return sizeof(uint64_t) * static_cast<size_t>(std::popcount(layout.sample_type & bits));
  };
  size_t at = RecordHeader::kBytes;
  if (type == PERF_RECORD_SAMPLE) {
    if ((layout.sample_type & PERF_SAMPLE_IDENTIFIER) == 0) {
      if ((layout.sample_type & PERF_SAMPLE_ID) == 0) return std::nullopt;
      at += bytes_if(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR);
    }
  } else {
    const size_t trailer_bytes = compute_trailer_size(layout);
    if (trailer_bytes == 0 || trailer_bytes > record.size() - at) return std::nullopt;
    if ((layout.sample_type & PERF_SAMPLE_IDENTIFIER) != 0) {
      at = record.size() - sizeof(uint64_t);
    } else {
      if ((layout.sample_type & PERF_SAMPLE_ID) == 0) return std::nullopt;
      at = record.size() - trailer_bytes + bytes_if(PERF_SAMPLE_TID | PERF_SAMPLE_TIME);
    }
  }
  if (at > record.size()) return std::nullopt;
  Result<uint64_t> id = ByteReader(record.subspan(at), layout.order).take<uint64_t>();
  if (!id) return std::nullopt;
  return *id;
}

std::optional<size_t> Attributes::find_event(std::span<const std::byte> record,
                                             uint32_t type) const {
  if (events_.empty()) return std::nullopt;
  if (events_.size() == 1) return 0;
  const std::optional<uint64_t> id = find_id(record, type);
  // perf writes records of its own with the id 0.
  if (!id || *id == 0) return 0;
  return find(*id);
}

}  // namespace culprit
